import Foundation
import StorageCoordination
import StorageInterface
import StoreValues
import Testing
import VivariumTestSupport

/// What lies under the name of a side file and is none stays as it was, and nobody waits for it.
struct SideFileTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  /// Everything that opens a side file.
  private static let openers: [(suffix: String, open: @Sendable (String) throws -> Void)] = [
    (".bell", { _ = try FileDoorbell(path: $0, isReadOnly: false) }),
    (".coord", { _ = try FileWriterLock(path: $0) }),
    (".coord", { _ = try HolderTable(path: $0) }),
  ]
  /// That open it without writing to it.
  private static let lookers: [@Sendable (String) throws -> Void] = [
    { _ = try StorePresence(path: $0, as: .writer) }, { _ = try StorePresence(path: $0, as: .reader) },
    { try StorePresence.whileAbsent(path: $0) {} },
  ]

  private func isForeign(_ path: String, _ open: (String) throws -> Void, _ comment: String) {
    let error = #expect(throws: StorageError.self, "\(comment)") { try open(path) }
    #expect(error?.code == .foreignFile, "\(comment)")
  }

  @Test(arguments: openers.indices) func anotherFileStaysAsItWas(_ i: Int) throws {
    let (suffix, open) = Self.openers[i]
    for (n, content) in ["x", "some letter", String(repeating: "\0", count: 5_000), String(repeating: "a", count: 8_192)].enumerated() {
      let path = scratch.file("\(n)\(suffix)")
      try Data(content.utf8).write(to: URL(fileURLWithPath: path))
      isForeign(path, open, "\(content.count) bytes")
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(content.utf8))
    }
  }

  @Test(arguments: openers.indices) func aLinkIsNotFollowed(_ i: Int) throws {
    let (suffix, open) = Self.openers[i]
    let victim = scratch.file("victim")
    try Data("precious".utf8).write(to: URL(fileURLWithPath: victim))
    let (link, dangling) = (scratch.file("a\(suffix)"), scratch.file("b\(suffix)"))
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: victim)
    try FileManager.default.createSymbolicLink(atPath: dangling, withDestinationPath: scratch.file("made"))
    for path in [link, dangling] {
      isForeign(path, open, path)
      for look in Self.lookers { isForeign(path, look, path) }
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: victim)) == Data("precious".utf8))
    #expect(!FileManager.default.fileExists(atPath: scratch.file("made")))
    #expect(HolderTable.holders(path: link).isEmpty)
  }

  @Test(arguments: openers.indices) func aPipeIsNotWaitedFor(_ i: Int) throws {
    let (suffix, open) = Self.openers[i]
    let path = scratch.file("a\(suffix)")
    try #require(mkfifo(path, 0o600) == 0)
    isForeign(path, open, "a pipe")
    for look in Self.lookers { isForeign(path, look, "a pipe") }
    #expect(HolderTable.holders(path: path).isEmpty)
  }

  @Test(arguments: openers.indices) func anEmptyFileUnderAnotherNameTooIsNobodysNewOne(_ i: Int) throws {
    let (suffix, open) = Self.openers[i]
    let path = scratch.file("a\(suffix)")
    try #require(link(scratch.touch("empty"), path) == 0)
    isForeign(path, open, "a hard link")
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)).isEmpty)
  }

  @Test func ownFilesAreOpenedAgainAlsoThoseOfOlderBuilds() throws {
    for (suffix, open) in Self.openers {
      try open(scratch.file("a\(suffix)"))
      try open(scratch.file("a\(suffix)"))
      try open(scratch.touch("new\(suffix)"))
    }
    let old = scratch.file("old.coord")
    try (Data("VVCOORD1".utf8) + Data(count: 4_088)).write(to: URL(fileURLWithPath: old))
    _ = try FileWriterLock(path: old)
    #expect(try Data(contentsOf: URL(fileURLWithPath: old)).count == 8_192)
    // Made, and its maker was killed before it had written.
    let unmarked = scratch.file("unmarked.coord")
    try Data(count: 8_192).write(to: URL(fileURLWithPath: unmarked))
    _ = try FileWriterLock(path: unmarked)
  }

  @Test func anyBytesInTheCoordinationFileAreHints() throws {
    var random = SeededGenerator.forTest()
    let path = scratch.file("a.coord")
    let table = try HolderTable(path: path)
    let lock = try FileWriterLock(path: path)
    let holder = table.announce(Version(1), label: "one")
    for _ in 0..<environmentNumber("VIVARIUM_DAMAGE_ROUNDS", default: 200) {
      var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
      let length = bytes.count
      for _ in 0...random.below(4) { random.damage(&bytes) }
      bytes = Array("VVCOORD1".utf8) + bytes.dropFirst(8)
      bytes = Array((bytes + [UInt8](repeating: 255, count: length)).prefix(length))
      let file = open(path, O_WRONLY)
      try #require(pwrite(file, bytes, bytes.count, 0) == bytes.count)
      close(file)
      for holder in HolderTable.holders(path: path) { #expect(holder.sinceMilliseconds >= 0) }
      let hold = try lock.acquire(.after(.seconds(60)))
      _ = lock.waiterCount
      hold.release()
    }
    withExtendedLifetime(holder) {}
  }
}
