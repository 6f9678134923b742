#if os(Linux)
import ColumnStore
import Foundation
import StorageInterface
import StorageLMDB
import StoreValues
import Testing
import VivariumTestSupport

/// Readers that may not write beside the store have no place in LMDB's table, and are protected all the same, whoever came first.
struct LMDBOutsideReaderTests {
  private let scratch: Scratch
  private let path: String
  /// A folder in which a child without rights can say something.
  private let said: String

  init() throws {
    scratch = try Scratch()
    (path, said) = (scratch.file("a"), scratch.file("said"))
    try FileManager.default.createDirectory(atPath: said, withIntermediateDirectories: true)
    try LMDBOutsideReaderTests.setMode(0o777, said)
    try LMDBStore(path: path).put(LMDBOutsideReaderTests.entries(1), 1, .full)
    try LMDBOutsideReaderTests.setMode(0o644, path, path + "-lock", path + ".coord", path + ".bell")
  }

  private static func setMode(_ mode: Int, _ paths: String...) throws {
    for path in paths { try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path) }
  }

  private static func say(_ name: String, in folder: String) throws { try Data().write(to: URL(fileURLWithPath: folder + "/" + name)) }

  /// Values of which every second one has pages of its own.
  static func entries(_ version: Int) -> [(String, String?)] {
    (0..<200).map { ("k\($0)", String(repeating: "\($0) in \(version) ", count: $0 % 2 == 0 ? 300 : 10)) }
  }

  static func isWhole(_ snapshot: any KeyValueSnapshot, _ version: Int) throws -> Bool {
    try snapshot.version == Version(UInt64(version)) && entries(version).allSatisfy { try snapshot.text($0.0) == $0.1 }
  }

  /// The reader: holds version 1 while others write, and then reads the newest.
  private static func readOn(_ path: String, _ said: String) throws {
    #expect(LMDBPermissionTests.dropRights())
    let store = try LMDBStore(path: path, isReadOnly: true)
    let held = try store.beginSnapshot()
    try say("reads", in: said)
    while !FileManager.default.fileExists(atPath: said + "/written") { sched_yield() }
    #expect(try isWhole(held, 1))
    held.end()
    let newest = try store.beginSnapshot()
    #expect(try isWhole(newest, 40))
    newest.end()
  }

  /// What is written meanwhile.
  private static func writeOn(_ path: String, _ said: String) throws -> StorageStatistics {
    // Also where this fails, so that the child ends.
    defer { try? say("written", in: said) }
    let writer = try LMDBStore(path: path)
    for version in 2...40 {
      try writer.put(entries(version), UInt64(version), .full)
      if version % 10 == 0 { _ = try writer.reclaimSpace(.never) }
    }
    let statistics = try writer.statistics()
    writer.close()
    return statistics
  }

  @Test func aReaderThatMayNotWriteTheLockFileReadsOnBesideAWriter() async throws {
    let writer = try LMDBStore(path: path)
    // To who is not root from the start the files belong: the mode keeps their owner out of the lock file all the same.
    try LMDBOutsideReaderTests.setMode(0o444, path + "-lock")
    let child = ExitingChild(output: said + "/output")
    let written = child.whenMade(said + "/reads") { [path, said] in
      try LMDBOutsideReaderTests.setMode(0o644, path + "-lock")
      return try LMDBOutsideReaderTests.writeOn(path, said)
    }
    await #expect(processExitsWith: .success) { [path = path as String, said = said as String] in
      ExitingChild.redirectOutput(to: said + "/output")
      try LMDBOutsideReaderTests.readOn(path, said)
    }
    child.end()
    let statistics = try await written.value
    #expect(statistics.pins == [VersionPin(version: Version(1), processID: 0)] && statistics.heldBytes > 0)
    #expect(try writer.statistics().pins.isEmpty)
  }

  @Test func aReaderOfALoneDataFileReadsOnThoughAWriterComesLater() async throws {
    for side in ["-lock", ".coord", ".bell"] { try FileManager.default.removeItem(atPath: path + side) }
    try LMDBOutsideReaderTests.setMode(0o444, path)
    try LMDBOutsideReaderTests.setMode(0o555, scratch.path)
    let child = ExitingChild(output: said + "/output")
    let written = child.whenMade(said + "/reads") { [path, said, folder = scratch.path] in
      try LMDBOutsideReaderTests.setMode(0o755, folder)
      try LMDBOutsideReaderTests.setMode(0o644, path)
      return try LMDBOutsideReaderTests.writeOn(path, said)
    }
    await #expect(processExitsWith: .success) { [path = path as String, said = said as String] in
      ExitingChild.redirectOutput(to: said + "/output")
      try LMDBOutsideReaderTests.readOn(path, said)
    }
    child.end()
    try LMDBOutsideReaderTests.setMode(0o755, scratch.path)
    #expect(try await written.value.pins == [VersionPin(version: Version(1), processID: 0)])
  }

  @Test func theVersionOfAKilledReaderIsLetGo() async throws {
    let writer = try LMDBStore(path: path)
    try LMDBOutsideReaderTests.setMode(0o444, path + "-lock")
    let child = ExitingChild(output: said + "/output")
    let seen = child.whenMade(said + "/reads") { [path, said] in
      defer { try? LMDBOutsideReaderTests.say("written", in: said) }
      try LMDBOutsideReaderTests.setMode(0o644, path + "-lock")
      try writer.put([("a", "2")], 2, .full)
      return try writer.statistics().pins
    }
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, said = said as String] in
      ExitingChild.redirectOutput(to: said + "/output")
      #expect(LMDBPermissionTests.dropRights())
      let snapshot = try LMDBStore(path: path, isReadOnly: true).beginSnapshot()
      try LMDBOutsideReaderTests.say("reads", in: said)
      while !FileManager.default.fileExists(atPath: said + "/written") { sched_yield() }
      kill(getpid(), SIGKILL)
      snapshot.end()
    }
    child.end()
    #expect(try await seen.value == [VersionPin(version: Version(1), processID: 0)])
    #expect(try writer.statistics().pins.isEmpty)
  }
}
#endif
