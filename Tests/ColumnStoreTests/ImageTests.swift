import StorageConformance
import StorageInterface
import StorageMemory
import StoreValues
import Testing
import VivariumTestSupport

@testable import ColumnStore

/// What is read after a commit is what the commit wrote: the rest is known from before.
@Suite struct ImageTests {
  private let shared: SharedStore
  private let store: CountingStore
  private let engine: ColumnEngine
  private let table: TableEntry
  private let keys: [ObjectKey]

  private static let schema = Schema([
    ObjectSchema("Task", .scalar("rank", .int64), .scalar("done", .bool), .scalar("title", .string))
  ])

  init() throws {
    shared = SharedStore(MemoryStore(pageSize: 512))
    store = CountingStore(shared)
    engine = try ColumnEngine(store, OpenOptions(), ImageBudget(64 << 20))
    let entry = try #require(try engine.adopt(ImageTests.schema)["Task"])
    table = entry
    var made: [ObjectKey] = []
    try engine.write { write in
      for i in 0..<2_000 {
        made.append(try write.insert(entry, ["rank": .int(Int64(i)), "done": .bool(i % 3 == 0), "title": .string("Task \(i)")]))
      }
    }
    keys = made
  }

  /// That are full.
  private var chunkCount: Int { (keys.count - 1) / engine.header.rowsPerChunk }

  private func sum(_ reading: any StorageReading, _ columns: [String] = ["rank", "done"]) throws -> Int64 {
    var sum: Int64 = 0
    try reading.scan(table.id, columns.map { table.id($0) }, from: ObjectKey(1), hints: []) { batch in
      for row in 0..<batch.count where batch.isLive(at: row) { sum += batch.columns[0].word(at: row) }
      return .proceed
    }
    return sum
  }

  private func sum(_ engine: ColumnEngine, _ columns: [String] = ["rank", "done"]) throws -> Int64 {
    let reading = try engine.beginRead()
    defer { reading.end() }
    return try sum(reading, columns)
  }

  /// What chunks a scan looked up, rows and columns.
  private func lookedUp(_ columns: [String] = ["rank", "done"], in engine: ColumnEngine? = nil) throws -> (maps: Int, columns: Int) {
    _ = store.take()
    _ = try sum(engine ?? self.engine, columns)
    let spaces = store.take().readSpaces
    return (spaces[.chunkMap] ?? 0, spaces[.column] ?? 0)
  }

  private func set(_ key: ObjectKey, _ word: Int64, in engine: ColumnEngine? = nil, named: Bool = true) throws {
    let change = TableChange(
      table: table.id, modified: [ModifiedObject(key: key, properties: PropertySet([table.id("rank")]))])
    try (engine ?? self.engine).write(record: CommitRecord(tables: named ? [change] : [])) {
      try $0.set(table.column(named: "rank"), key, word: word)
    }
  }

  @Test func aSnapshotMoreReadsNoChunk() throws {
    _ = try sum(engine)
    for columns in [["rank", "done"], ["done"]] {
      let counts = try lookedUp(columns)
      #expect(counts.maps == 0 && counts.columns == 0)
    }
  }

  @Test(arguments: [true, false]) func aScanAfterACommitReadsTheChunkThatItWrote(_ isNamed: Bool) throws {
    let before = try sum(engine)
    try set(keys[500], 500 + 7, named: isNamed)
    let counts = try lookedUp()
    // A record says which columns; where it says nothing, the chunk is read whole.
    #expect(counts.maps == (isNamed ? 0 : 1) && counts.columns == (isNamed ? 1 : 2))
    #expect(try sum(engine) == before + 7)
    let more = try lookedUp()
    #expect(more.maps == 0 && more.columns == 0)
  }

  @Test func textsAreReadOnceToo() throws {
    _ = try sum(engine, ["rank", "title"])
    let again = try lookedUp(["rank", "title"])
    // Few chunks are read as they lie before the image is asked.
    #expect(again.columns <= 2 * ColumnReading.readsBeforeImage)
    try set(keys[1_500], -1)
    #expect(try lookedUp(["rank", "title"]).columns <= 2 * (ColumnReading.readsBeforeImage + 1))
  }

  @Test(arguments: [true, false]) func commitsOfAnotherEngineDropTheirChunksAlone(_ isNamed: Bool) throws {
    let other = try ColumnEngine(shared, OpenOptions())
    let before = try sum(engine)
    try set(keys[3], 3 + 5, in: other, named: isNamed)
    try set(keys[1_000], 1_000 + 6, in: other, named: isNamed)
    try set(keys[1_001], 1_001 + 7, in: other, named: isNamed)
    let counts = try lookedUp()
    #expect(counts.maps == (isNamed ? 0 : 2) && counts.columns == (isNamed ? 2 : 4))
    #expect(try sum(engine) == before + 18)
  }

