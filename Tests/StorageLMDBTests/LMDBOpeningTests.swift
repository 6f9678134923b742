import ColumnStore
import Foundation
import StorageInterface
import StorageLMDB
import StoreValues
import Testing

/// Whatever lies at a path, opening it gives a store or a typed error, and an error leaves no trace.
struct LMDBOpeningTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private func code(_ path: String, isReadOnly: Bool = false, createsIfMissing: Bool = true) -> StorageError.Code? {
    do throws(StorageError) {
      _ = try LMDBStore(path: path, isReadOnly: isReadOnly, createsIfMissing: createsIfMissing)
      return nil
    } catch {
      return error.code
    }
  }

  private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted() }

  private func write(_ bytes: some Collection<UInt8>, _ name: String) throws -> String {
    try Data(bytes).write(to: URL(fileURLWithPath: scratch.file(name)))
    return scratch.file(name)
  }

  @Test func aMissingFileIsMadeOnlyWhenAllowed() throws {
    #expect(code(scratch.file("a"), createsIfMissing: false) == .fileNotFound)
    #expect(code(scratch.file("a"), isReadOnly: true) == .fileNotFound)
    #expect(code(scratch.file("no/such/place")) == .fileNotFound)
    #expect(try names().isEmpty)
    #expect(code(scratch.file("a")) == nil)
    #expect(try names() == ["a", "a-lock", "a.bell", "a.coord"])
  }

  @Test func foreignFilesAreRefusedAndLeftAlone() throws {
    let text = try write("Dear diary, this is no database at all.".utf8, "text")
    let sqlite = try write(Array("SQLite format 3\0".utf8) + [UInt8](repeating: 1, count: 4080), "sqlite")
    let short = try write([0xDE], "short")
    let before = try names()
    for path in [text, sqlite, short, scratch.path] {
      #expect(code(path) == .foreignFile)
      #expect(code(path, isReadOnly: true) == .foreignFile)
    }
    #expect(try names() == before)
    #expect(try Data(contentsOf: URL(fileURLWithPath: short)) == Data([0xDE]))
  }

  @Test func anotherProgramsDatabaseIsRefusedAndLeftAlone() throws {
    try putEntry(scratch.file("a"), Array("theirs".utf8), [1])
    #expect(code(scratch.file("a")) == .foreignFile)
    #expect(try names() == ["a"])
  }

  @Test func aNewerFormatIsRefused() throws {
    try putEntry(scratch.file("a"), [0], Array("VIVARIUM".utf8) + [4, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0])
    #expect(code(scratch.file("a")) == .unsupportedVersion)
    #expect(code(scratch.file("a"), isReadOnly: true) == .unsupportedVersion)
  }

  @Test func anotherLayoutOfLMDBIsRefused() throws {
    do { _ = try LMDBStore(path: scratch.file("a")) }
    var bytes = try Data(contentsOf: URL(fileURLWithPath: scratch.file("a")))
    bytes[20] = 7
    bytes[4096 + 20] = 7
    _ = try write(bytes, "b")
    #expect(code(scratch.file("b")) == .unsupportedVersion)
  }

  @Test func everyTruncationOpensWholeOrIsRefused() throws {
    do {
      let store = try LMDBStore(path: scratch.file("a"))
      try store.put((0..<300).map { ("k\($0)", String(repeating: "v", count: 300)) }, 1)
      try store.put([("large", String(repeating: "w", count: 50_000))], 2)
    }
    let bytes = try Data(contentsOf: URL(fileURLWithPath: scratch.file("a")))
    for (number, length) in stride(from: 0, to: bytes.count, by: 3001).enumerated() {
      let path = try write(bytes.prefix(length), "cut\(number)")
      if length == 0 {
        #expect(code(path) == nil)
      } else {
        #expect([.corrupt, .foreignFile].contains(code(path)), "of \(bytes.count) bytes the first \(length)")
      }
    }
    #expect(code(scratch.file("a")) == nil)
  }

  /// Both first pages may agree on them; then nothing else says that they are wrong.
  @Test func numbersThatNoTransactionHasAreRefused() throws {
    let path = scratch.file("a")
    let store = try LMDBStore(path: path)
    try store.put([("k", "v")], 1, .full)
    store.close()
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    for number in [1 << 62, 1 << 63, UInt64.max - 1] {
      var bytes = whole
      for (page, offset) in [(UInt64(0), 144), (1, 4_096 + 144)] {
        withUnsafeBytes(of: number + page) { bytes.replaceSubrange(offset..<offset + 8, with: $0) }
      }
      try bytes.write(to: URL(fileURLWithPath: path))
      #expect(code(path) == .corrupt)
    }
  }

  @Test func aSymbolicLinkToNothingIsFollowed() throws {
    try FileManager.default.createSymbolicLink(atPath: scratch.file("link"), withDestinationPath: scratch.file("a"))
    let store = try LMDBStore(path: scratch.file("link"))
    try store.put([("a", "1")], 1, .full)
    #expect(try names() == ["a", "a-lock", "a.bell", "a.coord", "link"])
  }

  @Test func readOnlyStoresReadAndRefuseToWrite() throws {
    let path = scratch.file("a")
    do { try LMDBStore(path: path).put([("a", "1")], 1) }
    let store = try LMDBStore(path: path, isReadOnly: true)
    #expect(try store.text("a") == "1")
    let error = #expect(throws: StorageError.self) { _ = try store.acquireWriter(.never) }
    #expect(error?.code == .readOnly)
    #expect(code(path) == .alreadyOpen)
    store.close()
    #expect(code(path) == nil)
  }

  @Test func aReadOnlyStoreBesideAWriterSeesItsCommits() throws {
    let writer = try LMDBStore(path: scratch.file("a"))
    let reader = try LMDBStore(path: scratch.file("a"), isReadOnly: true)
    try writer.put([("a", "1")], 1)
    #expect(try reader.latestVersion() == Version(1))
    #expect(try reader.text("a") == "1")
    #expect((#expect(throws: StorageError.self) { _ = try reader.acquireWriter(.never) })?.code == .readOnly)
  }

  @Test func aSmallAddressSpaceIsEnough() async throws {
    let path = scratch.file("a")
    await #expect(processExitsWith: .success) { [path = path as String] in
      var limit = rlimit(rlim_cur: 8 << 30, rlim_max: 8 << 30)
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
      let store = try LMDBStore(path: path)
      try store.put([("a", "1")], 1)
    }
    #expect(try LMDBStore(path: path).text("a") == "1")
  }
}
