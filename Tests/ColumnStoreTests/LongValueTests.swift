import Foundation
import StorageInterface
import StorageMemory
import StoreValues
import Testing
import VivariumTestSupport

/// Values that lie in entries of their own are read one at a time, and scanned a few at a time.
@Suite struct LongValueTests {
  private static let megabyte = 1 << 20
  private static let schema = Schema([ObjectSchema("Film", .scalar("minutes", .int64), .scalar("picture", .data, optional: true))])

  private func fill(_ engine: any StorageEngine, _ counts: [Int?]) throws -> (table: TableEntry, keys: [ObjectKey]) {
    let table = try #require(try engine.adopt(Self.schema)["Film"])
    var keys: [ObjectKey] = []
    try engine.write { write in
      for (i, count) in counts.enumerated() {
        let picture = count.map { Value.data(Data(repeating: UInt8(truncatingIfNeeded: i), count: $0)) } ?? .null
        keys.append(try write.insert(table, ["minutes": .int(Int64(i)), "picture": picture]))
      }
    }
    return (table, keys)
  }

  @Test func aScanGivesLongValuesInPieces() throws {
    let engine = try MemoryBackend().open(OpenOptions())
    let counts: [Int?] = (0..<40).map { $0 % 7 == 3 ? nil : $0 % 5 == 0 ? 10 : LongValueTests.megabyte + $0 }
    let (table, keys) = try fill(engine, counts)
    try engine.write { try $0.delete(table.id, keys[12]) }
    let read = try engine.beginRead()
    for start in [0, 17] {
      var found: [Int] = []
      var largest = 0
      try read.scan(
        table.id, [table.id("picture"), table.id("minutes")], from: ObjectKey(Int64(start) + 1), hints: []
      ) { batch in
        var bytes = 0
        for row in 0..<batch.count where batch.isLive(at: row) {
          let i = Int(batch.columns[1].word(at: row))
          found.append(i)
          let (key, isNull) = (batch.key(at: row), batch.columns[0].isNull(at: row))
          #expect(key == keys[i])
          #expect(isNull == (counts[i] == nil))
          guard let count = counts[i] else { continue }
          let picture = batch.columns[0].bytes(at: row)
          #expect(picture.count == count && picture.first == UInt8(i) && picture.last == UInt8(i))
          bytes += count
        }
        largest = max(largest, bytes)
        return .proceed
      }
      #expect(found == (start..<40).filter { $0 != 12 })
      #expect(largest <= 9 * LongValueTests.megabyte)
    }
  }

  @Test func aScanThatStopsInAPieceStops() throws {
    let engine = try MemoryBackend().open(OpenOptions())
    let (table, _) = try fill(engine, [Int?](repeating: 3 << 20, count: 12))
    let read = try engine.beginRead()
    var batches = 0
    try read.scan(table.id, [table.id("picture")], from: ObjectKey(0), hints: []) { _ in
      batches += 1
      return .stop
    }
    #expect(batches == 1)
  }

  @Test func aWindowOnALongValueIsOfThatRowAlone() throws {
    let engine = try MemoryBackend().open(OpenOptions())
    let (table, keys) = try fill(engine, [5, LongValueTests.megabyte, nil, 2_000])
    let read = try engine.beginRead()
    let windows = try #require(read.powers.windows)
    for (i, count) in [5, LongValueTests.megabyte, nil, 2_000].enumerated() {
      let window = try #require(try windows.window(table.column(table.id("picture")), containing: keys[i]))
      #expect(window.firstKey == keys[i].rawValue && window.vector.count == 1)
      #expect(window.vector.isNull(at: 0) == (count == nil))
      if let count { #expect(window.vector.bytes(at: 0).elementsEqual(repeatElement(UInt8(i), count: count))) }
    }
    // Numbers are still given for the whole run.
    let minutes = try #require(try windows.window(table.column(table.id("minutes")), containing: keys[0]))
    #expect(minutes.vector.count == 4)
  }
}
