import StorageInterface
import StoreValues
import Testing
import VivariumTestSupport

@testable import ColumnStore

/// Which chunks a commit wrote, from its entry alone.
@Suite struct TouchedChunksTests {
  private static let rowsPerChunk = 100

  private func named(_ record: CommitRecord) -> [String] {
    picture(TouchedChunks(of: record, rowsPerChunk: TouchedChunksTests.rowsPerChunk))
  }

  private func picture(_ touched: TouchedChunks) -> [String] {
    if touched.isEverything { return ["everything"] }
    return touched.tables.flatMap { table in
      ["\(table.id) \(table.whole.runs)"] + table.columns.map { "\(table.id) \($0.property) \($0.numbers.runs)" }
    }.sorted()
  }

  @Test func objectsThatCameOrWentAreWholeChunksAndOthersThePropertiesThatWereSet() throws {
    var change = TableChange(table: TableID(1))
    change.inserted = KeyRuns([1, 2, 950])
    change.modified = [ModifiedObject(key: ObjectKey(301), properties: PropertySet([PropertyID(4)]))]
    change.lists = [ListChange(owner: ObjectKey(401), property: PropertyID(5), edits: [.clear])]
    let touched = TouchedChunks(of: CommitRecord(tables: [change]), rowsPerChunk: TouchedChunksTests.rowsPerChunk)
    #expect(touched.runs(of: TableID(1), nil) == [0...0, 9...9])
    #expect(touched.runs(of: TableID(1), PropertyID(4)) == [0...0, 9...9, 3...3])
    #expect(touched.runs(of: TableID(1), PropertyID(5)) == [0...0, 9...9, 4...4])
    #expect(touched.runs(of: TableID(1), PropertyID(6)) == [0...0, 9...9])
    #expect(touched.runs(of: TableID(2), nil).isEmpty)
  }

  /// The writer leaves out of its entry what it finds named; so readers must find the same.
  @Test func whoReadsARecordFindsNamedWhatItsWriterFound() throws {
    var random = SeededGenerator.forTest()
    for _ in 0..<60 {
      var tables: [TableChange] = []
      for table in 0..<random.below(4) {
        var change = TableChange(table: TableID(UInt16(table % 3)))
        change.inserted = KeyRuns((0..<random.below(9)).map { _ in Int64(1 + random.below(3_000)) })
        change.deleted = KeyRuns((0..<random.below(9)).map { _ in Int64(1 + random.below(3_000)) })
        // More sets of properties than are told apart, not in order of the keys.
        change.modified = (0..<random.below(120)).map { _ in
          let properties = (0..<random.below(4)).map { _ in PropertyID(UInt16(random.below(random.oneIn(9) ? 300 : 12))) }
          return ModifiedObject(key: ObjectKey(Int64(1 + random.below(20_000))), properties: PropertySet(properties))
        }
        change.lists = (0..<random.below(20)).map { _ in
          ListChange(owner: ObjectKey(Int64(1 + random.below(20_000))), property: PropertyID(3), edits: [.clear])
        }
        tables.append(change)
      }
      let record = CommitRecord(tables: tables)
      let read = try record.encoded().withUnsafeBytes { try CommitRecord(version: Version(1), encoded: $0) }
      #expect(named(read) == named(record))
    }
  }

  @Test func whatFollowsARecordIsReadAsItWasWritten() throws {
    var touched = TouchedChunks()
    touched.insert(TableID(3), [4...9, 12...12])
    touched.insert(TableID(1), [0...0])
    for written in [touched, TouchedChunks(), .everything] {
      let read = written.encoded.withUnsafeBytes { TouchedChunks(encoded: $0) }
      #expect(picture(read) == picture(written))
    }
  }

  @Test(arguments: [[], [2], [0, 1], [1, 0]] as [[UInt8]]) func bytesThatAreNoChunksAreEverything(_ bytes: [UInt8]) {
    #expect(bytes.withUnsafeBytes { TouchedChunks(encoded: $0) }.isEverything)
  }

  @Test func chunksThatCannotBeAreNone() {
    let budget = ImageBudget(1 << 20)
    let lane = Lane<ChunkFrame>(pages: 2, budget)
    lane.fill(3, ChunkFrame(firstKey: 1, count: 7), nil)
    lane.fill(70, ChunkFrame(firstKey: 2, count: 8), nil)
    let other = lane.without([-9 ... -1, .min ... -5, 128 ... .max, -4...3], pages: 2, budget)
    #expect(other.view[3] == nil && other.view[70]?.pointee.count == 8)
    #expect(lane.view[3]?.pointee.count == 7)
  }

  @Test func pagesWithoutChunksAreSmall() {
    let budget = ImageBudget(1 << 30)
    let lane = Lane<ChunkCell>(pages: 1 << 14, budget)
    #expect(budget.bytes < 4 << 20)
    #expect(lane.view[1 << 20 - 1] == nil)
  }
}
