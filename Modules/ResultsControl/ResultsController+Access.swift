import Vivarium

extension ResultsController {
  /// All sections with their objects. Empty before the first fetch.
  public var sections: [ResultsSection<U>] { (0..<numberOfSections).map { section($0) } }

  /// The number of sections shown; 0 before the fetch.
  public var numberOfSections: Int { shown?.rows.sections.count ?? 0 }

  /// The number of rows of a section; 0 if there is no such section.
  public func numberOfObjects(inSection section: Int) -> Int {
    guard let rows = shown?.rows, section >= 0, section < rows.sections.count else { return 0 }
    return rows.sections.rowCount(of: section)
  }

  /// The number of rows shown.
  public var numberOfObjects: Int { shown?.rows.sections.rowCount ?? 0 }

  /// The mapped object at a path; nil if there is none.
  public func object(at path: RowPath) -> U? { shown?.rows.row(at: path).map { object(atRow: $0) } }

  /// The path of an object; nil if it is not shown. O(log rows); more only if the store is ahead of what is shown, as in an open
  /// write.
  public func indexPath(of object: T) -> RowPath? {
    guard let shown, let row = shown.objects.index(of: object) else { return nil }
    return shown.rows.path(of: row)
  }

  /// The titles for an index at the side of a table: one per section.
  public var indexTitles: [String] { sections.map(\.indexTitle) }

  /// The objects shown, by section, as a value for diffable data sources. O(rows).
  public var snapshot: ResultsSnapshot {
    guard let shown else { return ResultsSnapshot(sections: []) }
    let (rows, objects) = (shown.rows, shown.objects)
    return ResultsSnapshot(
      sections: (0..<rows.sections.count).map { section in
        ResultsSnapshot.Section(
          key: rows.sections.key(of: section),
          objects: rows.sections.rows(of: section).map { row in
            ObjectID(type: T._$name, key: ObjectKey(objects.key(at: rows.listRow(row))))
          })
      })
  }

  func section(_ index: Int) -> ResultsSection<U> {
    guard let rows = shown?.rows, let objects = shown?.objects else {
      return ResultsSection(key: .null, count: 0) { [self] in object(atRow: $0) }
    }
    return ResultsSection(key: rows.sections.key(of: index), count: rows.sections.rowCount(of: index)) { [self] in
      object(atRow: rows.row(at: RowPath(section: index, row: $0)) ?? objects.count)
    }
  }

  /// The mapped object of a row of the request.
  func object(atRow row: Int) -> U {
    // Nothing is shown only before the first fetch, when no row is handed out.
    let objects = shown?.objects ?? request.execute().fixed
    let key = objects.key(at: row)
    if let known = mapped[key] { return known }
    let made = mapping.one(objects, row)
    // An open write may be undone without a notification.
    if !request.store.isInWriteTransaction { mapped[key] = made }
    return made
  }
}
