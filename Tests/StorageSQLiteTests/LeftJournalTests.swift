import Foundation
import StorageInterface
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// A rollback journal that another program left without its file: SQLite plays it back into the next file of that name.
@Suite struct LeftJournalTests {
  /// As SQLite writes one: name, one page, seed of the sums, one page in the file before, sector and page size; then page 1, of zeroes, and
  /// its sum.
  private var journal: Data {
    var bytes = Data([0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 16, 0])
    bytes.append(Data(count: 512 - bytes.count))
    bytes.append(Data([0, 0, 0, 1]) + Data(count: 4_096 + 4))
    return bytes
  }

  @Test(arguments: [false, true])
  func itIsNotPlayedBackIntoANewStore(isEmptied: Bool) throws {
    let place = Place()
    if isEmptied { try Data().write(to: URL(fileURLWithPath: place.path)) }
    try journal.write(to: URL(fileURLWithPath: place.path + "-journal"))
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { try $0.insert(table, ["id": .int(1)]) }
    engine.close()
    let read = try place.open().beginRead()
    defer { read.end() }
    #expect(try read.count(table.id) == 1)
  }

  @Test func noCopyIsWrittenBesideIt() throws {
    let place = Place()
    let engine = try place.open()
    try engine.adopt(.everything)
    let path = place.directory.file("copy").path
    try journal.write(to: URL(fileURLWithPath: path + "-journal"))
    let error = #expect(throws: StorageError.self) { try engine.writeCopy(to: path, .unchanged) { _ in .proceed } }
    #expect(error?.code == .fileExists)
  }
}
