import ChangeTracker
import Foundation
import StorageIncrements
import StorageInterface
import StoreInspection
import StoreValues
import Testing
import VivariumTestSupport

/// A copy and the increments that were written after it are the store. `VIVARIUM_INCREMENT_RUNS` makes more histories, `VIVARIUM_SEED`
/// repeats one.
@Suite struct IncrementTests {
  @Test(arguments: HistoryEngine.allCases) func aCopyAndItsIncrementsAreTheStore(_ kind: HistoryEngine) throws {
    let first = SeededGenerator.forTest(kind.rawValue).seed
    for run in 0..<environmentNumber("VIVARIUM_INCREMENT_RUNS", default: 2) {
      let chain = try Chain(kind, SeededGenerator(seed: first &+ UInt64(run)), increments: 6)
      try chain.expectSame("seed \(first &+ UInt64(run))")
    }
  }

  @Test(arguments: HistoryEngine.files) func aRestoredStoreGoesOnAsTheSourceWould(_ kind: HistoryEngine) throws {
    var chain = try Chain(kind, SeededGenerator.forTest(kind.rawValue), increments: 3)
    // Of keys that were given out and taken back within one commit no record tells: a leaf that stays brings both stores behind them.
    try chain.history.commit(chain.source) { history, write in _ = try write.insert(RowBuffer(history.leaf)) }
    try chain.add()
    let restored = try chain.restored(4)
    defer { restored.close() }
    var keys: [ObjectKey] = []
    for engine in [chain.source, restored] {
      try engine.write(record: CommitRecord(origin: 7)) { keys.append(try $0.insert(chain.history.leaf)) }
    }
    #expect(keys[0] == keys[1])
    // Increments can be written of it too, which follow.
    let more = chain.folder.file("more").path
    let version = try IncrementWriter.write(restored, since: chain.versions[4], to: more, .unchanged) { _ in .proceed }
    #expect(try version == restored.latestVersion())
    let path = chain.folder.file("again").path
    try chain.restore(to: path, chain.increments + [more])
  }

  @Test(arguments: HistoryEngine.files) func keysThatWereUsedUpBetweenIncrementsStayUsed(_ kind: HistoryEngine) throws {
    var chain = try Chain(kind, SeededGenerator.forTest(kind.rawValue), increments: 0)
    let leaf = chain.history.leaf
    var last = ObjectKey(0)
    try chain.history.commit(chain.source) { _, write in last = try write.insert(RowBuffer(leaf)) }
    try chain.history.commit(chain.source) { _, write in try write.delete(leaf.id, last) }
    try chain.add()
    let restored = try chain.restored(1)
    defer { restored.close() }
    var next = ObjectKey(0)
    try restored.write { next = try $0.insert(leaf) }
    #expect(next.rawValue == last.rawValue + 1)
  }

  @Test(arguments: HistoryEngine.files) func manyObjectsAndLongCollectionsAreInAnIncrement(_ kind: HistoryEngine) throws {
    var chain = try Chain(kind, SeededGenerator.forTest(kind.rawValue), increments: 0)
    let (node, leaf) = (chain.history.node, chain.history.leaf)
    try chain.history.commit(chain.source) { history, write in
      for _ in 0..<9_000 { _ = try write.insert(RowBuffer(leaf)) }
      try history.insertNode(write)
      let owner = try #require(try write.transaction.firstKey(node))
      try write.edit(node.column(named: "words"), owner, .insert(at: 0, (0..<20_000).map { .string("word \($0)") }))
      for number in 0..<3_000 {
        _ = try write.insert(member: .int(Int64(number)), into: node.column(named: "marks"), owner)
        _ = try write.set(.int(Int64(number)), forKey: "key \(number)", in: node.column(named: "notes"), owner)
      }
    }
    try chain.add()
    try chain.expectSame("large")
  }

  @Test(arguments: HistoryEngine.allCases) func uniqueValuesMayMoveInCircles(_ kind: HistoryEngine) throws {
    var chain = try Chain(kind, SeededGenerator.forTest(kind.rawValue), increments: 0)
    let node = chain.history.node
    let rank = node.column(named: "rank")
    try chain.history.commit(chain.source) { history, write in for _ in 0..<30 { try history.insertNode(write) } }
    try chain.add()
    // All ranks move on by one object, round in a circle.
    try chain.history.commit(chain.source) { _, write in
      var keys: [ObjectKey] = []
      try write.transaction.scan(node.id, [], from: ObjectKey(1), hints: []) { batch in
        for row in 0..<batch.count where batch.isLive(at: row) { keys.append(batch.key(at: row)) }
        return .proceed
      }
      let ranks = try keys.map { try write.transaction.value(rank, $0) }
      for (place, key) in keys.enumerated() { _ = try write.set(rank, key, .int(Int64(-1 - place))) }
      for (place, key) in keys.enumerated() { _ = try write.set(rank, key, ranks[(place + 1) % ranks.count]) }
    }
    try chain.add()
    try chain.expectSame("circle")
  }

