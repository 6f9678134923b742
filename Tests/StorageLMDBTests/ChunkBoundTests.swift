import ColumnStore
import Foundation
import StorageInterface
import StorageLMDB
import StoreValues
import Testing
import VivariumTestSupport

/// However long the strings of a type are, no value of the file grows with the number of objects in a chunk.
struct ChunkBoundTests {
  private let scratch: Scratch
  private let engine: any StorageEngine
  private let table: TableEntry

  init() throws {
    scratch = try Scratch()
    engine = try LMDBBackend(path: scratch.file("a")).open(OpenOptions())
    let schema = Schema([ObjectSchema("Note", .scalar("text", .string), .list("numbers", of: .int64), .scalar("rank", .int64))])
    table = try #require(try engine.adopt(schema)["Note"])
  }

  private func text(_ number: Int, _ length: Int) -> String { "\(number) " + String(repeating: "x", count: length) }

  /// The longest value in the file that is no commit record.
  private func longestValue() throws -> Int {
    let snapshot = try LMDBStore(path: scratch.file("a")).beginSnapshot()
    var longest = 0
    try [UInt8]([1]).withUnsafeBytes { start in
      try snapshot.visit(from: start, sharing: 0, reverse: false) { _, value in
        longest = max(longest, value.count)
        return .proceed
      }
    }
    return longest
  }

  private func check(_ lengths: [Int]) throws {
    let read = try engine.beginRead()
    defer { read.end() }
    #expect(try read.count(table.id) == lengths.count { $0 >= 0 })
    for (number, length) in lengths.enumerated() where length >= 0 {
      #expect(try read.value(table.column(named: "text"), ObjectKey(Int64(number + 1))) == .string(text(number, length)))
    }
    var scanned = 0
    try read.scan(table.id, [table.id("text")], from: ObjectKey(0), hints: []) { batch in
      for row in 0..<batch.count where batch.isLive(at: row) {
        scanned += 1
        if batch.columns[0].bytes(at: row).count < 3 { scanned = -1_000_000 }
      }
      return .proceed
    }
    #expect(scanned == lengths.count { $0 >= 0 })
    var faults: [StoreFault] = []
    try engine.powers.structure?.verifyStructure(read) { faults.append($0) }
    #expect(faults.isEmpty)
  }

  @Test func aChunkOfLongStringsIsNoGiantValue() throws {
    var lengths = (0..<2_500).map { $0 % 3 == 0 ? 900 : $0 % 3 == 1 ? 300 : 10 }
    try engine.write { write in
      for (number, length) in lengths.enumerated() { try write.insert(table, ["text": .string(text(number, length))]) }
    }
    #expect(try longestValue() < 200_000)
    try check(lengths)
    // Strings that grow push their neighbours out of the chunk; strings that shrink come back in.
    for round in 0..<4 {
      try engine.write { write in
        for number in stride(from: round, to: lengths.count, by: 5) where lengths[number] >= 0 {
          lengths[number] = round.isMultiple(of: 2) ? 700 : 20
          try write.set(table.column(named: "text"), ObjectKey(Int64(number + 1)), .string(text(number, lengths[number])))
        }
        try write.delete(table.id, ObjectKey(Int64(round * 7 + 1)))
        lengths[round * 7] = -1
      }
      #expect(try longestValue() < 200_000)
      try check(lengths)
    }
  }

  @Test func listsBesideEachOtherAreBoundedToo() throws {
    let numbers = table.column(named: "numbers")
    let values = (0..<60).map { Value.int(Int64($0) &* 0x0123_4567_89AB_CDEF) }
    try engine.write { write in
      for _ in 0..<1_100 { try write.edit(numbers, write.insert(table), .insert(at: 0, values)) }
    }
    #expect(try longestValue() < 200_000)
    try engine.write { write in
      for key in 1...50 { try write.edit(numbers, ObjectKey(Int64(key * 20)), .remove(10..<60)) }
      for key in 1...50 { try write.delete(table.id, ObjectKey(Int64(key * 20 + 1))) }
      for key in 1...20 { try write.edit(numbers, ObjectKey(Int64(key * 20 + 2)), .insert(at: 60, values)) }
    }
    let read = try engine.beginRead()
    for key in 1...1_100 where (key - 1) % 20 != 0 || key == 1 || key > 1_001 {
      let expected = key % 20 == 0 && key <= 1_000 ? Array(values[..<10]) : key % 20 == 2 && key <= 402 && key > 2 ? values + values : values
      #expect(try read.values(numbers, ObjectKey(Int64(key)), 0..<1_000) == expected, "\(key)")
    }
    var faults: [StoreFault] = []
    try engine.powers.structure?.verifyStructure(read) { faults.append($0) }
    #expect(faults.isEmpty)
  }
}
