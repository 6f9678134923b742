import ColumnStore
import Dispatch
import Foundation
import Storage
import StorageLMDB
import Synchronization
import Testing
import Values

/// The properties of LMDB that would hurt, each provoked.
struct LMDBLimitsTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  @Test func aWriteBegunOnOneThreadCommitsOnAnotherAndBlocksNobody() throws {
    let store = try LMDBStore(path: scratch.file("a"))
    let held = Mutex<(any KeyValueWriter)?>(nil)
    let (begun, committed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let first = Thread {
      let writer = try? store.acquireWriter(.never)
      held.withLock { $0 = writer }
      begun.signal()
      // Stays alive: a mutex of LMDB's that it owned would not be recovered.
      committed.wait()
    }
    first.start()
    begun.wait()
    let writer = try #require(held.withLock { $0 })
    try writer.apply(KeyValueBatch([("a", "1")], 1), .relaxed)
    writer.end()
    let other = try store.acquireWriter(.after(.seconds(5)))
    try other.apply(KeyValueBatch([("a", "2")], 2), .relaxed)
    other.end()
    committed.signal()
    #expect(try store.text("a") == "2")
  }

  @Test func whatASnapshotLentStaysUnchangedUnderManyCommits() throws {
    let store = try LMDBStore(path: scratch.file("a"))
    let size = 1000
    try store.put((0..<64).map { ("k\($0)", String(repeating: "a", count: size)) }, 1)
    let snapshot = try store.beginSnapshot()
    let lent = try (0..<64).compactMap { number in
      try [UInt8]("k\(number)".utf8).withUnsafeBytes { try snapshot.value(for: $0) }
    }
    for version in 2...200 {
      try store.put([("k\(version % 64)", String(repeating: "b", count: size))], UInt64(version))
    }
    #expect(lent.count == 64)
    #expect(lent.allSatisfy { bytes in bytes.allSatisfy { $0 == UInt8(ascii: "a") } })
  }

