import StorageInterface
import StoreValues
import Synchronization
import Testing
import VivariumTestSupport

@testable import StorageSQLite

/// An engine ends with its last reference, wherever that is let go.
@Suite struct LastReferenceTests {
  /// The checkpointer has the engine while it asks its reads to let go of the log. It may be the last to have it, and cannot wait for
  /// itself.
  @Test func theCheckpointerMayHaveTheLastOne() throws {
    let place = Place()
    let held = Mutex<SQLiteEngine?>(nil)
    let isLetGo = Signal()
    let reader: Raw
    let checkpointer: Checkpointer
    weak var ended: SQLiteEngine?
    do {
      let engine = try place.open()
      let table = try #require(try engine.adopt(.everything)["Thing"])
      try engine.write { try $0.insert(table, ["id": .int(1)]) }
      // A program that reads an old version keeps the log, so the checkpointer asks.
      reader = try Raw(place.path)
      try reader.execute("BEGIN; SELECT count(*) FROM sqlite_schema")
      for id in 2...20 as ClosedRange<Int64> { try engine.write { try $0.insert(table, ["id": .int(id)]) } }
      checkpointer = engine.checkpointer
      checkpointer.askForLog {
        let isFirst = held.withLock { held in
          defer { held = nil }
          return held != nil
        }
        if isFirst { isLetGo.fire() }
      }
      held.withLock { $0 = engine }
      ended = engine
    }
    checkpointer.released()
    #expect(isLetGo.wait())
    #expect(ended == nil)
    checkpointer.wait()
    try reader.execute("ROLLBACK")
    let again = try place.open()
    let read = try again.beginRead()
    #expect(try read.count(try #require(read.catalog["Thing"]).id) == 20)
    read.end()
  }
}
