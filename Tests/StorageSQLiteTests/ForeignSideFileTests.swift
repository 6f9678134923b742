import Foundation
import StorageInterface
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// What lies where a store's files are expected and is none stays as it was, whether a store is made, opened or removed there.
@Suite struct ForeignSideFileTests {
  private let text = Data("Dear diary".utf8)

  private func code(_ body: () throws -> Void) -> StorageError.Code? {
    do {
      try body()
      return nil
    } catch { return (error as? StorageError)?.code }
  }

  private func names(_ place: Place) throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: place.directory.url.path) }

  @Test(arguments: ["-wal", "-shm", "-journal", ".coord", ".bell"], [false, true])
  func noStoreIsMadeBesideOne(suffix: String, isEmptied: Bool) throws {
    let place = Place()
    let side = URL(fileURLWithPath: place.path + suffix)
    if isEmptied { try Data().write(to: URL(fileURLWithPath: place.path)) }
    try text.write(to: side)
    #expect(code { try place.open().close() } == .foreignFile)
    #expect(try Data(contentsOf: side) == text)
    #expect(!place.backend.isPresent())
    try FileManager.default.removeItem(at: side)
    #expect(code { try place.open().close() } == nil)
  }

  @Test(arguments: [false, true]) func aJournalThatIsNoneIsNotTakenAway(isReadOnly: Bool) throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    engine.close()
    let journal = URL(fileURLWithPath: place.path + "-journal")
    try text.write(to: journal)
    #expect(code { try place.open(OpenOptions(isReadOnly: isReadOnly)).close() } == .foreignFile)
    #expect(try Data(contentsOf: journal) == text)
    // The header of one that was written to its end is zeroes, where a program keeps its journal.
    try Data(count: 512).write(to: journal)
    #expect(try place.open(OpenOptions(isReadOnly: isReadOnly)).beginRead().count(table.id) == 0)
  }

  @Test(arguments: [false, true]) func aLogThatIsNoneIsNotWrittenOver(isReadOnly: Bool) throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write(.full) { try $0.insert(table, ["id": .int(1)]) }
    engine.close()
    let log = URL(fileURLWithPath: place.path + "-wal")
    let options = OpenOptions(isReadOnly: isReadOnly)
    try text.write(to: log)
    #expect(code { try place.open(options).close() } == .foreignFile)
    #expect(try Data(contentsOf: log) == text)
    // Nor what a link leads to.
    let other = place.directory.file("diary")
    try FileManager.default.moveItem(at: log, to: other)
    try FileManager.default.createSymbolicLink(at: log, withDestinationURL: other)
    #expect(code { try place.open(options).close() } == .foreignFile)
    #expect(try Data(contentsOf: other) == text)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: log.path) == other.path)
    // What a power cut leaves of a log that was just made.
    try FileManager.default.removeItem(at: log)
    try Data(count: 512).write(to: log)
    let again = try place.open(options)
    defer { again.close() }
    #expect(try again.beginRead().count(table.id) == 1)
  }

  @Test(arguments: ["-wal", "-shm", "-journal", ".coord", ".bell", ".sync"]) func removingAStoreLeavesThem(suffix: String) throws {
    let place = Place()
    try place.open().close()
    let side = URL(fileURLWithPath: place.path + suffix)
    try? FileManager.default.removeItem(at: side)
    try text.write(to: side)
    try place.backend.remove()
    #expect(try names(place) == ["store.sqlite" + suffix])
    #expect(try Data(contentsOf: side) == text)
  }
}
