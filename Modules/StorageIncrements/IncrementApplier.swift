import StorageInterface
import StoreValues

/// Brings a store from the version that an increment begins with to the one that it ends with, in one transaction: a store that the
/// increment does not fit stays as it is.
package struct IncrementApplier {
  private let engine: any StorageEngine
  /// Every commit record that the store keeps, as far as increments were applied.
  private var history: [CommitRecord]

  /// For a store that is open for writing, and whose content is that of a copy.
  package init(_ engine: any StorageEngine) throws(StorageError) {
    self.engine = engine
    let read = try engine.beginRead()
    defer { read.end() }
    var records: [CommitRecord] = []
    try read.history(after: try read.versionBeforeHistory()) { record in
      records.append(record)
      return .proceed
    }
    history = records
  }

  /// Throws `.wrongIncrement` unless an increment can follow what a store has.
  ///
  /// - Parameter last: the newest commit record of the store; nil if it has none.
  package static func check(_ file: IncrementFile, follows last: CommitRecord?, _ catalog: Catalog) throws(StorageError) {
    let head = file.head
    guard head.identity == catalog.identity else {
      throw .wrongIncrement(file.path, "is of another store", remedy: "Apply the increments of the store that the copy is of.")
    }
    let version = last?.version.rawValue ?? 0
    guard head.from.rawValue == version else {
      throw .wrongIncrement(
        file.path, "leads from version \(head.from.rawValue) to \(head.to.rawValue), and what comes before it has version \(version)",
        remedy: "Give the copy, and then all increments in the order in which they were written.")
    }
    guard let last, last.fingerprint == head.fingerprint, head.catalog == catalog else {
      throw .wrongIncrement(
        file.path, "begins at a version \(version) with another past than what comes before it",
        remedy: "Apply the increments that were written after this copy, of the store it is of, and not of another copy that went on.")
    }
  }

  /// Applies an increment. `reading` is called every few megabytes of the file, and may throw to stop.
  ///
  /// Throws `.wrongIncrement`, `.corrupt` for a damaged one, and the errors of writing: then the store is as before. O(changes).
  package mutating func apply(
    _ file: IncrementFile, reading: (CopyProgress) throws(StorageError) -> Void = { _ in }
  ) throws(StorageError) {
    let write = try engine.beginWrite(.never)
    defer { write.end() }
    guard history.last?.version ?? Version(0) == write.version else {
      throw StorageError(.misuse, .statement, "The store was written while increments were applied to it.")
    }
    try IncrementApplier.check(file, follows: history.last, write.catalog)
    let records: [CommitRecord]
    do throws(StorageError) {
      var run = IncrementRun(write, file)
      try run.run(reading)
      records = run.records
    } catch {
      throw error.ofIncrement(file.path)
    }
    if records.isEmpty { return }
    if let adopting = write.writePowers.history {
      _ = try adopting.commit(adopting: history + records, .relaxed)
    } else {
      // The first commit has the data; the others are only in the history.
      _ = try write.commit(records[0], .relaxed)
      for record in records.dropFirst() {
        let more = try engine.beginWrite(.never)
        defer { more.end() }
        _ = try more.commit(record, .relaxed)
      }
    }
    history += records
  }

  /// What the store has now.
  package var version: Version { history.last?.version ?? Version(0) }
  /// See `version`.
  package var last: CommitRecord? { history.last }
}
