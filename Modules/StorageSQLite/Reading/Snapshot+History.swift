import StorageInterface
import StoreValues

extension Snapshot {
  final func history(after version: Version, _ body: (CommitRecord) -> Step) throws(StorageError) {
    try enter()
    defer { leave() }
    guard version < self.version else { return }
    let statement = try connection.take(StatementKey(.history)) {
      "SELECT version, record FROM _vivarium_history WHERE version > ? ORDER BY version"
    }
    defer { connection.finish(statement) }
    statement.bind(1, Int64(version.rawValue))
    var expected = version.next
    while expected <= self.version {
      guard try connection.step(statement, "read the history"),
        UInt64(bitPattern: statement.int64(0)) == expected.rawValue
      else { throw StorageError(.historyTrimmed, .statement, "The commit record of \(expected) is gone.") }
      let record: CommitRecord
      do throws(StorageError) {
        record = try CommitRecord(version: expected, encoded: statement.bytes(1))
      } catch {
        throw error.placed("the commit record of version \(expected.rawValue)", inFile: engine.file.path)
      }
      if body(record) == .stop { return }
      expected = expected.next
    }
  }
}

extension Snapshot: ForeignWriteReading {
  /// As `ForeignWriteReading` describes: the triggers have logged something that no write has made a commit of.
  final func hasUnrecordedWrites() throws(StorageError) -> Bool {
    try enterBeside()
    defer { leave() }
    let statement = try connection.take(StatementKey(.foreignPending)) { "SELECT 1 FROM _vivarium_foreign LIMIT 1" }
    defer { connection.finish(statement) }
    return try connection.step(statement, "look for other programs' writes")
  }
}
