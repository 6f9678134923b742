import Foundation
import StorageInterface
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

@Suite struct OpeningTests {
  private func error(_ place: Place, _ options: OpenOptions = OpenOptions()) -> StorageError.Code? {
    do {
      _ = try place.backend.open(options)
      return nil
    } catch { return error.code }
  }

  private func names(_ place: Place) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: place.directory.url.path).sorted()
  }

  @Test func aMissingStoreIsSaidToBeMissing() throws {
    let place = Place()
    #expect(error(place, OpenOptions(createsIfMissing: false)) == .fileNotFound)
    #expect(error(place, OpenOptions(isReadOnly: true)) == .fileNotFound)
    #expect(try names(place).isEmpty)
    #expect(!place.backend.isPresent())
  }

  @Test func anOpenThatFailsHalfWayLeavesNoStoreBehind() throws {
    let place = Place()
    // No bell can be made there.
    let bell = place.path + ".bell"
    try FileManager.default.createDirectory(atPath: bell, withIntermediateDirectories: false)
    #expect(error(place) != nil)
    #expect(!FileManager.default.fileExists(atPath: place.path))
    try FileManager.default.removeItem(atPath: bell)
    let table = try #require(try place.open().adopt(.everything)["Thing"])
    // One that was there stays, whatever an open of it meets.
    try FileManager.default.removeItem(atPath: bell)
    try FileManager.default.createDirectory(atPath: bell, withIntermediateDirectories: false)
    #expect(error(place) != nil)
    try FileManager.default.removeItem(atPath: bell)
    #expect(try place.open().beginRead().count(table.id) == 0)
  }

  @Test func anotherProgramsSQLiteFileIsForeignAndStaysAsItWas() throws {
    for mode in ["DELETE", "WAL"] {
      let place = Place()
      do { try Raw(place.path).execute("PRAGMA journal_mode = \(mode); CREATE TABLE t (x); INSERT INTO t VALUES (1)") }
      let before = try Data(contentsOf: URL(fileURLWithPath: place.path))
      let files = try names(place)
      #expect(error(place) == .foreignFile)
      #expect(!place.backend.isPresent())
      #expect(throws: StorageError.self) { try place.backend.remove() }
      #expect(try Data(contentsOf: URL(fileURLWithPath: place.path)) == before)
      #expect(try names(place) == files)
    }
  }

  @Test func textsFoldersAndOtherFilesAreForeign() throws {
    for content in ["hello", String(repeating: "x", count: 5000)] {
      let place = Place()
      try Data(content.utf8).write(to: URL(fileURLWithPath: place.path))
      #expect(error(place) == .foreignFile)
    }
    let place = Place()
    try FileManager.default.createDirectory(atPath: place.path, withIntermediateDirectories: false)
    #expect(error(place) == .foreignFile)
  }

  @Test func aFileCutShortIsCorruptWhereverItIsCut() throws {
    let place = Place()
    do {
      let engine = try place.open()
      let table = try #require(try engine.adopt(.everything)["Thing"])
      try engine.write { write in for id in 0..<500 { try write.insert(table, ["id": .int(Int64(id))]) } }
      engine.close()
    }
    let whole = try Data(contentsOf: URL(fileURLWithPath: place.path))
    for length in [100, 4096, 5000, whole.count / 2, whole.count - 1] {
      try whole.prefix(length).write(to: URL(fileURLWithPath: place.path))
      #expect(error(place) == .corrupt, "\(length)")
    }
  }

  @Test func damagedPagesGiveTypedErrorsAndNeverTrap() throws {
    let place = Place()
    let table: TableEntry
    do {
      let engine = try place.open()
      table = try #require(try engine.adopt(.everything)["Thing"])
      try engine.write { write in
        for id in 0..<300 { try write.insert(table, ["id": .int(Int64(id)), "name": .string("n\(id)")]) }
      }
      engine.close()
    }
    var random = SeededGenerator.forTest()
    let whole = try Data(contentsOf: URL(fileURLWithPath: place.path))
    for _ in 0..<60 {
      var damaged = whole
      let at = random.below(whole.count)
      for offset in at..<min(at + 64, whole.count) { damaged[offset] = UInt8(random.below(256)) }
      try damaged.write(to: URL(fileURLWithPath: place.path))
      do {
        let engine = try place.open()
        defer { engine.close() }
        let read = try engine.beginRead()
        let columns = table.columns.filter { $0.schema.isScalar }.map(\.id)
        try read.scan(table.id, columns, from: ObjectKey(0), hints: []) { _ in .proceed }
        for index in table.indexes { try read.keys(in: index.id, .all, descending: false) { _ in .proceed } }
      } catch let error as StorageError {
        #expect(!error.message.isEmpty)
      }
    }
  }

  /// Text is read as it is stored, so nobody else may say how that is.
  @Test func aFileThatSaysThatItsTextIsNotUTF8IsDamaged() throws {
    let place = Place()
    let engine = try place.open()
    _ = try engine.adopt(.everything)
    engine.close()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: place.path))
    #expect(bytes[56..<60].elementsEqual([0, 0, 0, 1]))
    for encoding in [2, 3, 255] as [UInt8] {
      bytes[59] = encoding
      try bytes.write(to: URL(fileURLWithPath: place.path))
      #expect(error(place) == .corrupt)
    }
    bytes[59] = 1
    try bytes.write(to: URL(fileURLWithPath: place.path))
    try place.open().close()
  }

  @Test func aNewerFormatIsNamed() throws {
    let place = Place()
    try place.open().close()
    try Raw(place.path).execute("PRAGMA user_version = \(Catalog.formatMax + 1)")
    #expect(error(place) == .unsupportedVersion)
    #expect(place.backend.isPresent())
  }

  @Test func aNewerFormatInTheLogIsNamed() throws {
    let place = Place()
    let engine = try place.open()
    try engine.adopt(.everything)
    // Stays open: what it writes is in the log alone.
    let newer = try Raw(place.path)
    try newer.execute("BEGIN; UPDATE _vivarium_catalog SET version = version + 1; PRAGMA user_version = \(Catalog.formatMax + 1); COMMIT")
    let refused = #expect(throws: StorageError.self) { try engine.beginWrite(.never) }
    #expect(refused?.code == .unsupportedVersion)
    #expect(throws: StorageError.self) { try engine.beginRead() }
    engine.close()
    #expect(error(place) == .unsupportedVersion)
    #expect(error(place, OpenOptions(isReadOnly: true)) == .unsupportedVersion)
    withExtendedLifetime(newer) {}
  }

  @Test func anEmptyFileBecomesAStore() throws {
    let place = Place()
    try Data().write(to: URL(fileURLWithPath: place.path))
    #expect(error(place, OpenOptions(createsIfMissing: false)) == .fileNotFound)
    #expect(try place.open().latestVersion() == Version(0))
  }

  @Test func aBundledFileIsReadWithoutLeavingATrace() throws {
    let place = Place()
    do {
      let engine = try place.open()
      let table = try #require(try engine.adopt(.everything)["Thing"])
      try engine.write { try $0.insert(table, ["id": .int(5)]) }
      engine.close()
    }
    for name in [".coord", ".bell"] { try FileManager.default.removeItem(atPath: place.path + name) }
    #expect(try names(place) == ["store.sqlite"])
    let engine = try place.open(OpenOptions(isReadOnly: true))
    let read = try engine.beginRead()
    let table = try #require(read.catalog["Thing"])
    #expect(try read.key(in: table.index("id"), equal: [.int(5)]) == ObjectKey(1))
    #expect(try engine.latestVersion() == Version(2))
    #expect(throws: StorageError.self) { try engine.beginWrite(.never) }
    let left = try names(place)
    #expect(left == ["store.sqlite"])
  }

  @Test func removingTakesEveryFileAndOnlyWhenNobodyHasItOpen() throws {
    let place = Place()
    let engine = try place.open()
    try engine.adopt(.everything)
    #expect(throws: StorageError.self) { try place.backend.remove() }
    engine.close()
    try place.backend.remove()
    #expect(try names(place).isEmpty)
  }
}
