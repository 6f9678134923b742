#if Encryption
import Foundation
import StorageConformance
import StorageEncryption
import StorageInterface
import StorageLMDB
import StorageMemory
import StorageSQLite
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// Files that are encrypted, as stores and engines show them.
@Suite struct EncryptedFileTests {
  /// An encrypted store is a store of its engine in every other way.
  @Test(arguments: StorageConformance.allChecks, SealedKind.allCases)
  func check(_ check: ConformanceCheck, kind: SealedKind) async throws {
    let directory = TemporaryDirectory("sealed-conformance")
    let key = EncryptionKey.generate()
    let subject = ConformanceSubject(
      { kind.backend(directory.file("store-\(UUID().uuidString)").path, key) }, persists: true,
      openFile: { kind.backend($0, key) })
    try await check.run(subject)
  }

  @Test(arguments: SealedKind.allCases) func encryptedStoresAgreeWithThePlainEngine(kind: SealedKind) throws {
    let first = SeededGenerator.forTest("encryptedStoresAgreeWithThePlainEngine \(kind)").seed
    for run in 0..<environmentNumber("VIVARIUM_MODEL_RUNS", default: 1) {
      let folder = TemporaryDirectory("sealed-model")
      let key = EncryptionKey.generate()
      let subject = ConformanceSubject({ kind.backend(folder.file("store").path, key) }, persists: true)
      try ModelRun(subject, seed: first &+ UInt64(run)).play(environmentNumber("VIVARIUM_MODEL_STEPS", default: 1_000))
    }
  }

  @Test(arguments: SealedKind.allCases) func nothingThatAStoreHoldsIsInAnyFileInPlain(kind: SealedKind) throws {
    let place = Place(kind)
    do {
      let store = try place.filled()
      #expect(try place.hasNothingPlain(), "with a log")
      try store.write { try store.delete(store.objects(Patient.self).where { $0.number < 100 }) }
      try store.compact()
      #expect(try place.hasNothingPlain(), "after compaction")
      try store.writeCopy(to: place.folder.file("copy").path)
      #expect(try place.hasNothingPlain(), "with a copy")
    }
    #expect(try place.hasNothingPlain(), "when closed")
    // And the search would find it.
    try Store(place.configuration).writeCopy(to: place.folder.file("plain").path, encryption: .none)
    #expect(try place.files(with: Place.secret) == ["plain"] && place.files(with: "secretName") == ["plain"])
  }

  @Test(arguments: SealedKind.allCases) func eachWrongKeyHasItsError(kind: SealedKind) throws {
    let place = Place(kind)
    let (other, plain) = (EncryptionKey.generate(), place.folder.file("plain").path)
    _ = try place.filled()
    _ = try Store(kind.configuration(plain, nil))
    func open(_ path: String, _ key: EncryptionKey?) -> String? { code { try Store(kind.configuration(path, key)) } }
    #expect(open(place.path, other) == "wrongKey")
    #expect(open(place.path, nil) == "missingKey")
    #expect(open(plain, place.key) == "notEncrypted")
    #expect(code { try EncryptionKey([1, 2, 3]) } == "wrongKey")
    #expect(code { try EncryptionKey(passphrase: "") } == "wrongKey")
    // The same of stores that are open.
    let (store, plainStore) = (try Store(place.configuration), try Store(kind.configuration(plain, nil)))
    #expect(open(place.path, other) == "wrongKey")
    #expect(open(place.path, nil) == "missingKey")
    #expect(open(plain, place.key) == "notEncrypted")
    #expect(open(place.path, place.key) == nil)
    #expect(store.objects(Patient.self).count == 300 && plainStore.objects(Patient.self).isEmpty)
    // Nobody needs a key to see that a store is there.
    #expect(kind.backend(place.path, nil).isPresent())
  }

  @Test(arguments: SealedKind.allCases) func aPassphraseIsAKey(kind: SealedKind) throws {
    let place = Place(kind)
    let cost = EncryptionKey.Cost(logarithm: 14)
    let key = try EncryptionKey(passphrase: "Z\u{fc}rich am See", cost: cost)
    let store = try place.filled()
    let copy = place.folder.file("copy").path
    try store.writeCopy(to: copy, encryption: .key(key))
    #expect(try place.picture(copy, EncryptionKey(passphrase: "Zu\u{308}rich am See", cost: cost)) == place.picture(nil, place.key))
    #expect(code { try place.engine(copy, EncryptionKey(passphrase: "Zurich am See", cost: cost)) } == "wrongKey")
    #expect(key.bytes == nil)
  }

  @Test func aKeyIsNotPrinted() throws {
    let bytes = (0..<UInt8(64)).map { $0 }
    let key = try EncryptionKey(bytes)
    var dumped = ""
    dump(key, to: &dumped)
    #expect("\(key)" == "EncryptionKey" && String(reflecting: key) == "EncryptionKey" && dumped.contains("EncryptionKey"))
    #expect(!dumped.contains("63") && key.bytes == bytes)
  }

  @Test(arguments: SealedKind.allCases) func aCopyMayHaveAnotherKeyOrNone(kind: SealedKind) throws {
    let place = Place(kind)
    let store = try place.filled()
    try store.write { try store.delete(store.objects(Patient.self).where { $0.number < 20 }) }
    let other = EncryptionKey.generate()
    let (same, changed, plain, again) = (
      place.folder.file("same").path, place.folder.file("changed").path, place.folder.file("plain").path, place.folder.file("again").path
    )
    let expected = try place.picture(nil, place.key)
    try store.writeCopy(to: same)
    try store.writeCopy(to: changed, encryption: .key(other))
    try store.writeCopy(to: plain, encryption: .none)
    try Store(kind.configuration(plain, nil)).writeCopy(to: again, encryption: .key(other))
    #expect(try place.picture(same, place.key) == expected && place.picture(changed, other) == expected)
    #expect(try place.picture(plain, nil) == expected && place.picture(again, other) == expected)
    #expect(code { try place.engine(changed, place.key) } == "wrongKey")
    // A copy of LMDB's with the same key has what is stored, and the same salt.
    if kind == .lmdb { return }
    // Two files of one key have nothing in common but what every file begins with.
    let (a, b) = (try Data(contentsOf: URL(fileURLWithPath: same)), try Data(contentsOf: URL(fileURLWithPath: place.path)))
    #expect(a.dropFirst(100).prefix(3_900) != b.dropFirst(100).prefix(3_900))
  }

  @Test func aStoreInMemorySaysThatItCannotBeEncrypted() throws {
    let place = Place()
    let memory = try Store(.memory(models: Patient.self))
    #expect(code { try memory.writeCopy(to: place.folder.file("copy").path, encryption: .key(place.key)) } == "unsupported")
    #expect(code { try memory.writeCopy(to: place.folder.file("copy").path) } == "unsupported")
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.folder.url.path) == [])
  }

  @Test(arguments: SealedKind.allCases) func aFileOfOneKeyIsReadByOthersWhileItIsWritten(kind: SealedKind) throws {
    let place = Place(kind)
    let store = try place.filled(10)
    let reader = try Store(place.configuration)
    for number in 10..<200 {
      try store.write {
        let patient = Patient()
        patient.number = number
        try store.add(patient)
      }
      reader.refresh()
      #expect(reader.objects(Patient.self).count == number + 1)
    }
  }
}
#endif
