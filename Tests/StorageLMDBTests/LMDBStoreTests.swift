import ColumnStore
import Foundation
import StorageInterface
import StorageLMDB
import StoreValues
import Testing
import VivariumTestSupport

struct LMDBStoreTests {
  private let scratch: Scratch
  private let store: LMDBStore

  init() throws {
    scratch = try Scratch()
    store = try LMDBStore(path: scratch.file("a"))
  }

  @Test func aNewStoreIsEmptyAtVersionZero() throws {
    #expect(try store.latestVersion() == Version(0))
    #expect(try store.beginSnapshot().keys(from: "").isEmpty)
    #expect(try store.beginSnapshot().keys(from: "", reverse: true).isEmpty)
  }

  @Test func aCommitIsReadBackAndAlsoAfterReopening() throws {
    try store.put([("b", "2"), ("a", "1"), ("c", "")], 1)
    #expect(try store.latestVersion() == Version(1))
    #expect(try store.text("a") == "1")
    #expect(try store.text("c") == "")
    #expect(try store.text("d") == nil)
    store.close()
    let again = try LMDBStore(path: scratch.file("a"))
    #expect(try again.latestVersion() == Version(1))
    #expect(try again.text("b") == "2")
  }

  @Test func deletingAndReplacingTakeEffect() throws {
    try store.put([("a", "1"), ("b", "2"), ("z", "9")], 1)
    try store.put([("a", nil), ("b", "3"), ("none", nil), ("z", nil), ("zz", nil)], 2)
    #expect(try store.beginSnapshot().keys(from: "") == ["b"])
    #expect(try store.text("b") == "3")
  }

  @Test func entriesAreVisitedInOrderFromAnyStart() throws {
    let keys = (0..<500).map { String(format: "%03d", $0) }
    try store.put(keys.map { ($0, "x") }, 1)
    let snapshot = try store.beginSnapshot()
    #expect(try snapshot.keys(from: "") == keys)
    #expect(try snapshot.keys(from: "250") == Array(keys[250...]))
    #expect(try snapshot.keys(from: "2505") == Array(keys[251...]))
    #expect(try snapshot.keys(from: "250", reverse: true) == keys[...250].reversed())
    #expect(try snapshot.keys(from: "2505", reverse: true) == keys[...250].reversed())
    #expect(try snapshot.keys(from: "999", reverse: true, max: 2) == ["499", "498"])
    #expect(try snapshot.keys(from: "999").isEmpty)
    #expect(try snapshot.keys(from: String(repeating: "9", count: 600), reverse: true, max: 1) == ["499"])
    #expect(try snapshot.keys(from: "", reverse: true, max: 1) == [])
  }

  @Test func visitsNest() throws {
    try store.put([("a", "1"), ("b", "2")], 1)
    let snapshot = try store.beginSnapshot()
    var inner: [[String]] = []
    try [UInt8]("a".utf8).withUnsafeBytes { start in
      try snapshot.visit(from: start, sharing: 0, reverse: false) { _, _ in
        inner.append((try? snapshot.keys(from: "a")) ?? [])
        return .proceed
      }
    }
    #expect(inner == [["a", "b"], ["a", "b"]])
  }

