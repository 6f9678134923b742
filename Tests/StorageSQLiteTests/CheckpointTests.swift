import Foundation
import StorageInterface
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

@Suite struct CheckpointTests {
  private func commits(_ count: Int, _ engine: SQLiteEngine, _ table: TableEntry) throws {
    for id in 0..<count {
      try engine.write { write in
        try write.set(table.column(named: "name"), ObjectKey(1), .string("\(id)" + String(repeating: "x", count: 9000)))
      }
    }
  }

  @Test func theLogIsMovedByTheWorkerAndUsedAgain() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { try $0.insert(table, ["id": .int(1)]) }
    for _ in 0..<6 {
      try commits(200, engine, table)
      engine.waitForCheckpoints()
    }
    #expect(engine.checkpointAttempts > 0)
    // 1,200 commits of about nine pages each: far more than the log ever held.
    #expect(engine.logFrames.logged < 6000)
  }

  @Test func aReaderThatPinsTheLogDoesNotMakeEveryCommitTry() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { try $0.insert(table, ["id": .int(1)]) }
    let reader = try engine.beginRead()
    for _ in 0..<8 {
      try commits(100, engine, table)
      engine.waitForCheckpoints()
    }
    #expect(engine.logFrames.logged > 4000)
    #expect(engine.checkpointAttempts <= 12)
    #expect(try reader.value(table.column(named: "name"), ObjectKey(1)) == .string(""))
    reader.end()
  }

  @Test func theLatestVersionIsKnownAtOnceInAnotherEngine() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    for id in 0..<20 {
      try engine.write { try $0.insert(table, ["id": .int(Int64(id))]) }
      #expect(try engine.latestVersion().rawValue == UInt64(id) + 2)
    }
    // A rollback and a foreign program's checkpoint make no version.
    try engine.beginWrite(.never).end()
    try Raw(place.path).execute("PRAGMA wal_checkpoint(TRUNCATE)")
    #expect(try engine.latestVersion() == Version(21))
  }
}
