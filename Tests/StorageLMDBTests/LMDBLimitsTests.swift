import CVivariumLMDB
import CVivariumSystem
import ColumnStore
import Dispatch
import Foundation
import StorageInterface
import StorageLMDB
import StoreValues
import Synchronization
import Testing
import VivariumTestSupport

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
    let other = try store.acquireWriter(.after(.seconds(600)))
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
    for name in ["soft", "./a"] {
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

  #if os(Linux)
  @Test func theLockThatProtectsReadersSurvivesWhateverTheProcessDoesWithTheFiles() throws {
    let path = scratch.file("a")
    let backend = LMDBBackend(path: path)
    let engine = try backend.open(OpenOptions())
    let read = try engine.beginRead()
    // LMDB guards its table of readers by a POSIX lock of the process, at the byte that bears the process's number; any
    // close of a descriptor of that file would drop it. So this probe is closed last. Its lock would be of the open file,
    // which collides with the process's own.
    var problem: Int32 = 0
    let probe = cs_open(path + "-lock", true, false, 0, &problem)
    try #require(probe >= 0)
    func expectLocked(after step: String) {
      #expect(cs_locked_at(probe, Int64(getpid()), 1) == Int64(getpid()), "after \(step)")
    }
    expectLocked(after: "a read begins")
    _ = try engine.statistics()
    expectLocked(after: "statistics")
    #expect(backend.isPresent())
    expectLocked(after: "a look at its presence")
    #expect(throws: StorageError.self) { try backend.remove() }
    expectLocked(after: "a removal that is refused")
    _ = try LMDBBackend(path: scratch.path + "/./a").open(OpenOptions())
    expectLocked(after: "an open by another path")
    let reader = try backend.open(OpenOptions(isReadOnly: true))
    try reader.beginRead().end()
    reader.close()
    expectLocked(after: "a reader that comes and goes")
    _ = try engine.powers.space?.reclaimSpace(.never)
    expectLocked(after: "space is given back")
    #expect(throws: StorageError.self) { try LMDBBackend(path: path + "-lock").open(OpenOptions(createsIfMissing: false)) }
    expectLocked(after: "the lock file is opened as a store")
    _ = LMDBBackend(path: path + "-lock").isPresent()
    expectLocked(after: "a look at the lock file")
    read.end()
    engine.close()
    close(probe)
  }
  #endif

  @Test func smallValuesAreReadRightWhateverTheirNeighboursDo() throws {
    // Values that share a page move when one of them is written: what a reader remembers of places must not outlive that.
    let engine = try LMDBBackend(path: scratch.file("a")).open(OpenOptions())
    let schema = Schema((0..<40).map { number in
      ObjectSchema("Small\(number)", .scalar("name", .string, indexed: true), .scalar("rank", .int64))
    })
    let catalog = try engine.adopt(schema)
    let tables = try (0..<40).map { try #require(catalog["Small\($0)"]) }
    var names = [String](repeating: "", count: tables.count)
    try engine.write { write in
      for (number, table) in tables.enumerated() { try write.insert(table, ["rank": .int(Int64(number))]) }
    }
    for round in 0..<200 {
      let touched = round * 7 % tables.count
      names[touched] = String(repeating: "\(round) ", count: 1 + round % 150)
      try engine.write { try $0.set(tables[touched].column(named: "name"), ObjectKey(1), .string(names[touched])) }
      let read = try engine.beginRead()
      for (number, table) in tables.enumerated() {
        let isRight = try read.value(table.column(named: "name"), ObjectKey(1)) == .string(names[number])
          && read.word(table.column(named: "rank"), ObjectKey(1)) == Int64(number)
        if !isRight { Issue.record("round \(round), type \(number)") }
      }
      #expect(try read.key(in: tables[touched].index("name"), equal: [.string(names[touched])]) == ObjectKey(1))
      read.end()
    }
  }

  @Test func aFileThatAnotherProcessGrowsIsReadOnUnderAnOpenSnapshot() async throws {
    let path = scratch.file("a")
    let store = try LMDBStore(path: path)
    try store.put([("a", "small")], 1)
    let snapshot = try store.beginSnapshot()
    await #expect(processExitsWith: .success) { [path = path as String] in
      let store = try LMDBStore(path: path)
      let text = String(repeating: "x", count: 100_000)
      try store.put((0..<400).map { ("k\($0)", text) }, 2)
    }
    #expect(try snapshot.text("a") == "small" && snapshot.text("k7") == nil)
    for number in [0, 399] { #expect(try store.text("k\(number)")?.count == 100_000) }
  }

  @Test func theNextWriterLetsGoOfWhatADeadOneRead() async throws {
    let path = scratch.file("a")
    let store = try LMDBStore(path: path)
    // Synced: else the background may be the next to write.
    try store.put([("a", "1")], 1, .full)
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let store = try LMDBStore(path: path)
      let snapshot = try store.beginSnapshot()
      let writer = try store.acquireWriter(.never)
      kill(getpid(), SIGKILL)
      writer.end()
      snapshot.end()
    }
    #expect(try store.statistics().pins.count == 1)
    try store.acquireWriter(.after(.seconds(600))).end()
    #expect(try store.statistics().pins.isEmpty)
  }

  @Test func aQueueOfObjectsTakesTheRoomOfThoseThatLive() throws {
    // Keys are never given again, so a type used as a queue wanders through them.
    let engine = try LMDBBackend(path: scratch.file("a")).open(OpenOptions(historyLimit: 1))
    let schema = Schema([ObjectSchema("Job", .scalar("name", .string, indexed: true), .scalar("rank", .int64))])
    let job = try #require(try engine.adopt(schema)["Job"])
    func entries() throws -> Int { try LMDBStore(path: scratch.file("a")).beginSnapshot().keys(from: "").count }
    var most = 0
    for round in 0..<40 {
      try engine.write { write in
        for number in 0..<500 { try write.insert(job, ["name": .string("job \(number)"), "rank": .int(Int64(round))]) }
        // All but one of the round before.
        if round > 0 { for key in (round - 1) * 500 + 2...round * 500 { try write.delete(job.id, ObjectKey(Int64(key))) } }
      }
      if round == 9 { most = try entries() }
    }
    #expect(try engine.beginRead().count(job.id) == 500 + 39)
    // Four times the rounds and the survivors: chunks of few, and none of nobody.
    #expect(try entries() <= 4 * most)
    let read = try engine.beginRead()
    for round in 0..<39 {
      #expect(try read.word(job.column(named: "rank"), ObjectKey(Int64(round * 500 + 1))) == Int64(round))
    }
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

  @Test func theFirstOpenerSetsTheNumberOfReadersForAll() async throws {
    let path = scratch.file("a")
    let first = try LMDBStore(path: path)
    try first.put([("a", "1")], 1)
    first.close()
    // Another program opens the file before any store does, with room for few.
    try FileManager.default.removeItem(atPath: path + "-lock")
    var other: OpaquePointer?
    #expect(mdb_env_create(&other) == 0 && mdb_env_set_maxreaders(other, 4) == 0)
    defer { mdb_env_close(other) }
    try #require(mdb_env_open(other, path, UInt32(MDB_NOSUBDIR), 0o644) == 0)
    await #expect(processExitsWith: .success) { [path = path as String] in
      let store = try LMDBStore(path: path)
      var held: [any KeyValueSnapshot] = []
      let failure = #expect(throws: StorageError.self) { for _ in 0..<10 { held.append(try store.beginSnapshot()) } }
      #expect(failure?.code == .tooManyReaders && held.count <= 4)
      held.popLast()?.end()
      #expect(try store.text("a") == "1")
      // A write holds versions of its own.
      for snapshot in held { snapshot.end() }
      try store.put([("a", "2")], 2)
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
    let writer = try store.acquireWriter(.after(.seconds(600)))
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
      let child = forkedProcess()
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
      try #require(child > 0)
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