  /// So many objects have a number of eight bits that a single one is free; two exchanged theirs.
  @Test(arguments: HistoryEngine.files) func uniqueValuesMayMoveAsLongAsOneIsFree(_ kind: HistoryEngine) throws {
    let folder = TemporaryDirectory("increments")
    let (copy, increment, restored) = (folder.file("copy").path, folder.file("increment").path, folder.file("restored").path)
    let engine = try kind.backend(folder.file("source").path).open(OpenOptions())
    defer { engine.close() }
    let table = try #require(try engine.adopt(Schema([ObjectSchema("Seat", .scalar("place", .int8, unique: true))]))["Seat"])
    let (column, slot) = (table.column(named: "place"), try #require(table.slot(of: table.id("place"))))
    func commit(_ body: (RecordedTransaction) throws -> Void) throws {
      let write = RecordedTransaction(try engine.beginWrite(.never), origin: 7)
      defer { write.end() }
      try body(write)
      _ = try write.commit(author: nil, timeMilliseconds: 0, .relaxed)
    }
    var keys: [ObjectKey] = []
    try commit { write in
      for number in -128..<127 {
        let row = RowBuffer(table)
        row.set(slot, .int(Int64(number)))
        keys.append(try write.insert(row))
      }
    }
    let base = try #require(engine.powers.copying).writeCopy(to: copy, .unchanged) { _ in .proceed }
    try commit { write in
      for (key, number) in [(keys[0], 127), (keys[1], -128), (keys[0], -127)] { _ = try write.set(column, key, .int(Int64(number))) }
    }
    let version = try IncrementWriter.write(engine, since: base, to: increment, .unchanged) { _ in .proceed }
    #expect(try StoreRestoration(kind.backend(restored)).restore(copy, [increment]) { _ in .proceed } == version)
    let made = try kind.backend(restored).open(OpenOptions())
    defer { made.close() }
    #expect(try Contents(made, recordsAfter: base) == Contents(engine, recordsAfter: base))
  }

  @Test(arguments: HistoryEngine.files) func aStopIsHeardWhileALargeIncrementIsApplied(_ kind: HistoryEngine) throws {
    var chain = try Chain(kind, SeededGenerator.forTest(kind.rawValue), increments: 0)
    let node = chain.history.node
    try chain.history.commit(chain.source) { history, write in
      try history.insertNode(write)
      let owner = try #require(try write.transaction.firstKey(node))
      _ = try write.set(node.column(named: "blob"), owner, .data(Data(count: 5 << 20)))
    }
    try chain.add()
    let engine = try chain.restored(0)
    defer { engine.close() }
    let before = try Contents(engine, recordsAfter: chain.versions[0])
    var applier = try IncrementApplier(engine)
    let stopped = StorageError(.cancelled, .statement, "stopped")
    let result = code {
      try applier.apply(IncrementFile(chain.increments[0], key: nil)) { (_) throws(StorageError) in throw stopped }
    }
    #expect(result == "cancelled")
    #expect(try Contents(engine, recordsAfter: chain.versions[0]) == before)
  }

  @Test(arguments: HistoryEngine.files) func anIncrementOfNothingIsOneToo(_ kind: HistoryEngine) throws {
    var chain = try Chain(kind, SeededGenerator.forTest(kind.rawValue), increments: 1)
    try chain.add()
    #expect(chain.versions[1] == chain.versions[2])
    try chain.expectSame("nothing")
  }

  @Test(arguments: HistoryEngine.files) func anIncrementIsSmallerThanACopyAndItsOwnersAlone(_ kind: HistoryEngine) throws {
    var chain = try Chain(kind, SeededGenerator.forTest(kind.rawValue), increments: 0)
    try chain.history.commit(chain.source) { history, write in _ = try write.insert(RowBuffer(history.leaf)) }
    try chain.add()
    let attributes = try FileManager.default.attributesOfItem(atPath: chain.increments[0])
    let full = try FileManager.default.attributesOfItem(atPath: chain.copy)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    #expect(try #require(attributes[.size] as? Int) * 2 < (try #require(full[.size] as? Int)))
  }

  @Test func writingOverwritesNothingAndAStopLeavesNothing() throws {
    let chain = try Chain(.sqlite, SeededGenerator.forTest(), increments: 1)
    let names = try FileManager.default.contentsOfDirectory(atPath: chain.folder.url.path)
    let path = chain.folder.file("none").path
    func write(_ path: String, _ step: Step) -> String? {
      code { _ = try IncrementWriter.write(chain.source, since: chain.versions[0], to: path, .unchanged) { _ in step } }
    }
    #expect(write(chain.copy, .proceed) == "fileExists")
    #expect(write(path, .stop) == "cancelled")
    #expect(code { try chain.restore(to: chain.copy, []) } == "fileExists")
    #expect(code { try chain.restore(to: path, chain.increments, .stop) } == "cancelled")
    #expect(code { _ = try StoreRestoration(HistoryEngine.memory.backend(path)) } == "unsupported")
    #expect(try FileManager.default.contentsOfDirectory(atPath: chain.folder.url.path).sorted() == names.sorted())
  }
}

extension StorageReading {
  func firstKey(_ table: TableEntry) throws(StorageError) -> ObjectKey? {
    var first: ObjectKey?
    try scan(table.id, [], from: ObjectKey(1), hints: []) { batch in
      for row in 0..<batch.count where batch.isLive(at: row) {
        first = batch.key(at: row)
        return .stop
      }
      return .proceed
    }
    return first
  }
}
