import ChangeTracker
import Foundation
import StorageForwarding
import StorageIncrements
import StorageInterface
import StoreValues
import Synchronization
import Testing
import VivariumTestSupport

/// How much is read and written for an increment: what a clock cannot test.
@Suite struct IncrementWorkTests {
  private let folder = TemporaryDirectory("increments")

  /// A store with one type, and a base version.
  private func source(_ kind: HistoryEngine, _ type: ObjectSchema) throws -> (engine: any StorageEngine, table: TableEntry) {
    let engine = try kind.backend(folder.file("source").path).open(OpenOptions())
    return (engine, try #require(try engine.adopt(Schema([type]))[type.name]))
  }

  private func commit(_ engine: any StorageEngine, _ body: (RecordedTransaction) throws -> Void) throws {
    let write = RecordedTransaction(try engine.beginWrite(.never), origin: 7)
    defer { write.end() }
    try body(write)
    _ = try write.commit(author: nil, timeMilliseconds: 0, .relaxed)
  }

  /// Deleted objects leave holes, so each of the others is a run of its own.
  @Test(arguments: HistoryEngine.files) func objectsBetweenHolesAreReadOnce(_ kind: HistoryEngine) throws {
    let (engine, table) = try source(kind, ObjectSchema("Photo", .scalar("bytes", .data)))
    defer { engine.close() }
    let base = try engine.latestVersion()
    let slot = try #require(table.slot(of: table.id("bytes")))
    var keys: [ObjectKey] = []
    try commit(engine) { write in
      for number in 0..<2_000 {
        let row = RowBuffer(table)
        row.set(slot, .data(Data(repeating: UInt8(truncatingIfNeeded: number), count: 10_000)))
        keys.append(try write.insert(row))
      }
    }
    try commit(engine) { write in for place in stride(from: 0, to: 2_000, by: 2) { try write.delete(table.id, keys[place]) } }
    let counts = WorkCounts()
    let counting = ForwardingEngine(engine, read: { CountingScans(base: $0, counts) })
    let path = folder.file("increment").path
    _ = try IncrementWriter.write(counting, since: base, to: path, .unchanged) { _ in .proceed }
    #expect(counts.scans == 1)
    // The holes are among them.
    #expect((1_000...2_100).contains(counts.rows))
    #expect(try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) > 10_000_000)
  }

  /// Each has the value that the next one had: nobody can have his before all that follow.
  @Test(arguments: [HistoryEngine.memory, .sqlite]) func aLongLineOfUniqueValuesIsSetInProportion(_ kind: HistoryEngine) throws {
    let count = 5_000
    let counts = try sets(kind, Array(1...count)) { numbers in numbers.map { $0 + 1 } }
    #expect(counts >= count && counts <= 3 * count)
  }

  @Test(arguments: [HistoryEngine.memory, .sqlite]) func manyExchangedUniqueValuesAreSetInProportion(_ kind: HistoryEngine) throws {
    let count = 4_000
    let counts = try sets(kind, Array(1...count)) { numbers in numbers.map { $0.isMultiple(of: 2) ? $0 - 1 : $0 + 1 } }
    #expect(counts >= count && counts <= 4 * count)
  }

  /// How many values are set where an increment gives objects with unique numbers other ones; they are found right.
  private func sets(_ kind: HistoryEngine, _ numbers: [Int], _ change: ([Int]) -> [Int]) throws -> Int {
    let type = ObjectSchema("Seat", .scalar("number", .int64, unique: true))
    let (engine, table) = try source(kind, type)
    defer { engine.close() }
    let (column, slot) = (table.column(named: "number"), try #require(table.slot(of: table.id("number"))))
    var keys: [ObjectKey] = []
    try commit(engine) { write in
      for number in numbers {
        let row = RowBuffer(table)
        row.set(slot, word: Int64(number))
        keys.append(try write.insert(row))
      }
    }
    let (base, increments) = (try engine.latestVersion(), ["first", "second"].map { folder.file($0).path })
    _ = try IncrementWriter.write(engine, since: Version(1), to: increments[0], .unchanged) { _ in .proceed }
    let changed = change(numbers)
    try commit(engine) { write in
      for (place, key) in keys.enumerated() { _ = try write.set(column, key, .int(Int64(-1 - place))) }
      for (place, key) in keys.enumerated() { _ = try write.set(column, key, .int(Int64(changed[place]))) }
    }
    _ = try IncrementWriter.write(engine, since: base, to: increments[1], .unchanged) { _ in .proceed }
    // Another one with the same first version.
    let target = try kind.backend(folder.file("target").path).open(OpenOptions())
    defer { target.close() }
    try target.adopt(Schema([type]))
    let counts = WorkCounts()
    var applier = try IncrementApplier(ForwardingEngine(target, write: { CountingSets(base: $0, counts) }))
    for path in increments { try applier.apply(IncrementFile(path, key: nil)) }
    let read = try target.beginRead()
    defer { read.end() }
    for (place, key) in keys.enumerated() where try read.word(column, key) != Int64(changed[place]) { Issue.record("object \(key)") }
    return counts.sets
  }
}

/// What was asked for. Any thread.
private final class WorkCounts: Sendable {
  private let scanCount = Atomic(0)
  private let rowCount = Atomic(0)
  private let setCount = Atomic(0)

  /// How often a table was scanned, and how many rows were lent then.
  var scans: Int { scanCount.load(ordering: .relaxed) }
  var rows: Int { rowCount.load(ordering: .relaxed) }
  /// How often a word was set, be it in vain.
  var sets: Int { setCount.load(ordering: .relaxed) }

  func scan() { scanCount.add(1, ordering: .relaxed) }
  func lend(_ rows: Int) { rowCount.add(rows, ordering: .relaxed) }
  func set() { setCount.add(1, ordering: .relaxed) }
}

private final class CountingScans: ForwardingRead {
  let base: any ReadTransaction
  private let counts: WorkCounts

  init(base: any ReadTransaction, _ counts: WorkCounts) { (self.base, self.counts) = (base, counts) }

  func scan(
    _ table: TableID, _ columns: [PropertyID], from start: ObjectKey, hints: [ZoneHint],
    _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) {
    counts.scan()
    try base.scan(table, columns, from: start, hints: hints) { batch in
      counts.lend(batch.count)
      return body(batch)
    }
  }
}

private final class CountingSets: ForwardingWrite {
  let base: any WriteTransaction
  private let counts: WorkCounts

  init(base: any WriteTransaction, _ counts: WorkCounts) { (self.base, self.counts) = (base, counts) }

  func set(_ column: ColumnID, _ key: ObjectKey, word: Int64?) throws(StorageError) -> Bool {
    counts.set()
    return try base.set(column, key, word: word)
  }
}
