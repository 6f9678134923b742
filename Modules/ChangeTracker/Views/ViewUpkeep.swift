import Storage
import Values

/// Keeps one query's result up to date from commit records: what a commit costs depends on the rows it touched,
/// never on how many there are.
///
/// A commit that touches nothing the query or its observers look at costs a few comparisons of sets. Of the others
/// each touched row is tested once against the new version; whether and where it was a row before, the view knows.
///
/// Confined to its owner (the notifier's worker). Versions and change sets that come out of it may go anywhere.
package final class ViewUpkeep {
  package let question: any ViewQuestion
  package let view: ResultView
  /// Every path that is followed: the question's, then those that observers asked for. The position in this list
  /// is the bit in `RowMarks.paths`.
  package private(set) var paths: [ReadPath]
  /// The rows' own properties whose changes are reported although the question does not read them.
  package var watched = WatchedProperties.all
  /// What was done so far, for tests and people.
  package private(set) var work = Work()

  /// Counts of work, never of time.
  package struct Work: Sendable, Hashable {
    /// Steps that had rows to test.
    package var steps = 0
    /// Rows tested against the question.
    package var rowsTested = 0

    package init() {}
  }

  /// From the keys of the rows, in any order, as the version that `reading` reads has them. O(n), and O(n log n)
  /// where they are not in the order of the view yet.
  package init(_ question: any ViewQuestion, keys: [Int64], in reading: any StorageReading) throws(StorageError) {
    self.question = question
    paths = question.reads
    view = try ResultView.build(question, keys, in: reading)
  }

  /// Follows a path that observers look at; returns the bits for `ModificationFilter.only`. Idempotent.
  package func follow(_ path: ReadPath) -> UInt64 {
    let index = paths.firstIndex(of: path) ?? paths.count
    if index == paths.count { paths.append(path) }
    return ViewUpkeep.bit(index)
  }

  static func bit(_ index: Int) -> UInt64 { 1 << UInt64(min(index, 63)) }
}

/// The rows' own properties that observers of a view look at: all unless every one of them has a filter.
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
  /// Whether the commit touched anything that the question or its observers look at. Reads nothing. O(tables),
  /// and O(modified objects) where only other properties of a table that counts were set.
  package func isAffected(by record: CommitRecord) -> Bool { record.tables.contains { isAffected(by: $0) } }

  private func isAffected(by change: TableChange) -> Bool {
    if change.table == question.table {
      if !change.inserted.isEmpty || !change.deleted.isEmpty { return true }
      if change.modified.contains(where: { isLookedAt($0.properties) }) { return true }
    }
    return paths.contains { path in
      guard !path.hops.isEmpty, path.table == change.table else { return false }
      if path.hasInverse, !change.inserted.isEmpty || !change.deleted.isEmpty { return true }
      return change.modified.contains { !$0.properties.isDisjoint(with: path.properties) }
    }
  }

  private func isLookedAt(_ properties: PropertySet) -> Bool {
    if watched.isTouched(by: properties) { return true }
    return paths.contains { $0.hops.isEmpty && !$0.properties.isDisjoint(with: properties) }
  }
}

// MARK: - A step

extension ViewUpkeep {
  /// Takes the view from the version that `from` reads to the version that `to` reads. `records` are the commits
  /// between the two, all of them, in order. Nil when no row was touched.
  ///
  /// When reading throws, the view is as it was; the step can be tried again.
  package func apply(
    _ records: [CommitRecord], from: any StorageReading, to: any StorageReading
  ) throws(StorageError) -> ViewStep? {
    var touched = TouchedRows()
    for record in records {
      for change in record.tables where isAffected(by: change) {
        try collect(change, from: from, to: to, into: &touched)
      }
    }
    if touched.isEmpty { return nil }
    work.steps += 1
    work.rowsTested += touched.rows.count
    var changes: [RowChange] = []
    changes.reserveCapacity(touched.rows.count)
    // By ascending key: neighbours are read from the same chunks.
    for key in touched.rows.keys.sorted() {
      guard let row = touched.rows[key] else { continue }
      changes.append(try change(of: key, row, from: from, to: to))
    }
    let needsKeys = question.ordering == .byFullKey
    let step = try view.apply(
      changes, before: needsKeys ? FullKeys(question, in: from) : nil, after: needsKeys ? fullKeys(in: to) : nil)
    return step.positions.isEmpty ? nil : step
  }

  /// What `NetChanges` needs for a change set to the version that `reading` reads; nil when it needs nothing.
  package func fullKeys(in reading: any StorageReading) -> FullKeys? {
    question.ordering == .byFullKey ? FullKeys(question, in: reading) : nil
  }

  private func collect(
    _ change: TableChange, from: any StorageReading, to: any StorageReading, into touched: inout TouchedRows
  ) throws(StorageError) {
    if change.table == question.table {
      for key in change.inserted { touched.insert(key) }
      for key in change.deleted { touched.delete(key) }
      for object in change.modified where isLookedAt(object.properties) {
        touched.mark(object.key.rawValue, RowMarks(properties: object.properties))
      }
    }
    for (index, path) in paths.enumerated() {
      let marks = RowMarks(paths: ViewUpkeep.bit(index))
      for key in try path.rows(touchedBy: change, from: from, to: to) { touched.mark(key, marks) }
    }
  }

  private func change(
    of key: Int64, _ row: TouchedRows.Row, from: any StorageReading, to: any StorageReading
  ) throws(StorageError) -> RowChange {
    var change = RowChange(key: key, old: nil, new: nil, marks: row.marks)
    if row.isInserted, row.isDeleted { return change }
    if row.isDeleted {
      change.old = try question.place(of: key, in: from)
      return change
    }
    let matches = try question.matches(ObjectKey(key), in: to)
    if row.isInserted {
      if matches { change.new = try question.place(of: key, in: to) }
      return change
    }
    let place = try question.place(of: key, in: to)
    if matches { change.new = place }
    change.old = canMove(row.marks) ? try question.place(of: key, in: from) : place
    return change
  }

  /// Whether the row may have another sort key now.
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

/// The rows that some commits touched, each once, with what happened to it over all of them.
private struct TouchedRows {
  struct Row {
    var marks = RowMarks()
    var isInserted = false
    var isDeleted = false
  }

  private(set) var rows: [Int64: Row] = [:]
  var isEmpty: Bool { rows.isEmpty }

  mutating func insert(_ key: Int64) { rows[key, default: Row()].isInserted = true }
  mutating func delete(_ key: Int64) { rows[key, default: Row()].isDeleted = true }
  mutating func mark(_ key: Int64, _ marks: RowMarks) { rows[key, default: Row()].marks.formUnion(marks) }
}
