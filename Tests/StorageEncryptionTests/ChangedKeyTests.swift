#if Encryption
import Foundation
import StorageCoordination
import StorageEncryption
import StorageInterface
import StorageMemory
import StorageSQLite
import Testing
import Vivarium
import VivariumTestSupport

/// A store gets another key where it is.
@Suite struct ChangedKeyTests {
  private let place = Place()

  private func change(from old: EncryptionKey?, to new: EncryptionKey?) throws {
    try Store.changeKey(of: .sqlite(place.path, key: old), to: new)
  }

  @Test func aStoreIsEncryptedGetsAnotherKeyAndIsPlainAgain() throws {
    let keys: [EncryptionKey?] = [place.key, .generate(), nil, .generate()]
    _ = try place.filled(50)
    let expected = try place.picture(nil, place.key)
    chmod(place.path, 0o640)
    for (old, new) in zip(keys, keys.dropFirst()) {
      try change(from: old, to: new)
      #expect(try place.picture(nil, new) == expected)
      #expect(code { try place.engine(nil, old) } != nil)
      #expect(try place.hasNothingPlain() == (new != nil))
      var info = stat()
      #expect(stat(place.path, &info) == 0 && info.st_mode & 0o777 == 0o640)
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: place.folder.url.path)
    #expect(Set(names).isSubset(of: ["store.sqlite", "store.sqlite.coord", "store.sqlite.bell"]), "\(names)")
  }

  @Test func whoHasItOpenKeepsItsKey() throws {
    let store = try place.filled(5)
    #expect(code { try change(from: place.key, to: .generate()) } == "alreadyOpen")
    #expect(store.objects(Patient.self).count == 5)
  }

  @Test func aRefusedChangeLeavesTheFileAlone() throws {
    _ = try place.filled(5)
    let before = try Data(contentsOf: URL(fileURLWithPath: place.path))
    #expect(code { try change(from: .generate(), to: nil) } == "wrongKey")
    #expect(code { try change(from: nil, to: .generate()) } == "missingKey")
    #expect(code { try Store.changeKey(of: .sqlite(place.path, key: place.key), to: nil) { _ in false } } == "cancelled")
    #expect(code { try Store.changeKey(of: .sqlite(place.path + "x", key: place.key), to: nil) } == "fileNotFound")
    #expect(code { try Store.changeKey(of: .memory(), to: place.key) } == "unsupported")
    #expect(try Data(contentsOf: URL(fileURLWithPath: place.path)) == before)
    let names = try FileManager.default.contentsOfDirectory(atPath: place.folder.url.path)
    #expect(names.allSatisfy { !$0.contains(".new") && !$0.contains("sqlitex") }, "\(names)")
  }

  /// A program that was killed between the change and its note of the new key makes it again.
  @Test func aChangeThatWasMadeIsNotMadeAgain() throws {
    let new = EncryptionKey.generate()
    _ = try place.filled(5)
    try change(from: place.key, to: new)
    let identity = FileIdentity(path: place.path)
    try change(from: place.key, to: new)
    try change(from: new, to: new)
    #expect(FileIdentity(path: place.path) == identity)
  }

  @Test func whatAKilledProcessLeftInTheLogIsKept() throws {
    let store = try place.filled(20)
    let left = try ["", "-wal"].map { try Data(contentsOf: URL(fileURLWithPath: place.path + $0)) }
    let expected = try place.picture(nil, place.key)
    withExtendedLifetime(store) {}
    let other = place.folder.file("left.sqlite").path
    for (suffix, bytes) in zip(["", "-wal"], left) { try bytes.write(to: URL(fileURLWithPath: other + suffix)) }
    let new = EncryptionKey.generate()
    try Store.changeKey(of: .sqlite(other, key: place.key), to: new)
    #expect(try place.picture(other, new) == expected)
  }
}
#endif
