import Foundation
import StorageCoordination
import Testing

/// Files that are written under another name until they are complete.
struct AsideFileTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  /// The id of a process that has ended.
  private func deadProcess() throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "exit 0"]
    try process.run()
    process.waitUntilExit()
    return process.processIdentifier
  }

  @Test func whatAKilledProcessLeftGoesWithAllThatLiesBesideIt() throws {
    let dead = try deadProcess()
    let base = "a.new-\(dead)-7"
    for name in [base, base + "-wal", base + ".store", base + ".store-lock", base + ".store.coord", base + ".store.new-\(dead)-8"] {
      scratch.touch(name)
    }
    // Of others: a file of the user's, one of a store with a longer name, and one whose process lives.
    let others = ["a.new-years-eve", "a.new-\(dead)-7x", "ab.new-\(dead)-7", "a.new-\(getpid())-9", "a.new-\(getpid())-9.store"]
    for name in others { scratch.touch(name) }
    let made = try AsideFile(for: scratch.file("a"), mode: 0o600)
    defer {
      made.letGo()
      made.remove()
    }
    let own = try #require(made.path.split(separator: "/").last.map(String.init))
    #expect(Set(try FileManager.default.contentsOfDirectory(atPath: scratch.path)) == Set(others + [own]))
  }

  @Test func whatAProcessInAnotherContainerStillHasStays() throws {
    let dead = try deadProcess()
    let path = scratch.touch("a.new-\(dead)-7")
    scratch.touch("a.new-\(dead)-7.store")
    // Made by this process, and so locked by it; only its name says that a dead one did.
    let other = try AsideFile(for: scratch.file("b"), mode: 0o600)
    try #require(rename(other.path, path) == 0)
    let made = try AsideFile(for: scratch.file("a"), mode: 0o600)
    #expect(FileManager.default.fileExists(atPath: path) && FileManager.default.fileExists(atPath: path + ".store"))
    made.letGo()
    made.remove()
    other.letGo()
    let next = try AsideFile(for: scratch.file("a"), mode: 0o600)
    next.letGo()
    next.remove()
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).isEmpty)
  }
}
