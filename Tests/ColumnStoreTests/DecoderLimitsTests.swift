import StorageInterface
import StorageMemory
import StoreValues
import Testing
import VivariumTestSupport

@testable import ColumnStore

/// Numbers in entries that stand for more than the entries hold.
@Suite struct DecoderLimitsTests {
  private func block(count: UInt32, keyWidth: UInt8, objectWidth: UInt8, data: Int = 0) -> ValueBuffer {
    var bytes: [UInt8] = [1, keyWidth, objectWidth, 0]
    withUnsafeBytes(of: count.littleEndian) { bytes += $0 }
    return ValueBuffer(bytes + [UInt8](repeating: 0, count: 16 + data))
  }

  private func refuses(_ body: () throws -> Void) {
    let error = #expect(throws: StorageError.self) { try body() }
    #expect(error?.code == .corrupt)
  }

  @Test func aBlockOfEqualEntriesHasNoMoreThanBuildsWrite() throws {
    refuses { _ = try IndexBlock(block(count: .max, keyWidth: 0, objectWidth: 0).keptBytes, isWord: true) }
    refuses { _ = try IndexBlock(block(count: .max, keyWidth: 0, objectWidth: 1).keptBytes, isWord: true) }
    #expect(try IndexBlock(block(count: 1_000, keyWidth: 0, objectWidth: 0).keptBytes, isWord: true).count == 1_000)
    // Many of them are given bytes, so that the count can be held against these.
    let many = [WordIndexEntry](repeating: WordIndexEntry(word: 7, packed: 8), count: IndexBlock.equalMax + 1)
    let encoded = WordIndexEntry.encode(many[...])
    #expect(encoded.count > many.count)
    let read = try IndexBlock(encoded.keptBytes, isWord: true)
    #expect(read.count == many.count && read.object(at: many.count - 1) == 4)
  }

  @Test func aListWithoutElementsHasNoBytes() {
    for form in [ColumnShape.Form.integer, .bytes, .fixed16] {
      refuses { _ = try ListValue(ValueBuffer([1, 0, 0]).keptBytes, form: form) }
      refuses { _ = try ListValue(ValueBuffer([1, 255, 255, 0, 0, 0]).keptBytes, form: form) }
    }
    refuses { _ = try ListValue.count(ValueBuffer([1, 0, 0]).keptBytes) }
    refuses { _ = try ListValue.count(ValueBuffer([1, 9, 0, 1]).keptBytes) }
    // An element that would lie in an entry of its own, which elements do not have.
    refuses { _ = try ListValue(ValueBuffer([1, 1, 0, 1]).keptBytes, form: .bytes) }
  }

  @Test func theDirectoryOfAListSaysHowLongItIs() throws {
    func directory(_ counts: [UInt32]) -> UnsafeRawBufferPointer {
      var bytes: [UInt8] = []
      for (i, count) in counts.enumerated() {
        for number in [UInt32(i + 1), count] { withUnsafeBytes(of: number.littleEndian) { bytes += $0 } }
      }
      return ValueBuffer(bytes).keptBytes
    }
    #expect(try SegmentDirectory.decode(directory([3, 500, 4_096]), count: 4_599).count == 3)
    refuses { try SegmentDirectory.check(directory([3, 4]), count: 1 << 60) }
    refuses { try SegmentDirectory.check(directory([3, 0]), count: 3) }
    refuses { try SegmentDirectory.check(directory([3, .max]), count: Int(UInt32.max) + 3) }
    // More segments than elements, before anything is made for them.
    refuses { try SegmentDirectory.check(directory([UInt32](repeating: 1, count: 100)), count: 99) }
  }

  @Test func entriesOutOfOrderAreNotWrittenAgain() {
    let arena = ByteArena()
    let keys = ["long common prefix b", "x", "long common prefix a"].map { arena.copy(ValueBuffer(Array($0.utf8)).keptBytes) }
    let entries = keys.enumerated().map { BytesIndexEntry($0.element, packed: Int64($0.offset) << 1) }
    #expect(!BytesIndexEntry.areOrdered(entries))
    #expect(BytesIndexEntry.areOrdered(entries.sorted { BytesIndexEntry.isOrdered($0, $1) }))
  }

  @Test func aColumnOfNumbersHasNothingOutsideIt() throws {
    let column = EditedColumn(form: .integer, capacity: 3)
    for word in [1, 2, 3] { column.append(word: Int64(word), isNull: false) }
    var bytes = Array(ColumnEncoder.encode(column).keptBytes)
    bytes[1] |= ColumnHeader.hasExternal
    bytes.insert(contentsOf: [UInt8](repeating: 255, count: 8), at: ColumnHeader.size)
    refuses { _ = try DecodedColumn(ValueBuffer(bytes).keptBytes, form: .integer, count: 3) }
  }

  @Test func aDefaultIsNotCopiedForEachRow() throws {
    let long = Value.string(String(repeating: "d", count: 1 << 20))
    let engine = try MemoryBackend().open(OpenOptions())
    let schema = Schema([ObjectSchema("T", .scalar("x", .int64))])
    let table = try #require(try engine.adopt(schema)["T"])
    try engine.write { _ = try $0.insert(table) }
    let wider = try #require(
      try engine.adopt(Schema([ObjectSchema("T", .scalar("x", .int64), .scalar("s", .string, default: long))]))["T"])
    // Rows between the last one and the next hold the default, and nobody's bytes.
    try engine.write { write in
      try write.reserveKeys(in: table.id, below: ObjectKey(900))
      _ = try write.insert(wider, ["s": .string("own")])
      #expect(try write.value(wider.column(named: "s"), ObjectKey(1)) == long)
      try write.set(wider.column(named: "s"), ObjectKey(1), .string("other"))
    }
    let read = try engine.beginRead()
    #expect(try read.value(wider.column(named: "s"), ObjectKey(1)) == .string("other"))
    #expect(try read.value(wider.column(named: "s"), ObjectKey(900)) == .string("own"))
  }
}
