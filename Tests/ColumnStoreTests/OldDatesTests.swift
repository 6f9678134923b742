import Foundation
import StorageInterface
import StorageMemory
import StoreValues
import Testing
import VivariumTestSupport

/// Dates were Doubles before format 3. A file is still of that format where a migration took them out.
@Suite struct OldDatesTests {
  @Test func whatDeadRowsHeldStopsNoWrite() throws {
    let engine = try MemoryBackend().open(OpenOptions())
    let schema = Schema([ObjectSchema("Task", .scalar("rank", .int64), .scalar("due", .double))])
    let old = try #require(try engine.adopt(schema)["Task"])
    // More than a chunk, and the next one is not full.
    var keys: [ObjectKey] = []
    try engine.write { write in
      for i in 0..<1_500 { keys.append(try write.insert(old, ["rank": .int(Int64(i)), "due": .double(Double(i) + 0.5)])) }
    }
    try engine.write { write in for i in stride(from: 0, to: 1_500, by: 3) { try write.delete(old.id, keys[i]) } }
    // The migration empties what lives, and takes the property out.
    try engine.write { write in
      for i in 0..<1_500 where i % 3 != 0 { try write.set(old.column(named: "due"), keys[i], .double(0)) }
    }
    try engine.write { write in
      let plan = try write.catalog.migrating(to: Schema([ObjectSchema("Task", .scalar("rank", .int64))]))
      // It was a date then, and the only Double there is.
      let text = String(decoding: try JSONEncoder().encode(plan.finished), as: UTF8.self)
      let then = Data(text.replacing("\"double\"", with: "\"date\"").utf8)
      try write.setCatalog(try JSONDecoder().decode(Catalog.self, from: then))
    }
    // Rows that come behind those of a chunk, and a chunk of which so few stay that it is written anew.
    let task = try #require(try engine.beginRead().catalog["Task"])
    #expect(task.columns.contains { $0.isRetired && $0.schema.valueType == .date })
    var later: [ObjectKey] = []
    try engine.write { write in for i in 0..<1_500 { later.append(try write.insert(task, ["rank": .int(Int64(i))])) } }
    try engine.write { write in for i in 0..<1_500 where i % 3 != 0 && i % 10 != 0 { try write.delete(task.id, keys[i]) } }
    let read = try engine.beginRead()
    let rank = task.column(named: "rank")
    for i in 0..<1_500 {
      #expect(try read.word(rank, later[i]) == Int64(i))
      if i % 3 != 0, i % 10 == 0 { #expect(try read.word(rank, keys[i]) == Int64(i)) }
    }
    #expect(try read.count(task.id) == 1_500 + 100)
  }
}
