import StorageInterface
import StoreValues

/// Keeps a result by evaluating it again and comparing, if it cannot be kept row by row. A commit that cannot change it
/// evaluates nothing.
///
/// Confined to its owner (the notifier's worker). Its results may go anywhere.
package final class ComparedUpkeep {
  package let question: ComparedQuestion
  /// Every path that observers follow. A path's index is its bit in `RowMarks.paths`.
  package private(set) var paths: [ReadPath] = []
  /// Further paths, without bits of their own.
  private var others: Set<ReadPath> = []
  /// The rows' own properties whose changes are reported.
  package var watched = WatchedProperties.all
  /// The rows, each with a distinct identity: see `RowIdentity`.
  package private(set) var rows: [Int64]
  /// The number of evaluations.
  package private(set) var evaluations = 0

  /// - Parameter keys: the result in the first version that is kept.
  package init(_ question: ComparedQuestion, keys: [Int64]) {
    self.question = question
    rows = RowIdentity.rows(of: keys)
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

  /// Takes the result from the version that `from` reads to the version that `to` reads. `records` are the commits between the
  /// two; nil if unknown. `asked` are the rows in the version that `to` reads, identified as by `RowIdentity`, if somebody asked for them
  /// before. Returns nil if no row was touched.
  ///
  /// If reading throws, the result is unchanged; the step can be retried.
  package func apply(
    _ records: [CommitRecord]?, from: any StorageReading, to: any StorageReading, asked: [Int64]? = nil
  ) throws(StorageError) -> ComparedStep? {
    var marks: [Int64: RowMarks] = [:]
    for record in records ?? [] {
      for change in record.tables { try mark(change, from: from, to: to, &marks) }
    }
    let old = rows
    if records?.contains(where: question.mayBeChanged) ?? true {
      rows = if let asked { asked } else { RowIdentity.rows(of: try question.keys(to)) }
      evaluations += 1
    }
    if marks.isEmpty, rows == old { return nil }
    return ComparedStep(old: old, new: rows, marks: marks)
  }

  /// Whether the commit may have touched the result, or anything that observers follow. Reads nothing.
  package func isAffected(by record: CommitRecord) -> Bool {
    if question.mayBeChanged(by: record) { return true }
    return record.tables.contains { change in
      if change.table == question.table, change.modified.contains(where: { watched.isTouched(by: $0.properties) }) {
        return true
      }
      return paths.contains { $0.mayBeTouched(by: change) } || others.contains { $0.mayBeTouched(by: change) }
    }
  }

  private func mark(
    _ change: TableChange, from: any StorageReading, to: any StorageReading, _ marks: inout [Int64: RowMarks]
  ) throws(StorageError) {
    if change.table == question.table {
      for object in change.modified where watched.isTouched(by: object.properties) {
        marks[object.key.rawValue, default: RowMarks()].formUnion(RowMarks(properties: object.properties))
      }
    }
    for (index, path) in paths.enumerated() {
      for key in try path.rows(touchedBy: change, from: from, to: to) {
        marks[key, default: RowMarks()].formUnion(RowMarks(paths: ViewUpkeep.bit(index)))
      }
    }
    for path in others where path.mayBeTouched(by: change) {
      for key in try path.rows(touchedBy: change, from: from, to: to) {
        marks[key, default: RowMarks()].formUnion(RowMarks(paths: ViewUpkeep.othersBit))
      }
    }
  }
}

/// One step of a compared result. `marks` are by object key, including objects that are not rows.
package struct ComparedStep: Sendable {
  package let old: [Int64]
  package let new: [Int64]
  package let marks: [Int64: RowMarks]

  package init(old: [Int64], new: [Int64], marks: [Int64: RowMarks]) {
    self.old = old
    self.new = new
    self.marks = marks
  }
}

/// Distinct numbers for the rows of a collection that may hold an object twice: the object's key for its first row, a negative
/// number for each further one.
package enum RowIdentity {
  private static let repeatBits: Int64 = 20

  package static func rows(of keys: [Int64]) -> [Int64] {
    var seen: [Int64: Int64] = [:]
    seen.reserveCapacity(keys.count)
    var rows = keys
    for i in keys.indices {
      let times = seen[keys[i], default: 0]
      seen[keys[i]] = times + 1
      if times > 0 { rows[i] = -(keys[i] << repeatBits | times & (1 << repeatBits - 1)) }
    }
    return rows
  }

  /// Whether an object has several of the rows.
  static func hasRepeats(_ rows: [Int64]) -> Bool { rows.contains { $0 < 0 } }

  package static func key(of row: Int64) -> Int64 { row >= 0 ? row : -row >> repeatBits }
}
