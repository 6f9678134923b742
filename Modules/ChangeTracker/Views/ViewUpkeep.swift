import StorageInterface
import StoreValues

/// Keeps one query's result up to date from commit records: a commit's cost depends on the rows it touched, never on the number
/// of rows.
///
/// A commit that touches nothing the query or its observers use costs a few set comparisons. Otherwise each touched row is
/// tested once against the new version; the view knows whether and where it was a row before.
///
/// Confined to its owner (the notifier's worker). Its versions and change sets may go anywhere.
package final class ViewUpkeep {
  package let question: any ViewQuestion
  package let view: ResultView
  /// Every followed path: the question's, then those of observers. A path's index is its bit in `RowMarks.paths`.
  package private(set) var paths: [ReadPath]
  /// Further paths, without bits of their own.
  private var others: Set<ReadPath> = []
  /// The rows' own properties whose changes are reported although the question does not read them.
  package var watched = WatchedProperties.all
  /// The last step's changes of objects that were rows neither before nor after it, and that had no other change: observers may
  /// know one of them, and it may come back.
  package var outside: [Int64: RowMarks] { Dictionary(outsideRows.map { ($0.key, $0.marks) }) { a, _ in a } }
  private var outsideRows: [TouchedRows.Row] = []
  /// The work done so far, for tests and people.
  package private(set) var work = Work()

  /// Counts of work, never of time.
  package struct Work: Sendable, Hashable {
    /// Steps that had rows to test.
    package var steps = 0
    /// Rows tested against the question.
    package var rowsTested = 0

    package init() {}
  }

  /// Makes the view from the keys of the rows, in any order, in the version of `reading`. O(n); O(n log n) if they are not yet
  /// in the view's order.
  package init(_ question: any ViewQuestion, keys: [Int64], in reading: any StorageReading) throws(StorageError) {
    self.question = question
    paths = question.reads
    view = try ResultView.build(question, keys, in: reading)
  }

  /// Follows a path of an observer; returns its bit for `ModificationFilter.only`. Idempotent.
  package func follow(_ path: ReadPath) -> UInt64 {
    let index = paths.firstIndex(of: path) ?? paths.count
    if index == paths.count { paths.append(path) }
    return ViewUpkeep.bit(index)
  }

  /// Follows any number of paths that share one bit; returns it. Idempotent.
  package func follow(others paths: [ReadPath]) -> UInt64 {
    others.formUnion(paths)
    return ViewUpkeep.othersBit
  }

  static func bit(_ index: Int) -> UInt64 { 1 << UInt64(min(index, 62)) }
  static let othersBit: UInt64 = 1 << 63
}

/// The rows' own properties that a view's observers watch: all unless every observer has a filter.
package enum WatchedProperties: Sendable, Hashable {
  case all
  case only(PropertySet)

  func isTouched(by properties: PropertySet) -> Bool {
    switch self {
    case .all: !properties.isEmpty
    case .only(let watched): !watched.isDisjoint(with: properties)
    }
  }
}

// MARK: - Relevance

extension ViewUpkeep {
  /// Whether the commit touched anything that the question or its observers use. Reads nothing. O(tables), and O(modified
  /// objects) if only other properties of a relevant table were set.
  package func isAffected(by record: CommitRecord) -> Bool { record.tables.contains { isAffected(by: $0) } }

  private func isAffected(by change: TableChange) -> Bool {
    if change.table == question.table {
      if !change.inserted.isEmpty || !change.deleted.isEmpty { return true }
      if change.modified.contains(where: { isLookedAt($0.properties) }) { return true }
    }
    return isReached(from: change)
  }

  /// Whether the commit touched anything that rows reach over links: then a single change may touch many rows. Costs the same
  /// as `isAffected`.
  package func isReachedOverLinks(by record: CommitRecord) -> Bool { record.tables.contains { isReached(from: $0) } }

  private func isReached(from change: TableChange) -> Bool {
    paths.contains { $0.mayBeTouched(by: change) } || others.contains { $0.mayBeTouched(by: change) }
  }

  private func isLookedAt(_ properties: PropertySet) -> Bool {
    if watched.isTouched(by: properties) { return true }
    return paths.contains { $0.hops.isEmpty && !$0.properties.isDisjoint(with: properties) }
  }
}

// MARK: - A step

extension ViewUpkeep {
  /// Takes the view from the version that `from` reads to the version that `to` reads. `records` are all commits between the
  /// two, in order. Returns nil if no row was touched.
  ///
  /// If reading throws, the view is unchanged; the step can be retried.
  package func apply(
    _ records: [CommitRecord], from: any StorageReading, to: any StorageReading
  ) throws(StorageError) -> ViewStep? {
    outsideRows = []
    var touched = TouchedRows()
    for record in records {
      for change in record.tables where isAffected(by: change) {
        try collect(change, from: from, to: to, into: &touched)
      }
    }
    if touched.isEmpty { return nil }
    // By ascending key: neighbours are read from the same chunks.
    let rows = touched.joined()
    work.steps += 1
    work.rowsTested += rows.count
    let needsKeys = question.ordering == .byFullKey
    let step = try view.apply(
      try changes(of: rows, from: from, to: to), before: needsKeys ? FullKeys(question, in: from) : nil,
      after: needsKeys ? fullKeys(in: to) : nil)
    if !step.positions.isEmpty { return step }
    outsideRows = rows
    return nil
  }

