#if Encryption
import ColumnStore
import Foundation
import StorageConformance
import StorageEncryption
import StorageInterface
@testable import StorageLMDB
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

/// Files of LMDB whose entries are encrypted: what is in them, and what a changed bit does.
@Suite struct EncryptedEntriesTests {
  /// A store with so many names that their index has several blocks, with words of names as fences, and with side entries.
  private func filled(_ place: Place, _ count: Int) throws -> Store {
    let store = try place.filled(count)
    let engine = try place.engine(nil, place.key)
    try engine.write { write in
      for number in 0..<300 { try write.writePowers.sides?.setSide(Array("\(Place.secret) side \(number)".utf8), [UInt8(number & 255)]) }
    }
    return store
  }

  @Test func keysOfIndexesAndSideEntriesAreInNoFileInPlain() throws {
    let place = Place(.lmdb)
    let store = try filled(place, 2_000)
    #expect(try place.hasNothingPlain())
    try store.writeCopy(to: place.folder.file("plain").path, encryption: .none)
    // A plain file has them as keys.
    let data = try Data(contentsOf: place.folder.file("plain"))
    #expect(data.range(of: Data("\(Place.secret) side 299".utf8)) != nil && data.range(of: Data("\(Place.secret) 1".utf8)) != nil)
  }

  @Test func sideEntriesAreFoundAndCopiedWithEveryKey() throws {
    let place = Place(.lmdb)
    let (store, other) = (try filled(place, 10), EncryptionKey.generate())
    let (plain, again) = (place.folder.file("plain").path, place.folder.file("again").path)
    try store.writeCopy(to: plain, encryption: .none)
    try Store(place.kind.configuration(plain, nil)).writeCopy(to: again, encryption: .key(other))
    func sides(_ path: String?, _ key: EncryptionKey?) throws -> [String] {
      let engine = try place.engine(path, key)
      let read = try engine.beginRead()
      defer { read.end() }
      var found: [String] = []
      try read.powers.sides?.sides(from: Array(Place.secret.utf8), below: nil) { key, value in
        found.append("\(String(decoding: key, as: UTF8.self)) \(Array(value))")
        return .proceed
      }
      return found
    }
    let expected = try sides(nil, place.key)
    #expect(expected.count == 300 && expected == expected.sorted())
    #expect(try sides(plain, nil) == expected && sides(again, other) == expected)
  }

  /// A bit is somebody's, or in the gap of a page, which nobody reads.
  @Test func oneBitOfEachPageIsFoundOrNobodyReadsIt() throws {
    let place = Place(.lmdb)
    var random = SeededGenerator.forTest("oneBitOfEachPageIsFoundOrNobodyReadsIt")
    let path = place.folder.file("copy").path
    try filled(place, 120).writeCopy(to: path)
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    let expected = try place.picture(path, place.key)
    let pageSize = 4_096
    #expect(whole.count % pageSize == 0 && whole.count / pageSize > 20)
    var found = 0
    for page in 0..<whole.count / pageSize {
      for _ in 0..<3 {
        var damaged = whole
        let (byte, bit) = (page * pageSize + random.below(pageSize), random.below(8))
        damaged[byte] ^= 1 << UInt8(bit)
        let other = place.folder.file("damaged-\(page)-\(byte)").path
        try damaged.write(to: URL(fileURLWithPath: other))
        var faults: [StoreFault] = []
        do {
          let engine = try place.engine(other, place.key)
          let read = try engine.beginRead()
          defer { read.end() }
          let picture = try Picture(read)
          try engine.powers.structure?.verifyStructure(read) { faults.append($0) }
          if faults.isEmpty { #expect(picture == expected, "bit \(bit) of byte \(byte) in page \(page)") }
        } catch let error as StorageError {
          faults.append(StoreFault("opening", error.message))
        }
        if !faults.isEmpty { found += 1 }
        for suffix in ["", "-lock", ".coord", ".bell"] { try? FileManager.default.removeItem(atPath: other + suffix) }
      }
    }
    // Most of the file is encrypted values, of which every bit counts.
    #expect(found > whole.count / pageSize * 3 / 2)
  }

  /// Between the look at the key and the change nobody has the file open.
  @Test func aFileThatAnotherProcessHasEncryptedMeanwhileIsNotTakenForAPlainOne() throws {
    let place = Place(.lmdb)
    let (path, other) = (place.folder.file("plain").path, EncryptionKey.generate())
    try place.filled(20).writeCopy(to: path, encryption: .none)
    let backend = LMDBBackend(path: path)
    let files = try backend.checked()
    try LMDBBackend(path: path).changeKey(to: place.key) { _ in .proceed }
    #expect(code { try backend.exchange(files, other) { _ in .proceed } } == "missingKey")
    #expect(try place.picture(path, place.key) == place.picture(nil, place.key))
  }

  /// Short entries get much longer, and their pages are not full.
  @Test func theMapOfAnEncryptedCopyGrowsWithIt() throws {
    let place = Place(.lmdb)
    let (plain, path) = (place.folder.file("plain").path, place.folder.file("copy").path)
    try place.filled(2_000).writeCopy(to: plain, encryption: .none)
    let store = try LMDBStore(path: plain)
    let snapshot = try #require(try store.beginSnapshot() as? LMDBSnapshot)
    defer { snapshot.end() }
    let isMade = try LMDBFiles.making(path, mode: 0o600, mapSize: 1 << 20) { (handle, aside) throws(StorageError) in
      let content = CopyContent.shown(snapshot, key: place.key)
      try LMDBCopy(handle, aside, path, 0).fill(content, of: snapshot.running(), snapshot.version) { _ in .proceed }
    }
    #expect(isMade)
    #expect(try place.picture(path, place.key) == place.picture(plain, nil))
  }

  @Test func aFileWithoutEntriesBelongsToWhoWritesThemFirst() throws {
    let place = Place(.lmdb)
    let path = place.folder.file("new").path
    try Data().write(to: URL(fileURLWithPath: path))
    let engine = try place.engine(path, place.key)
    #expect(code { try place.engine(path, nil) } == "missingKey")
    #expect(code { try place.engine(path, EncryptionKey.generate()) } == "wrongKey")
    withExtendedLifetime(engine) {}
  }

  @Test func whoHasNoKeyHasNothingInBetween() throws {
    let place = Place(.lmdb)
    let plain = try #require(try place.engine(place.folder.file("plain").path, nil) as? ColumnEngine)
    let sealed = try #require(try place.engine(nil, place.key) as? ColumnEngine)
    #expect(!plain.isSealed && sealed.isSealed)
  }

  @Test func aBuildBeforeRefusesTheFileByItsFormat() throws {
    let place = Place(.lmdb)
    _ = try place.filled(5)
    let data = try Data(contentsOf: URL(fileURLWithPath: place.path))
    let record = try #require(data.range(of: Data("VIVARIUM".utf8)))
    #expect(data[record.upperBound] == 3)
  }
}
#endif
