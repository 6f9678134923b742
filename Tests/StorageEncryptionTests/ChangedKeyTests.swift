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
  @Test(arguments: SealedKind.allCases) func aStoreIsEncryptedGetsAnotherKeyAndIsPlainAgain(kind: SealedKind) throws {
    let place = Place(kind)
    let keys: [EncryptionKey?] = [place.key, .generate(), nil, .generate()]
    _ = try place.filled(50)
    let expected = try place.picture(nil, place.key)
    chmod(place.path, 0o640)
    for (old, new) in zip(keys, keys.dropFirst()) {
      try place.change(from: old, to: new)
      #expect(try place.picture(nil, new) == expected)
      #expect(code { try place.engine(nil, old) } != nil)
      #expect(try place.hasNothingPlain() == (new != nil))
      var info = stat()
      #expect(stat(place.path, &info) == 0 && info.st_mode & 0o777 == 0o640)
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: place.folder.url.path)
    let name = URL(fileURLWithPath: place.path).lastPathComponent
    #expect(Set(names).isSubset(of: [name] + kind.sideFiles.map { name + $0 }), "\(names)")
  }

  @Test(arguments: SealedKind.allCases) func whoHasItOpenKeepsItsKey(kind: SealedKind) throws {
    let place = Place(kind)
    let store = try place.filled(5)
    #expect(code { try place.change(from: place.key, to: .generate()) } == "alreadyOpen")
    #expect(store.objects(Patient.self).count == 5)
  }

  @Test(arguments: SealedKind.allCases) func aRefusedChangeLeavesTheFileAlone(kind: SealedKind) throws {
    let place = Place(kind)
    _ = try place.filled(5)
    let before = try Data(contentsOf: URL(fileURLWithPath: place.path))
    #expect(code { try place.change(from: .generate(), to: nil) } == "wrongKey")
    #expect(code { try place.change(from: nil, to: .generate()) } == "missingKey")
    #expect(code { try Store.changeKey(of: place.configuration, to: nil) { _ in false } } == "cancelled")
    #expect(code { try place.change(place.path + "x", from: place.key, to: nil) } == "fileNotFound")
    #expect(code { try Store.changeKey(of: .memory(), to: place.key) } == "unsupported")
    #expect(try Data(contentsOf: URL(fileURLWithPath: place.path)) == before)
    let names = try FileManager.default.contentsOfDirectory(atPath: place.folder.url.path)
    #expect(names.allSatisfy { !$0.contains(".new") && !$0.contains("\(kind.rawValue)x") }, "\(names)")
  }

  /// The new name of the file could not be made certain: that is found before it gets the name. An error means that the old key is the
  /// right one, and whoever keeps the new key only after a success must not have lost the store.
  @Test(arguments: SealedKind.allCases) func afterAnErrorTheOldKeyOpensTheStore(kind: SealedKind) async throws {
    let place = Place(kind)
    _ = try place.filled(5)
    try place.change(from: place.key, to: EncryptionKey(repeatElement(5, count: EncryptionKey.byteCount)))
    let folder = place.folder.url.path
    let files = try FileManager.default.contentsOfDirectory(atPath: folder).map { place.folder.file($0).path }
    for path in [folder] + files where getuid() == 0 { #expect(chown(path, 65_534, 65_534) == 0) }
    // Its owner may make and replace files there, and not open it.
    #expect(chmod(folder, 0o300) == 0)
    await #expect(processExitsWith: .success) { [kind = kind.rawValue as String, path = place.path as String, folder = folder as String] in
      #expect(getuid() != 0 || setuid(65_534) == 0)
      let kind = try #require(SealedKind(rawValue: kind))
      let old = try EncryptionKey(repeatElement(5, count: EncryptionKey.byteCount))
      let new = try EncryptionKey(repeatElement(6, count: EncryptionKey.byteCount))
      let error = code { try kind.backend(path, old).changeKey(to: new) { _ in .proceed } }
      #expect(chmod(folder, 0o700) == 0)
      let engine = try kind.backend(path, error == nil ? new : old).open(OpenOptions(isReadOnly: true))
      #expect(try engine.latestVersion() > Version(0))
    }
    #expect(chmod(folder, 0o700) == 0)
  }

  /// A program that was killed between the change and its note of the new key makes it again.
  @Test(arguments: SealedKind.allCases) func aChangeThatWasMadeIsNotMadeAgain(kind: SealedKind) throws {
    let place = Place(kind)
    let new = EncryptionKey.generate()
    _ = try place.filled(5)
    try place.change(from: place.key, to: new)
    let identity = FileIdentity(path: place.path)
    try place.change(from: place.key, to: new)
    try place.change(from: new, to: new)
    #expect(FileIdentity(path: place.path) == identity)
  }

  @Test func whatAKilledProcessLeftInTheLogIsKept() throws {
    let place = Place()
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
