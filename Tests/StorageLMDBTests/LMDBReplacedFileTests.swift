import CVivariumSystem
import ColumnStore
import Foundation
import StorageInterface
import StorageLMDB
import StoreValues
import Testing
import VivariumTestSupport

/// Files that are replaced, renamed, removed or given other names while a store is open: no commit is acknowledged that who
/// opens the store afterwards does not see.
struct LMDBReplacedFileTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private func code(_ body: () throws -> Void) -> StorageError.Code? {
    do { try body() } catch { return (error as? StorageError)?.code ?? .misuse }
    return nil
  }

  private func makeOther() throws {
    let other = try LMDBStore(path: scratch.file("other"))
    try other.put([("a", "other")], 7, .full)
    other.close()
  }

  @Test(arguments: ["", "-lock", ".coord"], [true, false])
  func aCommitAfterAFileWasRemovedOrReplacedIsRefused(suffix: String, isRemoved: Bool) throws {
    let store = try LMDBStore(path: scratch.file("a"))
    try store.put([("a", "1")], 1)
    try makeOther()
    var snapshot: (any KeyValueSnapshot)? = try store.beginSnapshot()
    let path = scratch.file("a" + suffix)
    if isRemoved { unlink(path) } else { #expect(rename(scratch.file("other" + suffix), path) == 0) }
    for durability in [Durability.relaxed, .full] {
      #expect(code { try store.put([("a", "2")], 2, durability) } == .replaced)
    }
    // Who reads reads on.
    #expect(try snapshot?.text("a") == "1")
    snapshot = nil
    store.close()
    // And whoever opens it then finds a store.
    let again = try LMDBStore(path: scratch.file("a"))
    #expect(try again.text("a") == (suffix.isEmpty ? (isRemoved ? nil : "other") : "1"))
    try again.put([("b", "2")], 9, .full)
    #expect(try again.text("b") == "2")
  }

  @Test(arguments: [true, false], [true, false]) func whoOnlyReadsHearsThatTheFileIsGone(isRemoved: Bool, isReadOnly: Bool) throws {
    let path = scratch.file("a")
    do { try LMDBStore(path: path).put([("a", "1")], 1, .full) }
    let store = try LMDBStore(path: path, isReadOnly: isReadOnly)
    try makeOther()
    let snapshot = try store.beginSnapshot()
    // Nobody commits to the file that is open, and nobody rings its bell.
    let heard = Signal()
    let listener = try store.addCommitListener { heard.fire() }
    defer { listener.stop() }
    if isRemoved { unlink(path) } else { #expect(rename(scratch.file("other"), path) == 0) }
    #expect(heard.wait { code { _ = try store.latestVersion() } == .replaced })
    // From then on at once, and as long as it is gone.
    #expect(code { _ = try store.latestVersion() } == .replaced)
    #expect(code { _ = try store.beginSnapshot() } == .replaced)
    #expect(try snapshot.text("a") == "1")
    snapshot.end()
  }

  @Test func aFileThatComesBackIsReadOn() throws {
    let (path, moved) = (scratch.file("a"), scratch.file("b"))
    let store = try LMDBStore(path: path)
    try store.put([("a", "1")], 1)
    #expect(rename(path, moved) == 0)
    // It is looked for once a second.
    while code({ _ = try store.latestVersion() }) == nil { sched_yield() }
    #expect(rename(moved, path) == 0)
    #expect(try store.latestVersion() == Version(1))
    #expect(try store.text("a") == "1")
    try store.put([("a", "2")], 2)
  }

  @Test(arguments: ["", "-lock", ".coord"]) func aReplacementBetweenTheRightToWriteAndTheCommitIsNoticed(suffix: String) throws {
    let store = try LMDBStore(path: scratch.file("a"))
    try store.put([("a", "1")], 1)
    let writer = try store.acquireWriter(.never)
    unlink(scratch.file("a" + suffix))
    #expect(code { try writer.apply(KeyValueBatch([("a", "2")], 2), .full) } == .replaced)
    writer.end()
  }

  @Test func whoOpensTheReplacementWhileTheOldFileIsOpenIsRefused() async throws {
    let path = scratch.file("a")
    let store = try LMDBStore(path: path)
    try store.put([("a", "1")], 1)
    try makeOther()
    #expect(rename(scratch.file("other"), path) == 0)
    #expect(code { _ = try LMDBStore(path: path) } == .replaced)
    await #expect(processExitsWith: .success) { [path = path as String] in
      let error = #expect(throws: StorageError.self) { _ = try LMDBStore(path: path) }
      #expect(error?.code == .replaced)
    }
    store.close()
    #expect(try LMDBStore(path: path).text("a") == "other")
  }

  @Test func aFileThatWasRenamedWhileOpenIsRefusedUnderItsNewName() async throws {
    let path = scratch.file("a")
    let moved = scratch.file("b")
    let store = try LMDBStore(path: path)
    try store.put([("a", "1")], 1)
    #expect(rename(path, moved) == 0)
    await #expect(processExitsWith: .success) { [moved = moved as String] in
      let error = #expect(throws: StorageError.self) { _ = try LMDBStore(path: moved) }
      #expect(error?.code == .replaced)
    }
    #expect(code { try store.put([("a", "2")], 2) } == .replaced)
    store.close()
    #expect(try LMDBStore(path: moved).text("a") == "1")
  }

  @Test func aRemovedLockFileKeepsOtherProcessesOutWhileTheOldOneIsInUse() async throws {
    let path = scratch.file("a")
    let store = try LMDBStore(path: path)
    try store.put([("a", "1")], 1)
    let snapshot = try store.beginSnapshot()
    unlink(path + "-lock")
    await #expect(processExitsWith: .success) { [path = path as String] in
      for isReadOnly in [false, true] {
        let error = #expect(throws: StorageError.self) { _ = try LMDBStore(path: path, isReadOnly: isReadOnly) }
        #expect(error?.code == .replaced)
      }
    }
    #expect(try snapshot.text("a") == "1")
    snapshot.end()
    store.close()
    #expect(try LMDBStore(path: path).text("a") == "1")
  }

  @Test func aFileWithSeveralNamesIsRefusedByEachOfThem() throws {
    let path = scratch.file("a")
    let store = try LMDBStore(path: path)
    try store.put([("a", "1")], 1)
    #expect(link(path, scratch.file("hard")) == 0)
    // Who has it open goes on: nobody can open it beside.
    try store.put([("a", "2")], 2)
    for name in ["a", "hard"] {
      #expect(code { _ = try LMDBStore(path: scratch.file(name)) } == .hardLinked)
      #expect(code { _ = try LMDBBackend(path: scratch.file(name)).open(OpenOptions()) } == .hardLinked)
    }
    store.close()
    #expect(code { _ = try LMDBStore(path: scratch.file("hard"), isReadOnly: true) } == .hardLinked)
    unlink(scratch.file("hard"))
    #expect(try LMDBStore(path: path).text("a") == "2")
  }

  @Test func aNameLeftByAKilledCreatorIsTakenAway() throws {
    let path = scratch.file("a")
    try LMDBStore(path: path).put([("a", "1")], 1, .full)
    #expect(link(path, path + ".new-1-2") == 0)
    #expect(try LMDBStore(path: path).text("a") == "1")
    #expect(!FileManager.default.fileExists(atPath: path + ".new-1-2"))
  }

  @Test func twoProcessesByTwoHardLinksLoseNothing() async throws {
    let path = scratch.file("a")
    let hard = scratch.file("hard")
    let store = try LMDBStore(path: path)
    try store.put([("a", "1")], 1)
    #expect(link(path, hard) == 0)
    await #expect(processExitsWith: .success) { [hard = hard as String] in
      for round in 0..<20 {
        if let store = try? LMDBStore(path: hard) { try store.put([("child\(round)", "x")], 1_000, .full) }
      }
    }
    for version in 2...20 { try store.put([("own\(version)", "1")], UInt64(version), .full) }
    #expect(try store.beginSnapshot().keys(from: "").count == 20)
  }

  @Test func aLostFileOfSafePointsIsMadeAnew() throws {
    let path = scratch.file("a")
    let store = try LMDBStore(path: path)
    try store.put([("a", "1")], 1, .relaxed)
    unlink(path + ".safe")
    try store.put([("a", "2")], 2, .relaxed)
    #expect(FileManager.default.fileExists(atPath: path + ".safe"))
    #expect(try store.text("a") == "2")
  }

  @Test func linksThatGoRoundInCirclesAreATypedError() throws {
    #expect(symlink(scratch.file("y"), scratch.file("x")) == 0 && symlink(scratch.file("x"), scratch.file("y")) == 0)
    #expect(code { _ = try LMDBStore(path: scratch.file("x")) } == .io)
    #expect(symlink(scratch.file("no/such/file"), scratch.file("z")) == 0)
    #expect(code { _ = try LMDBStore(path: scratch.file("z")) } == .fileNotFound)
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted() == ["x", "y", "z"])
  }
}
