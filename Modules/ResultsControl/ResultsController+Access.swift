import Vivarium

extension ResultsController {
  /// Every section with its objects. Empty before the first fetch.
  public var sections: [ResultsSection<U>] { (0..<numberOfSections).map { section($0) } }

  /// How many sections are shown; 0 before the fetch.
  public var numberOfSections: Int { shown?.rows.sections.count ?? 0 }

  /// The rows of a section; 0 for a section that is not there.
  public func numberOfObjects(inSection section: Int) -> Int {
    guard let rows = shown?.rows, section >= 0, section < rows.sections.count else { return 0 }
    return rows.sections.rowCount(of: section)
  }

  /// All rows that are shown.
  public var numberOfObjects: Int { shown?.rows.sections.rowCount ?? 0 }

  /// The mapped object at a path; nil when there is none.
  public func object(at path: RowPath) -> U? { shown?.rows.row(at: path).map { object(atRow: $0) } }

  /// Where an object is; nil when it is not shown. O(log rows); more only where the store is ahead of what is shown, as in an
  /// open write.
  public func indexPath(of object: T) -> RowPath? {
    guard let shown, let row = shown.objects.index(of: object) else { return nil }
    return shown.rows.path(of: row)
  }

  /// The titles of an index at the side: one for each section.
  public var indexTitles: [String] { sections.map(\.indexTitle) }

  /// Which objects are shown in which sections, as a value: what diffable data sources are given. O(rows).
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
    // Only before the first fetch, when no row is given out, is there nothing shown.
    let objects = shown?.objects ?? request.execute().fixed
    let key = objects.key(at: row)
    if let known = mapped[key] { return known }
    let made = mapping.one(objects, row)
    // What an open write shows may be undone, and nobody would be notified.
    if !request.store.isInWriteTransaction { mapped[key] = made }
    return made
  }
}
