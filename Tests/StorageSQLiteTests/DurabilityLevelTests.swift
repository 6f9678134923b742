import CVivariumSQLite
import Foundation
import StorageInterface
import StoreValues
import Synchronization
import Testing
import VivariumTestSupport
@testable import StorageSQLite

/// What SQLite is told of the durability of commits.
@Suite struct DurabilityLevelTests {
  @Test func aLevelThatCouldNotBeSetIsSetForTheNextWrite() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    func add(_ id: Int64, _ durability: Durability) throws {
      try engine.write(durability) { try $0.insert(table, ["id": .int(id)]) }
    }
    try add(0, .relaxed)
    // After so many in a row SQLite syncs each commit itself.
    for id in 1...16 { try add(Int64(id), .full) }
    let writer = try #require(engine.shared.withLock { $0.writer })
    sqlite3_set_authorizer(writer.database, { _, action, _, _, _, _ in action == SQLITE_PRAGMA ? SQLITE_DENY : SQLITE_OK }, nil)
    #expect(throws: StorageError.self) { try engine.beginWrite(.never) }
    sqlite3_set_authorizer(writer.database, nil, nil)
    try engine.beginWrite(.never).end()
    // 2 is FULL.
    #expect(try writer.number(of: "synchronous") == 2)
  }

  @Test func aSyncOfTheLogThatFailedInTheBackgroundIsTriedAgain() throws {
    let place = Place()
    // A log that cannot be opened: a link to itself.
    let log = place.path + "-wal"
    try FileManager.default.createSymbolicLink(atPath: log, withDestinationPath: log)
    let checkpointer = Checkpointer(StoreFile(path: place.path), lock: nil)
    defer { checkpointer.close() }
    checkpointer.syncLog(within: .zero)
    // Here, or on the worker a moment before.
    checkpointer.syncIfDue()
    checkpointer.wait()
    #expect(checkpointer.isSyncDue)
  }
}
