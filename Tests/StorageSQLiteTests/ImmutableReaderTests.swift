import CVivariumSQLite
import Foundation
import StorageInterface
import StoreValues
import Testing
import VivariumTestSupport
@testable import StorageSQLite

/// A file that is read as one that nobody writes, and that another program writes in the middle of a call: nothing that may be of two
/// versions is given out.
@Suite struct ImmutableReaderTests {
  private let place = Place()

  /// Fills a store and closes it, without the files by which a reader would know of writers, and as if long ago.
  private func fill() throws -> TableEntry {
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { write in
      for id in 0..<3_000 { try write.insert(table, ["id": .int(Int64(id)), "name": .string("name \(id)")]) }
    }
    engine.close()
    for name in [".coord", ".bell"] { try FileManager.default.removeItem(atPath: place.path + name) }
    try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -3_600)], ofItemAtPath: place.path)
    return table
  }

  /// What another program does: every row is another one, in the main file.
  private func rewrite() {
    do { try Raw(place.path).execute("UPDATE Thing SET name = 'other', id = id + 5000") } catch { Issue.record(error) }
  }

  private func code(_ body: () throws(StorageError) -> Void) -> StorageError.Code? {
    do throws(StorageError) { try body() } catch { return error.code }
    return nil
  }

  @Test func aScanLendsNothingThatWasReadAfterAWrite() throws {
    let table = try fill()
    let reader = try place.open(OpenOptions(isReadOnly: true))
    defer { reader.close() }
    let read = try reader.beginRead()
    defer { read.end() }
    var batches = 0
    let found = code { () throws(StorageError) in
      try read.scan(table.id, [table.id("name")], from: ObjectKey(0), hints: []) { _ in
        batches += 1
        if batches == 1 { rewrite() }
        return .proceed
      }
    }
    #expect(found == .snapshotExpired)
    #expect(batches == 1)
  }

  @Test func anIndexLendsNothingThatWasReadAfterAWrite() throws {
    let table = try fill()
    let reader = try place.open(OpenOptions(isReadOnly: true))
    defer { reader.close() }
    let read = try reader.beginRead()
    defer { read.end() }
    let index = try #require(table.indexes.first)
    var blocks = 0
    let found = code { () throws(StorageError) in
      try read.keys(in: index.id, .all, descending: false) { _ in
        blocks += 1
        if blocks == 1 { rewrite() }
        return .proceed
      }
    }
    #expect(found == .snapshotExpired)
    #expect(blocks == 1)
  }

  @Test func aTotalOverAWriteIsNone() throws {
    let table = try fill()
    let reader = try place.open(OpenOptions(isReadOnly: true))
    defer { reader.close() }
    let read = try reader.beginRead()
    defer { read.end() }
    let snapshot = try #require(read as? SQLiteReadTransaction)
    let interruption = Interruption { rewrite() }
    interruption.begin(in: snapshot.connection)
    defer { interruption.end(in: snapshot.connection) }
    let found = code { () throws(StorageError) in _ = try snapshot.total(of: table.column(named: "id"), .sum) }
    #expect(interruption.isDone)
    #expect(found == .snapshotExpired)
  }

  @Test func aRowThatWasReadAfterAWriteIsNone() throws {
    _ = try fill()
    let connection = try Connection.ours(StoreFile(path: place.path), isReadOnly: true, isImmutable: true)
    connection.stamp = FileStamp(place.path)
    let statement = try connection.take(text: "SELECT name FROM Thing WHERE _key = 7")
    defer { connection.finish(statement) }
    rewrite()
    #expect(code { () throws(StorageError) in _ = try connection.step(statement, "read a name") } == .snapshotExpired)
  }

  @Test func aCopyOverAWriteIsNone() throws {
    _ = try fill()
    let reader = try place.open(OpenOptions(isReadOnly: true))
    defer { reader.close() }
    let target = place.directory.file("copy").path
    let found = code { () throws(StorageError) in
      try reader.writeCopy(to: target, .unchanged) { _ in
        rewrite()
        return .proceed
      }
    }
    #expect(found == .snapshotExpired)
    #expect(!FileManager.default.fileExists(atPath: target))
  }
}

/// Does something once, in the middle of a statement.
private final class Interruption {
  private let body: () -> Void
  private(set) var isDone = false

  init(_ body: @escaping () -> Void) { self.body = body }

  /// Until `end`, which comes before this object is released.
  func begin(in connection: Connection) {
    sqlite3_progress_handler(
      connection.database, 500, { context in
        guard let context else { return 0 }
        Unmanaged<Interruption>.fromOpaque(context).takeUnretainedValue().interrupt()
        return 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  func end(in connection: Connection) { sqlite3_progress_handler(connection.database, 0, nil, nil) }

  private func interrupt() {
    if isDone { return }
    isDone = true
    body()
  }
}
