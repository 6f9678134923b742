import QueryEngine
import QueryModel
import StorageInterface
import StorageMemory
import StoreValues
import Testing
import VivariumTestSupport

@testable import ColumnStore

/// Which entries of the store a question reads.
@Suite struct QueryEntryTests {
  private static let rows = 5_000

  private func engine() throws -> (store: CountingStore, engine: ColumnEngine, catalog: Catalog) {
    let store = CountingStore(MemoryStore(pageSize: 4_096))
    let engine = try ColumnEngine(store, OpenOptions())
    let catalog = try engine.adopt(
      Schema([
        ObjectSchema(
          "Task", .scalar("title", .string), .scalar("note", .string), .scalar("priority", .int64), .scalar("rank", .int64),
          .scalar("project", .int64, indexed: true), .scalar("done", .bool))
      ]))
    let table = try #require(catalog["Task"])
    try engine.write { write in
      for i in 0..<QueryEntryTests.rows {
        try write.insert(
          table,
          ["title": .string("Task \(i)"), "note": .string("note \(i % 7)"), "priority": .int(Int64(i % 10)), "rank": .int(Int64(i)),
            "project": .int(Int64(i % 50)), "done": .bool(i % 3 == 0)])
      }
    }
    return (store, engine, catalog)
  }

  /// Each question in a transaction of its own, which has read nothing yet.
  @Test func questionsReadTheColumnsTheyAskAbout() throws {
    let (store, engine, catalog) = try engine()
    let chunks = QueryEntryTests.rows / engine.header.rowsPerChunk
    func reads(_ text: String) throws -> (columns: Int, blocks: Int) {
      let reading = try engine.beginRead()
      defer { reading.end() }
      let bound = try BoundQuery(Query(type: "Task", parsing: text), in: catalog)
      _ = store.take()
      _ = try bound.keys(in: reading)
      let counts = store.take()
      return (counts.readSpaces[.column] ?? 0, counts.readSpaces[.indexBlock] ?? 0)
    }
    // Two columns of every chunk, and no text.
    #expect(try reads("priority >= 7 AND done == NO").columns <= 2 * (chunks + 1))
    #expect(try reads("title CONTAINS 'Task 99'").columns <= chunks + 1)
    // The bounds of one column rule out all chunks but one, whose text alone is read.
    let few = try reads("rank BETWEEN {2500, 2510} AND title CONTAINS 'Task'").columns
    #expect(few >= 2 && few <= chunks + 1 + 2, "\(few)")
    // An index by itself reads no column; what is left reads the chunks of its rows.
    let indexed = try reads("project == 7")
    #expect(indexed.columns == 0 && indexed.blocks >= 1 && indexed.blocks <= 2, "\(indexed)")
    #expect(try reads("project == 7 AND rank < 60").columns <= chunks + 1)
    // An order reads its own column.
    #expect(try reads("TRUEPREDICATE SORT(rank DESC) LIMIT(5)").columns <= chunks + 1)
    // An end is an end.
    #expect(try reads("rank >= 0 LIMIT(3)").columns <= 1)
  }

  @Test func aCountOverAnIndexReadsTheBlocksAtItsEnds() throws {
    let (store, engine, catalog) = try engine()
    let reading = try engine.beginRead()
    defer { reading.end() }
    let bound = try BoundQuery(Query(type: "Task", parsing: "project == 7"), in: catalog)
    _ = store.take()
    #expect(try bound.count(in: reading) == 100)
    let counts = store.take()
    #expect(counts.readSpaces[.column] == nil && counts.readSpaces[.chunkMap] == nil)
    #expect((counts.readSpaces[.indexBlock] ?? 0) <= 2)
  }
}