  @Test func fewChunksAreReadAfterRowsCameAndWent() throws {
    _ = try sum(engine)
    try engine.write { write in
      for key in keys[300..<310] { try write.delete(table.id, key) }
    }
    try engine.write { write in
      for i in 0..<5 { try write.insert(table, ["rank": .int(Int64(i)), "done": .bool(true), "title": .string("")]) }
    }
    let counts = try lookedUp()
    // One or two with the deleted rows, and the last one, which the fresh rows may have gone to.
    #expect((1...3).contains(counts.maps))
  }

  @Test func aWriteFindsWhatReadersHaveDecoded() throws {
    _ = try sum(engine)
    _ = store.take()
    try engine.write { write in
      for key in keys { try write.set(table.column(named: "rank"), key, word: 1) }
    }
    let spaces = store.take().readSpaces
    #expect(spaces[.chunkMap] ?? 0 <= ColumnReading.readsBeforeImage && spaces[.column] ?? 0 <= ColumnReading.readsBeforeImage)
    #expect(try sum(engine) == Int64(keys.count))
  }

  @Test func aSnapshotBehindReadsItsOwnVersionAndLooksLittleUp() throws {
    let behind = try engine.beginRead()
    defer { behind.end() }
    let before = Int64(keys.count * (keys.count - 1) / 2)
    try set(keys[40], 40 + 9)
    #expect(try sum(engine) == before + 9)
    _ = store.take()
    #expect(try sum(behind) == before)
    let spaces = store.take().readSpaces
    #expect(spaces[.chunkMap] == nil && spaces[.column] == 1)
    // What it has read of its own is not in the new version.
    #expect(try sum(engine) == before + 9)
  }

  @Test func whereACommitIsNotKnownTheImageBeginsAnew() throws {
    let forgetful = try ColumnEngine(shared, OpenOptions(historyLimit: 1))
    let before = try sum(engine)
    for i in 0..<3 { try set(keys[i * 700], Int64(i * 700) + 1, in: forgetful) }
    let counts = try lookedUp()
    #expect(counts.maps >= chunkCount)
    #expect(try sum(engine) == before + 3)
  }

  @Test func whereARecordIsMissingInTheMiddleTheImageBeginsAnew() throws {
    let other = try ColumnEngine(shared, OpenOptions())
    let before = try sum(engine)
    for i in 0..<3 { try set(keys[i * 700], Int64(i * 700) + 1, in: other) }
    let writer = try shared.acquireWriter(.never)
    let last = try shared.latestVersion()
    var batch = KeyValueBatch(version: last.next)
    EntryKey.history(last.rawValue - 1).withBytes { batch.append(key: $0, value: nil) }
    try writer.apply(batch, .relaxed)
    writer.end()
    #expect(try lookedUp().maps >= chunkCount)
    #expect(try sum(engine) == before + 3)
  }

  /// Builds that know nothing of images write records that say nothing of chunks.
  @Test func whereARecordSaysNothingOfChunksTheImageBeginsAnew() throws {
    let before = try sum(engine)
    try set(keys[700], 700 + 1, in: try ColumnEngine(shared, OpenOptions()), named: false)
    let writer = try shared.acquireWriter(.never)
    let last = try shared.latestVersion()
    var batch = KeyValueBatch(version: last.next)
    for version in [last, last.next] { batch.put(.history(version.rawValue), ValueBuffer(CommitRecord().encoded())) }
    try writer.apply(batch, .relaxed)
    writer.end()
    #expect(try sum(engine) == before + 1)
  }

  @Test(arguments: [RefusingStore.Refusal.before, .after])
  func aCommitThatFailsIsKnownIfItCanBeSeen(_ refusal: RefusingStore.Refusal) throws {
    let refusing = RefusingStore(shared)
    let engine = try ColumnEngine(refusing, OpenOptions(), ImageBudget(64 << 20))
    let before = try sum(engine)
    refusing.refuse(refusal)
    #expect(throws: StorageError.self) { try set(keys[20], 20 + 1, in: engine, named: false) }
    #expect(try sum(engine) == before + (refusal == .after ? 1 : 0))
    // The version that was refused may come with other chunks.
    try set(keys[1_200], 1_200 + 10, in: engine)
    #expect(try sum(engine) == before + (refusal == .after ? 11 : 10))
  }

  @Test func whatAWriteReadsOfItsOwnIsNobodyElses() throws {
    let before = try sum(engine)
    let write = try engine.beginWrite(.never)
    #expect(try sum(write) == before)
    try write.beginSavepoint()
    for key in keys[100..<900] { try write.set(table.column(named: "rank"), key, word: 0) }
    for key in keys[1_000..<1_900] { try write.delete(table.id, key) }
    _ = try sum(write, ["rank", "title"])
    #expect(try sum(engine) == before)
    try write.rollbackToSavepoint()
    #expect(try sum(write) == before)
    for key in keys[0..<900] { try write.delete(table.id, key) }
    _ = try sum(write, ["rank", "title"])
    write.end()
    #expect(try sum(engine, ["rank", "title"]) == before)
  }

