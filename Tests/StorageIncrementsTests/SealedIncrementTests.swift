#if Encryption
import ChangeTracker
import Foundation
import StorageEncryption
import StorageIncrements
import StorageInterface
import StorageLMDB
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// The increments of an encrypted store are encrypted with its key.
@Suite struct SealedIncrementTests {
  private let folder = TemporaryDirectory("sealed")
  private let key = EncryptionKey.generate()
  private static let secret = "nobody may read this"

  /// An encrypted store, and its copy; the increment has the secret as the value of a new object.
  private func chain(_ kind: HistoryEngine, _ encryption: CopyEncryption = .unchanged) throws -> (contents: Contents, base: Version) {
    let engine = try kind.backend(path("source"), key: key).open(OpenOptions())
    defer { engine.close() }
    var history = try RandomHistory(engine, SeededGenerator.forTest())
    history.isSmall = true
    for _ in 0..<5 { try history.commit(engine) }
    let base = try #require(engine.powers.copying).writeCopy(to: path("copy"), .unchanged) { _ in .proceed }
    try history.commit(engine) { history, write in
      let row = RowBuffer(history.leaf)
      row.set(try #require(history.leaf.slot(of: history.leaf.id("text"))), .string(Self.secret))
      _ = try write.insert(row)
      _ = try history.insertNode(write)
    }
    #expect(try IncrementWriter.write(engine, since: base, to: path("increment"), encryption) { _ in .proceed } > base)
    return (try Contents(engine, recordsAfter: base), base)
  }

  private func path(_ name: String) -> String { folder.file(name).path }

  private func restore(_ kind: HistoryEngine, _ key: (any StoreKey)?) -> String? {
    code {
      let backend = kind.backend(path("restored"), key: key)
      _ = try StoreRestoration(backend).restore(path("copy"), [path("increment")]) { _ in .proceed }
    }
  }

  private func hasSecret() throws -> Bool {
    try Data(contentsOf: folder.file("increment")).range(of: Data(Self.secret.utf8)) != nil
  }

  @Test(arguments: HistoryEngine.files) func nothingOfAnEncryptedStoreIsPlainInItsIncrement(_ kind: HistoryEngine) throws {
    let (contents, base) = try chain(kind)
    #expect(try !hasSecret() && Data(contentsOf: folder.file("increment")).range(of: Data("Leaf".utf8)) == nil)
    #expect(restore(kind, nil) == "missingKey")
    #expect(restore(kind, EncryptionKey.generate()) == "wrongKey")
    #expect(restore(kind, key) == nil)
    let engine = try kind.backend(path("restored"), key: key).open(OpenOptions())
    defer { engine.close() }
    #expect(try Contents(engine, recordsAfter: base) == contents)
    #expect(code { _ = try IncrementFile(path("increment"), key: nil) } == "missingKey")
    #expect(code { _ = try IncrementFile(path("increment"), key: EncryptionKey.generate()) } == "wrongKey")
  }

  @Test(arguments: HistoryEngine.files) func aPlainIncrementOfAnEncryptedCopyIsRefused(_ kind: HistoryEngine) throws {
    _ = try chain(kind, .none)
    #expect(try hasSecret())
    #expect(restore(kind, key) == "notEncrypted")
    #expect(!FileManager.default.fileExists(atPath: path("restored")))
  }

  @Test(arguments: HistoryEngine.files) func anIncrementMayHaveAnotherKeyThanTheStoreAndIsThenReadWithThat(_ kind: HistoryEngine) throws {
    let other = EncryptionKey.generate()
    _ = try chain(kind, .key(other))
    #expect(try !hasSecret())
    #expect(restore(kind, key) == "wrongKey")
    #expect(try IncrementFile(path("increment"), key: other).isSealed)
  }

  @Test(arguments: HistoryEngine.files) func eachChangedByteOfASealedIncrementIsFound(_ kind: HistoryEngine) throws {
    _ = try chain(kind)
    let bytes = try Data(contentsOf: folder.file("increment"))
    let engine = try kind.backend(path("copy"), key: key).open(OpenOptions())
    defer { engine.close() }
    for place in bytes.indices {
      var changed = bytes
      changed[place] ^= 0x10
      try changed.write(to: folder.file("damaged"))
      let result = code {
        var applier = try IncrementApplier(engine)
        try applier.apply(IncrementFile(path("damaged"), key: key))
      }
      #expect(result == (place < 8 ? "foreignFile" : "corrupt"), "byte \(place)")
    }
  }

  @Test(arguments: HistoryEngine.files) func blocksCannotChangePlacesOrFiles(_ kind: HistoryEngine) throws {
    // Sealed, so that what is changed would not be found by anything else.
    _ = try chain(kind)
    let first = try Data(contentsOf: folder.file("increment"))
    try FileManager.default.removeItem(at: folder.file("increment"))
    let source = try kind.backend(path("source"), key: key).open(OpenOptions())
    let base = try kind.backend(path("copy"), key: key).open(OpenOptions())
    defer {
      source.close()
      base.close()
    }
    _ = try IncrementWriter.write(source, since: base.latestVersion(), to: path("increment"), .unchanged) { _ in .proceed }
    let second = try Data(contentsOf: folder.file("increment"))
    #expect(first.count == second.count && first != second)
    // The header of one, the blocks of the other.
    try (first.prefix(48) + second.dropFirst(48)).write(to: folder.file("mixed"))
    #expect(code { _ = try IncrementFile(path("mixed"), key: key) } == "corrupt")
  }
}

extension HistoryEngine {
  /// The store in the file at a path, with a key or none.
  fileprivate func backend(_ path: String, key: (any StoreKey)?) -> any StorageBackend {
    self == .sqlite ? SQLiteBackend(path: path, key: key) : LMDBBackend(path: path, key: key)
  }
}
#endif