  /// The objects that some commits touched, whether or not they are rows of the view.
  package func rows(
    touchedBy records: [CommitRecord], from: any StorageReading, to: any StorageReading
  ) throws(StorageError) -> Set<Int64> {
    var touched = TouchedRows()
    for record in records {
      for change in record.tables where isAffected(by: change) {
        try collect(change, from: from, to: to, into: &touched)
      }
    }
    return Set(touched.joined().map(\.key))
  }

  /// The keys that `NetChanges` needs for a change set to the version that `reading` reads; nil if it needs none.
  package func fullKeys(in reading: any StorageReading) -> FullKeys? {
    question.ordering == .byFullKey ? FullKeys(question, in: reading) : nil
  }

  private func collect(
    _ change: TableChange, from: any StorageReading, to: any StorageReading, into touched: inout TouchedRows
  ) throws(StorageError) {
    if change.table == question.table {
      for key in change.inserted { touched.insert(key) }
      for key in change.deleted { touched.delete(key) }
      // Mostly the same properties were set on every object.
      var last: (properties: PropertySet, isLookedAt: Bool)?
      for object in change.modified {
        if last?.properties != object.properties { last = (object.properties, isLookedAt(object.properties)) }
        if last?.isLookedAt == true { touched.mark(object.key.rawValue, RowMarks(properties: object.properties)) }
      }
    }
    for (index, path) in paths.enumerated() {
      let marks = RowMarks(paths: ViewUpkeep.bit(index))
      for key in try path.rows(touchedBy: change, from: from, to: to) { touched.mark(key, marks) }
    }
    for path in others where path.mayBeTouched(by: change) {
      let marks = RowMarks(paths: ViewUpkeep.othersBit)
      for key in try path.rows(touchedBy: change, from: from, to: to) { touched.mark(key, marks) }
    }
  }

  /// The number of rows that are evaluated together, so that later calls find their data cached.
  private static let blockSize = 256

  /// The old place of each touched row, if it was one, and its new place.
  private func changes(
    of rows: [TouchedRows.Row], from: any StorageReading, to: any StorageReading
  ) throws(StorageError) -> [RowChange] {
    var changes: [RowChange] = []
    changes.reserveCapacity(rows.count)
    for start in stride(from: 0, to: rows.count, by: ViewUpkeep.blockSize) {
      let block = rows[start..<min(start + ViewUpkeep.blockSize, rows.count)]
      try append(changesOf: block, from: from, to: to, to: &changes)
    }
    return changes
  }

  private func append(
    changesOf rows: ArraySlice<TouchedRows.Row>, from: any StorageReading, to: any StorageReading,
    to changes: inout [RowChange]
  ) throws(StorageError) {
    let living = rows.lazy.filter { !$0.isDeleted }.map(\.key)
    var matches = try question.matches(Array(living), in: to)[...]
    // The rows whose places in the older and in the newer version are needed, and how the latter are used.
    var (old, new): ([Int], [Int]) = ([], [])
    var uses: [(isOld: Bool, isNew: Bool)] = []
    var last: (marks: RowMarks, canMove: Bool)?
    for (i, row) in zip(rows.indices, rows) {
      changes.append(RowChange(key: row.key, old: nil, new: nil, marks: row.marks))
      if row.isDeleted {
        if !row.isInserted { old.append(i) }
        continue
      }
      let isRow = matches.popFirst() ?? false
      if row.isInserted {
        if isRow {
          new.append(i)
          uses.append((false, true))
        }
        continue
      }
      if last?.marks != row.marks { last = (row.marks, canMove(row.marks)) }
      let canMove = last?.canMove == true
      if canMove { old.append(i) }
      if isRow || !canMove {
        new.append(i)
        uses.append((!canMove, isRow))
      }
    }
    // The indices of `rows` and `changes` are the same.
    let places = try question.places(of: new.map { rows[$0].key }, in: to)
    for (i, (place, use)) in zip(new, zip(places, uses)) {
      if use.isNew { changes[i].new = place }
      if use.isOld { changes[i].old = place }
    }
    for (i, place) in zip(old, try question.places(of: old.map { rows[$0].key }, in: from)) { changes[i].old = place }
  }

  /// Whether the row's sort key may have changed.
  private func canMove(_ marks: RowMarks) -> Bool {
    if question.ordering == .byObjectKey { return false }
    return paths.indices.contains { index in
      let path = paths[index]
      if path.sortProperties.isEmpty { return false }
      if path.hops.isEmpty { return !path.sortProperties.isDisjoint(with: marks.properties) }
      return marks.paths & ViewUpkeep.bit(index) != 0
    }
  }
}
