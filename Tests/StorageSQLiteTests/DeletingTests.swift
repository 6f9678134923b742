import StorageInterface
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// Many objects go by few statements.
@Suite struct DeletingTests {
  @Test func aThousandObjectsGoByAHandfulOfStatements() throws {
    let place = Place()
    let engine = try place.open()
    let schema = Schema([ObjectSchema("Task", .scalar("id", .int64, primaryKey: true), .scalar("project", .int64, indexed: true))])
    let table = try #require(try engine.adopt(schema)["Task"])
    try engine.write { write in
      for id in 0..<4_000 { try write.insert(table, ["id": .int(Int64(id * 1_003 % 4_001)), "project": .int(Int64(id % 7))]) }
    }
    let write = try engine.beginWrite(.never)
    let before = SQLiteEngine.useCount(of: write)
    let scattered = stride(from: Int64(1), through: 2_000, by: 2).map { $0 }
    #expect(try write.delete(table.id, all: scattered).count == 1_000)
    // A block of 128 each; and what the table counted.
    #expect(SQLiteEngine.useCount(of: write) - before <= 9)
    let between = SQLiteEngine.useCount(of: write)
    #expect(try write.delete(table.id, all: Array(2_001...4_000)).count == 2_000)
    #expect(SQLiteEngine.useCount(of: write) - between == 1)
    _ = try write.commit(CommitRecord(), .relaxed)
    let read = try engine.beginRead()
    #expect(try read.count(table.id) == 1_000)
    #expect((0..<7).reduce(0) { $0 + ((try? read.count(in: table.index("project"), equalTo: Int64($1))) ?? 0) } == 1_000)
    var faults: [StoreFault] = []
    try engine.verifyStructure(read) { faults.append($0) }
    #expect(faults.isEmpty)
  }
}
