import Foundation
import StorageInterface
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

@Suite struct FailureTests {
  @Test func aFullDiskSpoilsTheTransactionAndNotTheStore() throws {
    let place = Place()
    let table: TableEntry
    do {
      let engine = try place.open()
      table = try #require(try engine.adopt(.everything)["Thing"])
      try engine.write { try $0.insert(table, ["id": .int(1)]) }
      engine.close()
    }
    var backend = place.backend
    backend.pagesMax = 100
    let engine = try backend.open(OpenOptions())
    let write = try engine.beginWrite(.never)
    var failure: StorageError?
    for id in 2..<10_000 where failure == nil {
      do { try write.insert(table, ["id": .int(Int64(id)), "name": .string(String(repeating: "x", count: 500))]) } catch {
        failure = error
      }
    }
    #expect(failure?.code == .outOfDiskSpace && failure?.scope == .transaction)
    #expect(throws: StorageError.self) { try write.insert(table, ["id": .int(0)]) }
    #expect(throws: StorageError.self) { try write.commit(CommitRecord(), .full) }
    write.end()
    try engine.write { try $0.insert(table, ["id": .int(2)]) }
    let read = try engine.beginRead()
    #expect(try read.count(table.id) == 2)
    #expect(read.version == Version(3))
  }

  @Test func aCommitThatCannotBeSyncedIsThereAndSaysSo() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    // From here on SQLite leaves the syncing to us.
    try engine.write(.relaxed) { try $0.insert(table, ["id": .int(1)]) }
    try engine.failSyncs()
    let write = try engine.beginWrite(.never)
    try write.insert(table, ["id": .int(2)])
    let error = #expect(throws: StorageError.self) { try write.commit(CommitRecord(), .full) }
    #expect(error?.code == .unsynced && error?.scope == .engine && error?.underlyingCode != nil)
    // Over, visible, and the next writer finds it.
    #expect(throws: StorageError.self) { try write.count(table.id) }
    #expect(try engine.latestVersion() == write.version.next)
    let next = try engine.beginWrite(.after(.seconds(600)))
    #expect(try next.count(table.id) == 2)
    #expect(next.version == write.version.next)
    let again = #expect(throws: StorageError.self) { try next.insert(table, ["id": .int(2)]) }
    #expect(again?.code == .uniqueViolation)
    next.end()
    try engine.write(.relaxed) { try $0.insert(table, ["id": .int(3)]) }
    engine.close()
    #expect(try place.open().beginRead().count(table.id) == 3)
  }

  @Test func aForeignWriterMakesOursWaitAndThenTimeOut() throws {
    let place = Place()
    let engine = try place.open()
    try engine.adopt(.everything)
    let raw = try Raw(place.path)
    try raw.execute("BEGIN IMMEDIATE")
    let error = #expect(throws: StorageError.self) { try engine.beginWrite(.after(.milliseconds(20))) }
    #expect(error?.code == .writeTimeout)
    try raw.execute("ROLLBACK")
    try engine.beginWrite(.after(.seconds(600))).end()
  }

  @Test func aValueOfAnotherTypeInAColumnIsAnErrorAndNotAnInvention() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { try $0.insert(table, ["id": .int(1)]) }
    try Raw(place.path).execute("UPDATE Thing SET small = 'many', ratio = 'much', name = x'00', uuid = x'01'")
    let read = try engine.beginRead()
    for name in ["small", "ratio", "name", "uuid"] {
      let column = table.column(named: name)
      let error = #expect(throws: StorageError.self, "\(name)") { try read.value(column, ObjectKey(1)) }
      #expect(error?.code == .corrupt && error?.scope == .statement)
      #expect(throws: StorageError.self) { try read.scan(table.id, [column.property], from: ObjectKey(0), hints: []) { _ in .proceed } }
    }
    #expect(try read.value(table.column(named: "id"), ObjectKey(1)) == .int(1))
  }

  @Test func aValueOfAnotherTypeIsAnErrorOfItsOwnRowAndColumnAlone() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    let (id, small) = (table.column(named: "id"), table.column(named: "small"))
    try engine.write { write in
      for number in Int64(1)...40 { try write.insert(table, ["id": .int(number), "small": .int(number)]) }
    }
    try Raw(place.path).execute("UPDATE Thing SET small = 'many' WHERE _key = 30")
    let read = try engine.beginRead()
    defer { read.end() }
    let windows = try #require(read.powers.windows)
    func word(_ column: ColumnID, _ key: Int64) throws -> Int64 {
      let window = try #require(try windows.window(column, containing: ObjectKey(key)))
      return window.vector.word(at: Int(key - window.firstKey))
    }
    // Both columns are read ahead, in one pass.
    for key in Int64(1)...40 {
      #expect(try word(id, key) == key)
      guard key == 30 else {
        #expect(try word(small, key) == key)
        continue
      }
      for _ in 0..<2 { #expect(throws: StorageError.self) { try word(small, key) } }
    }
  }

  @Test func aTransactionThatMovesBetweenThreadsCommits() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    for id in 0..<10 {
      let box = Box(try engine.beginWrite(.never))
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        _ = try? box.write.insert(table, ["id": .int(Int64(id))])
        done.signal()
      }
      done.wait()
      Thread.detachNewThread {
        _ = try? box.write.commit(CommitRecord(), .relaxed)
        done.signal()
      }
      done.wait()
    }
    #expect(try engine.latestVersion() == Version(11))
  }

  /// Safe to send: the threads of the test use it one after the other.
  private final class Box: @unchecked Sendable {
    let write: any WriteTransaction
    init(_ write: any WriteTransaction) { self.write = write }
  }
}