  @Test func aClosedEngineTakesNoRoom() throws {
    let budget = ImageBudget(64 << 20)
    let closing = try ColumnEngine(shared, OpenOptions(), budget)
    let reading = try closing.beginRead()
    let before = try sum(reading)
    closing.close()
    #expect(try sum(reading) == before)
    reading.end()
    #expect(budget.bytes == 0)
  }

  @Test func aRecordThatIsMissingInTheMiddleIsAnError() throws {
    for i in 0..<3 { try set(keys[i], 7) }
    let last = try shared.latestVersion()
    let writer = try shared.acquireWriter(.never)
    var batch = KeyValueBatch(version: last.next)
    EntryKey.history(last.rawValue - 1).withBytes { batch.append(key: $0, value: nil) }
    try writer.apply(batch, .relaxed)
    writer.end()
    let reading = try engine.beginRead()
    defer { reading.end() }
    let error = #expect(throws: StorageError.self) {
      try reading.history(after: Version(last.rawValue - 3)) { _ in .proceed }
    }
    #expect(error?.code == .historyTrimmed)
    // Who has heard enough before is not told.
    try reading.history(after: Version(last.rawValue - 3)) { _ in .stop }
  }

  @Test func aHistoryTakenOverSaysNothingOfChunks() throws {
    let before = try sum(engine)
    let write = try #require(try engine.beginWrite(.never).writePowers.history)
    for key in [keys[0], keys[1_999]] { try write.set(table.column(named: "rank"), key, word: 5_000) }
    var record = CommitRecord()
    record.version = write.version.next
    _ = try write.commit(adopting: [record], .relaxed)
    #expect(try sum(engine) == before + 5_000 - 0 + 5_000 - 1_999)
  }

  @Test func anImageKeepsWithinItsBudget() throws {
    let budget = ImageBudget(24 << 10)
    let small = try ColumnEngine(store, OpenOptions(), budget)
    let expected = try sum(engine, ["rank", "title"])
    for round in 0..<6 {
      #expect(try sum(small, ["rank", "title"]) == expected)
      #expect(try sum(small) == expected)
      #expect(budget.bytes < 48 << 10, "round \(round)")
    }
    small.close()
  }

  @Test func whatNobodyAskedForLongestMakesRoom() throws {
    let budget = ImageBudget(40 << 10)
    do {
      let old = try ColumnEngine(shared, OpenOptions(), budget)
      _ = try sum(old)
      #expect(budget.bytes > 0)
      let copies = try (0..<6).map { _ in try ColumnEngine(shared, OpenOptions(), budget) }
      for copy in copies { _ = try sum(copy, ["rank", "title"]) }
      _ = store.take()
      #expect(try sum(old) == Int64(keys.count * (keys.count - 1) / 2))
    }
    #expect(budget.bytes == 0)
  }

  @Test func lanesOutliveManyCommitsThatNobodyRead() throws {
    let before = try sum(engine)
    for i in 0..<600 { try set(keys[100], Int64(100 + i)) }
    let counts = try lookedUp()
    #expect(counts.maps == 0 && counts.columns == 1)
    #expect(try sum(engine) == before + 599)
  }

  @Test(arguments: 0..<3) func randomHistoriesShowWhatAnEngineShowsThatKnowsNothing(_ round: Int) throws {
    let shared = SharedStore(MemoryStore(pageSize: 512))
    let options = OpenOptions(historyLimit: round == 2 ? 2 : 100)
    let budget = ImageBudget(round == 1 ? 100 << 10 : 64 << 20)
    var run = try DecodingRun(.forTest("histories read by images, \(round)"), rows: 1_500) {
      try ColumnEngine(shared, options, budget)
    }
    try run.play(environmentNumber("VIVARIUM_IMAGE_COMMITS", default: 15))
  }

  @Test func manyThreadsReadVersionsWhileOneWrites() async throws {
    let keys = keys
    let column = table.column(named: "rank")
    try engine.write { write in for key in keys { try write.set(column, key, word: 0) } }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<60 {
            let reading = try engine.beginRead()
            // Every commit moves one from one object to another: each version adds up to nothing.
            #expect(try sum(reading) == 0)
            reading.end()
          }
        }
      }
      group.addTask {
        for i in 0..<120 {
          try engine.write { write in
            let (from, to) = (keys[i * 13 % keys.count], keys[(i * 571 + 1) % keys.count])
            let (a, b) = (try write.word(column, from) ?? 0, try write.word(column, to) ?? 0)
            if from == to { return }
            try write.set(column, from, word: a - 1)
            try write.set(column, to, word: b + 1)
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