  @Test func closingTheSameFileUnderAnotherNameKeepsReadersProtected() async throws {
    let path = scratch.file("a")
    let store = try LMDBStore(path: path)
    try store.put([("a", String(repeating: "1", count: 5000))], 1)
    let snapshot = try store.beginSnapshot()
    try FileManager.default.createSymbolicLink(atPath: scratch.file("soft"), withDestinationPath: path)
    try FileManager.default.linkItem(atPath: path, toPath: scratch.file("hard"))
    for name in ["soft", "hard"] {
      let other = try LMDBStore(path: scratch.file(name))
      #expect(try other.text("a") == String(repeating: "1", count: 5000))
      other.close()
    }
    await #expect(processExitsWith: .success) { [path = path as String] in
      let store = try LMDBStore(path: path)
      for version in 2...50 { try store.put([("a", String(repeating: "2", count: 5000))], UInt64(version)) }
    }
    #expect(try snapshot.text("a") == String(repeating: "1", count: 5000))
    #expect(try store.text("a") == String(repeating: "2", count: 5000))
  }

  @Test func aFullMapCostsTheTransactionAndNothingElse() throws {
    let store = try LMDBStore(path: scratch.file("a"), mapSize: 1 << 20)
    try store.put([("a", "1")], 1)
    let large = (0..<200).map { ("k\($0)", String(repeating: "x", count: 10_000)) }
    let error = #expect(throws: StorageError.self) { try store.put(large, 2) }
    #expect(error?.code == .outOfDiskSpace)
    #expect(error?.scope == .transaction)
    #expect(try store.beginSnapshot().keys(from: "") == ["a"])
    try store.put([("a", "2")], 2)
    #expect(try store.text("a") == "2")
  }

  @Test func aFullDiskCostsTheTransactionAndNothingElse() async throws {
    let path = scratch.file("a")
    await #expect(processExitsWith: .success) { [path = path as String] in
      signal(SIGXFSZ, SIG_IGN)
      let store = try LMDBStore(path: path)
      try store.put([("a", "1")], 1)
      var limit = rlimit(rlim_cur: 1 << 20, rlim_max: 1 << 20)
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      let large = (0..<200).map { ("k\($0)", String(repeating: "x", count: 10_000)) }
      let error = #expect(throws: StorageError.self) { try store.put(large, 2, .full) }
      #expect(error?.code == .outOfDiskSpace)
      #expect(try store.beginSnapshot().keys(from: "") == ["a"])
      try store.put([("a", "2")], 2, .full)
      #expect(try store.text("a") == "2")
    }
  }

  @Test func tooManyReadersIsATypedErrorAndPasses() throws {
    let store = try LMDBStore(path: scratch.file("a"))
    var snapshots: [any KeyValueSnapshot] = []
    var failure: StorageError?
    while snapshots.count < 5000, failure == nil {
      do throws(StorageError) { snapshots.append(try store.beginSnapshot()) } catch { failure = error }
    }
    #expect(snapshots.count == 4096)
    #expect(failure?.code == .tooManyReaders)
    #expect(failure?.scope == .statement)
    snapshots.removeLast().end()
    try store.beginSnapshot().end()
  }

  @Test func theVersionOfAKilledReaderIsLetGoWhileRunning() async throws {
    let path = scratch.file("a")
    let store = try LMDBStore(path: path)
    try store.put([("a", "1")], 1)
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let snapshot = try LMDBStore(path: path).beginSnapshot()
      kill(getpid(), SIGKILL)
      snapshot.end()
    }
    #expect(try store.statistics().pins.count == 1)
    for version in 2...100 { try store.put([("a", String(repeating: "x", count: 20_000))], UInt64(version)) }
    #expect(try store.statistics().pins.isEmpty)
  }

  @Test func openingClearsDeadReaders() async throws {
    let path = scratch.file("a")
    // Keeps the table of readers alive over the death.
    let keeper = try LMDBStore(path: path)
    try keeper.put([("a", "1")], 1)
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let snapshot = try LMDBStore(path: path).beginSnapshot()
      kill(getpid(), SIGKILL)
      snapshot.end()
    }
    #expect(try keeper.statistics().pins.count == 1)
    _ = try LMDBStore(path: path)
    #expect(try keeper.statistics().pins.isEmpty)
  }

  @Test func aWriterKilledWithTheHoldLeavesAWholeStore() async throws {
    let path = scratch.file("a")
    let store = try LMDBStore(path: path)
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let store = try LMDBStore(path: path)
      let writer = try store.acquireWriter(.never)
      try writer.apply(KeyValueBatch([("a", "1")], 1), .relaxed)
      kill(getpid(), SIGKILL)
      writer.end()
    }
    let writer = try store.acquireWriter(.after(.seconds(5)))
    try writer.apply(KeyValueBatch([("b", "2")], 2), .relaxed)
    writer.end()
    #expect(try store.beginSnapshot().keys(from: "") == ["a", "b"])
  }

  @Test func aForkedChildGetsTypedErrorsAndHarmsNobody() async throws {
    let path = scratch.file("a")
    await #expect(processExitsWith: .success) { [path = path as String] in
      let store = try LMDBStore(path: path)
      try store.put([("a", "1")], 1)
      let snapshot = try store.beginSnapshot()
      let writer = try store.acquireWriter(.never)
      typealias Fork = @convention(c) () -> pid_t
      let symbol = try #require(dlsym(nil, "fork"))
      let child = unsafeBitCast(symbol, to: Fork.self)()
      if child == 0 {
        var isRight = true
        for call in [
          { _ = try store.beginSnapshot() }, { _ = try store.acquireWriter(.never) }, { _ = try store.latestVersion() },
          { try writer.apply(KeyValueBatch([("a", "2")], 2), .relaxed) },
        ] as [() throws -> Void] {
          do {
            try call()
            isRight = false
          } catch { isRight = isRight && (error as? StorageError)?.code == .forked }
        }
        snapshot.end()
        writer.end()
        store.close()
        _exit(isRight ? 0 : 1)
      }
      var status: Int32 = -1
      waitpid(child, &status, 0)
      #expect(status == 0)
      // The child ended what it inherited; the parent still has it.
      #expect(try store.statistics().pins.count == 1)
      #expect(throws: StorageError.self) { _ = try LMDBStore(path: path).acquireWriter(.after(.zero)) }
      #expect(try snapshot.text("a") == "1")
      try writer.apply(KeyValueBatch([("a", "2")], 2), .relaxed)
      writer.end()
    }
  }
}