  @Test func aRandomHistoryReadsAsADictionaryWould() throws {
    var generator = SeededGenerator.forTest()
    let seed = generator.seed
    func next(_ bound: Int) -> Int { generator.below(bound) }
    var model: [String: String] = [:]
    for version in 1...60 {
      var entries: [String: String?] = [:]
      for _ in 0..<next(80) {
        let key = "k\(next(400))"
        entries.updateValue(next(3) == 0 ? nil : String(repeating: "v\(next(10))", count: next(2000)), forKey: key)
      }
      try store.put(entries.map { ($0.key, $0.value) }, UInt64(version))
      for (key, value) in entries { model[key] = value }
      let snapshot = try store.beginSnapshot()
      #expect(try snapshot.keys(from: "") == model.keys.sorted(), "seed \(seed), version \(version)")
      for (key, value) in model { #expect(try snapshot.text(key) == value, "seed \(seed)") }
    }
  }

  @Test func aBatchThatDoesNotAdvanceTheVersionIsRefused() throws {
    try store.put([("a", "1")], 5)
    let error = #expect(throws: StorageError.self) { try store.put([("a", "2")], 5) }
    #expect(error?.code == .misuse)
    #expect(try store.text("a") == "1")
    try store.put([("a", "3")], 6)
  }

  @Test(arguments: [Durability.full, .grouped(within: .milliseconds(1)), .relaxed])
  func everyDurabilityCommits(_ durability: Durability) throws {
    for version in 1...3 { try store.put([("a", "\(version)")], UInt64(version), durability) }
    #expect(try store.text("a") == "3")
  }

  @Test func oneHoldMayApplySeveralBatches() throws {
    let writer = try store.acquireWriter(.never)
    try writer.apply(KeyValueBatch([("a", "1")], 1), .relaxed)
    try writer.apply(KeyValueBatch([("b", "2")], 2), .relaxed)
    #expect(throws: StorageError.self) { _ = try store.acquireWriter(.after(.zero)) }
    writer.end()
    writer.end()
    let error = #expect(throws: StorageError.self) { try writer.apply(KeyValueBatch([("c", "3")], 3), .relaxed) }
    #expect(error?.code == .closed)
    #expect(try store.beginSnapshot().keys(from: "") == ["a", "b"])
  }

  @Test func droppingTheWriterLetsTheNextOneIn() throws {
    _ = try store.acquireWriter(.never)
    let writer = try store.acquireWriter(.after(.zero))
    // The next is a writer, and keeps others out.
    #expect(throws: StorageError.self) { _ = try store.acquireWriter(.after(.zero)) }
    try writer.apply(KeyValueBatch([("a", "1")], 1), .relaxed)
    writer.end()
    #expect(try store.text("a") == "1")
  }

  @Test func aListenerHearsACommit() throws {
    let heard = DispatchSemaphore(value: 0)
    let listener = try store.addCommitListener { heard.signal() }
    try store.put([("a", "1")], 1)
    #expect(heard.wait(timeout: .now() + .seconds(900)) == .success)
    listener.stop()
    // A bell that the first would hear too is rung for both before this one hears it.
    let witness = DispatchSemaphore(value: 0)
    let second = try store.addCommitListener { witness.signal() }
    try store.put([("a", "2")], 2)
    #expect(witness.wait(timeout: .now() + .seconds(900)) == .success)
    second.stop()
    #expect(heard.wait(timeout: .now()) == .timedOut)
  }

  @Test func aClosedStoreBeginsNothing() throws {
    store.close()
    store.close()
    for call in [
      { _ = try store.beginSnapshot() }, { _ = try store.latestVersion() },
      { _ = try store.acquireWriter(.never) }, { _ = try store.statistics() },
      { _ = try store.addCommitListener {} },
    ] as [() throws -> Void] {
      #expect((#expect(throws: StorageError.self) { try call() })?.code == .closed)
    }
  }

  @Test func whatIsOpenGoesOnAfterCloseAndBesideANewStore() throws {
    try store.put([("a", "one")], 1)
    let snapshot = try store.beginSnapshot()
    let writer = try store.acquireWriter(.never)
    let lent = try [UInt8]("a".utf8).withUnsafeBytes { try snapshot.value(for: $0) }
    store.close()
    try writer.apply(KeyValueBatch([("a", "two")], 2), .relaxed)
    #expect(try snapshot.text("a") == "one")
    let again = try LMDBStore(path: scratch.file("a"))
    #expect(throws: StorageError.self) { try again.acquireWriter(.after(.zero)) }
    writer.end()
    try again.put([("a", "three")], 3)
    #expect(lent.map { String(decoding: $0, as: UTF8.self) } == "one")
    snapshot.end()
    #expect(try again.text("a") == "three")
  }

  @Test func anEndedSnapshotThrows() throws {
    let snapshot = try store.beginSnapshot()
    snapshot.end()
    snapshot.end()
    let error = #expect(throws: StorageError.self) { _ = try snapshot.text("a") }
    #expect(error?.code == .closed)
  }

  @Test func statisticsNamePinsAndSpace() throws {
    try store.put([("a", String(repeating: "x", count: 100_000))], 1)
    let pin = try store.beginSnapshot()
    try store.put([("a", nil)], 2)
    try store.put([("b", "1")], 3)
    let statistics = try store.statistics()
    #expect(statistics.pins == [VersionPin(version: Version(1), processID: getpid())])
    #expect(statistics.fileBytes >= 100_000)
    #expect(statistics.freeBytes >= 98_304)
    pin.end()
    #expect(try store.statistics().pins.isEmpty)
  }
}
