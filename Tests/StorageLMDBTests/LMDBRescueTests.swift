import ColumnStore
import Foundation
import StorageInterface
import StoreValues
import Testing

@testable import StorageLMDB

/// What is found of a file whose meta pages are damaged.
struct LMDBRescueTests {
  private let scratch: Scratch
  private let path: String

  init() throws {
    scratch = try Scratch()
    path = scratch.file("a")
  }

  private static let sideFiles = ["-lock", ".coord", ".bell", ".safe"]

  /// The version of a store, which is also its text; nil if it does not open.
  private func version(_ path: String) throws -> UInt64? {
    guard let store = try? LMDBStore(path: path, isReadOnly: true) else { return nil }
    defer { store.close() }
    let version = try store.latestVersion().rawValue
    #expect(try store.text("a") == "\(version)")
    return version
  }

  /// Changes the file in place: its safe point is of this file alone.
  private func overwrite(_ path: String, at place: Int, _ bytes: Data) throws {
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.seek(toOffset: UInt64(place))
    try file.write(contentsOf: bytes)
    try file.close()
  }

  private func rescue(_ path: String, to copy: String) throws -> UInt64? { try LMDBBackend(path: path).rescue(to: copy)?.rawValue }

  @Test func aBitOfAMetaPageCostsTheLastCommitAtMost() throws {
    do {
      let store = try LMDBStore(path: path)
      defer { store.close() }
      for version in 1...3 { try store.put([("a", "\(version)")], UInt64(version), .full) }
    }
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    let (damaged, copy) = (scratch.file("damaged"), scratch.file("copy"))
    var rescued = 0
    for page in 0..<2 {
      for byte in 0..<LMDBMetaPage.size {
        var data = whole
        data[page * LMDBMetaPage.bytes + byte] ^= 1 << UInt8(byte % 8)
        try data.write(to: URL(fileURLWithPath: damaged))
        var found = try version(damaged)
        if found == nil {
          #expect(try rescue(damaged, to: copy) != nil, "byte \(byte) of page \(page)")
          found = try version(copy)
          rescued += 1
        }
        #expect(found == 2 || found == 3, "byte \(byte) of page \(page)")
        for suffix in [""] + Self.sideFiles { for name in [damaged, copy] { unlink(name + suffix) } }
      }
    }
    #expect(rescued > 20)
  }

  @Test func aStoreThatOpensNeedsNoRescueAndAForeignFileGetsNone() throws {
    do { try LMDBStore(path: path).put([("a", "1")], 1, .full) }
    let text = scratch.file("text")
    try Data("Dear diary, this is no database at all.".utf8).write(to: URL(fileURLWithPath: text))
    for file in [path, text, scratch.file("nothing")] {
      #expect(try rescue(file, to: scratch.file("copy")) == nil)
      #expect(!FileManager.default.fileExists(atPath: scratch.file("copy")))
    }
  }

  @Test func theSafePointIsFoundWhereBothMetaPagesAreGone() throws {
    do {
      let store = try LMDBStore(path: path)
      defer { store.close() }
      try store.put([("a", "1")], 1, .full)
      try store.environment().safePoints.pauseBackground()
      try store.put([("a", "2")], 2, .relaxed)
    }
    SafePoints.waitForBackground()
    try overwrite(path, at: 0, Data(count: 2 * LMDBMetaPage.bytes))
    let refused = #expect(throws: StorageError.self) { _ = try LMDBStore(path: path, isReadOnly: true) }
    #expect(refused?.code == .corrupt)
    #expect(try rescue(path, to: scratch.file("copy")) == 1)
    #expect(try version(scratch.file("copy")) == 1)
    // Without the point nobody knows what the file was.
    try FileManager.default.removeItem(atPath: path + ".safe")
    #expect(try rescue(path, to: scratch.file("other")) == nil)
  }

  /// As a process that was killed leaves it: the point has its journal yet.
  @Test func theCommitsInTheJournalAreFoundAsWell() throws {
    let store = try JournalTests.write(path, through: 30)
    let files = try #require(LMDBFiles(existing: path))
    let point = try #require(SafePointFile.point(of: files))
    try #require(point.run != 0 && point.version < 30)
    // The store is open: a copy of both files is damaged.
    for suffix in ["", ".safe"] {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: scratch.file("killed") + suffix)
    }
    store.close()
    try overwrite(scratch.file("killed"), at: 0, Data(count: 2 * LMDBMetaPage.bytes))
    #expect(try rescue(scratch.file("killed"), to: scratch.file("copy")) == 30)
    let found = try LMDBStore(path: scratch.file("copy"), isReadOnly: true)
    let model = JournalTests.model(30)
    for key in 0..<40 { #expect(try found.text("k\(key)") == model["k\(key)"]) }
  }
}

/// The sizes of a meta page in these tests' files.
private enum LMDBMetaPage {
  static let bytes = 4_096
  /// The part that LMDB reads.
  static let size = 152
}
