import Foundation
import StorageInterface
import StorageMemory
import StoreValues
import Testing
import VivariumTestSupport

@testable import ColumnStore

/// Many objects that are deleted in one call leave what they leave when they are deleted one by one.
@Suite struct DeletingTogetherTests {
  private static let schema = Schema([
    ObjectSchema(
      "Task", .scalar("id", .int64, primaryKey: true), .scalar("code", .string, optional: true, unique: true),
      .scalar("rank", .double, indexed: true), .scalar("note", .data, optional: true), .list("marks", of: .int64))
  ])

  private static func row(_ id: Int) -> [String: Value] {
    let note: Value = id % 9 == 0 ? .data(Data(repeating: 1, count: 2_000)) : .null
    return [
      "id": .int(Int64(id)), "code": id % 4 == 0 ? .null : .string("code \(id)"), "rank": .double(Double(id % 7)), "note": note,
    ]
  }

  private func filled() throws -> (MemoryStore, ColumnEngine, TableEntry) {
    let store = MemoryStore(pageSize: 512)
    let engine = try ColumnEngine(store, OpenOptions())
    let table = try #require(try engine.adopt(DeletingTogetherTests.schema)["Task"])
    for part in [0..<1_000, 1_000..<1_005] {
      try engine.write { write in
        for id in part {
          let key = try write.insert(table, DeletingTogetherTests.row(id))
          if id % 50 == 0 { try write.edit(table.column(named: "marks"), key, .insert(at: 0, (0..<200).map { Value.int(Int64($0)) })) }
        }
      }
    }
    return (store, engine, table)
  }

  /// All entries of a store but the history.
  private func entries(_ store: MemoryStore) throws -> [[UInt8]: [UInt8]] {
    let snapshot = try store.beginSnapshot()
    defer { snapshot.end() }
    var found: [[UInt8]: [UInt8]] = [:]
    try [UInt8]([1]).lend { start throws(StorageError) in
      try snapshot.visit(from: start, sharing: 0, reverse: false) { key, value in
        if key.first != EntryKey.Space.history.rawValue { found[Array(key)] = Array(value) }
        return .proceed
      }
    }
    return found
  }

  @Test func theyLeaveTheSameEntries() throws {
    var random = SeededGenerator.forTest()
    for round in 0..<8 {
      let (one, two) = (try filled(), try filled())
      // Runs and single ones, in any order, some twice and some that are nobody's.
      var keys: [Int64] = []
      for _ in 0..<1 + random.below(12) {
        let start = Int64(1 + random.below(1_010))
        keys += (start..<start + Int64(random.oneIn(2) ? 1 : random.below(200))).map { $0 }
      }
      let undone = Array(keys.shuffled(using: &random).prefix(20))
      var gone: [[Int64]] = []
      for (i, (_, engine, table)) in [one, two].enumerated() {
        try engine.write { write in
          var deleted: [Int64] = []
          func delete(_ keys: [Int64]) throws {
            if i == 0 { return deleted += try write.delete(table.id, all: keys) }
            for key in keys where try write.contains(table.id, ObjectKey(key)) {
              try write.delete(table.id, ObjectKey(key))
              deleted.append(key)
            }
          }
          try write.beginSavepoint()
          try delete(undone)
          try write.rollbackToSavepoint()
          deleted = []
          try delete(keys)
          gone.append(deleted)
          // Their values can be given again, and nobody else's.
          for key in deleted.prefix(3) {
            #expect(try write.key(in: table.index("id"), equalTo: key - 1) == nil)
            let again = try write.insert(table, DeletingTogetherTests.row(Int(key - 1)))
            #expect(try write.key(in: table.index("id"), equalTo: key - 1) == again)
          }
          if let left = (0..<1_000).first(where: { !keys.contains(Int64($0 + 1)) }) {
            #expect(throws: StorageError.self) { try write.insert(table, DeletingTogetherTests.row(left)) }
          }
        }
      }
      #expect(gone[0] == gone[1])
      #expect(try entries(one.0) == entries(two.0), "round \(round)")
      let read = try one.1.beginRead()
      defer { read.end() }
      var faults: [String] = []
      try one.1.verifyStructure(read) { faults.append("\($0)") }
      #expect(faults == [])
    }
  }
}
