import StorageInterface
import Testing
import VivariumTestSupport

@testable import ColumnStore

@Suite struct IndexBlockTests {
  @Test func numbersAndObjectsComeBackInOrder() throws {
    var random = SeededGenerator.forTest()
    var entries = (0..<300).map { _ in
      WordIndexEntry(word: UInt64(random.below(40)) << 50, packed: Int64(random.below(1_000_000)) << 1)
    }
    WordIndexEntry.sort(&entries)
    let block = try IndexBlock(WordIndexEntry.encode(entries[...]).keptBytes, isWord: true)
    #expect((0..<block.count).map { block.word(at: $0) } == entries.map(\.word))
    #expect((0..<block.count).map { block.object(at: $0) } == entries.map(\.object))
    for entry in entries {
      let position = block.position(ofWord: entry.word, object: .min)
      #expect(position == entries.firstIndex { $0.word >= entry.word })
    }
  }

  @Test func aNumberPutIntoABlockIsAsIfItHadAlwaysBeenThere() throws {
    var random = SeededGenerator.forTest()
    for spread in [1, 200, 60_000, 3_000_000_000] {
      var entries = (0..<200).map { _ in
        WordIndexEntry(word: 1 << 63 + UInt64(random.below(spread)), packed: Int64(5 + random.below(spread)) << 1)
      }
      WordIndexEntry.sort(&entries)
      let block = try IndexBlock(WordIndexEntry.encode(entries[...]).keptBytes, isWord: true)
      for _ in 0..<50 {
        let new = WordIndexEntry(word: 1 << 63 + UInt64(random.below(spread * 2)), packed: Int64(random.below(spread * 2)) << 1)
        guard let made = WordIndexEntry.inserting(new, into: block, limit: 4_080) else { continue }
        var all = entries + [new]
        WordIndexEntry.sort(&all)
        let grown = try IndexBlock(made.keptBytes, isWord: true)
        #expect((0..<grown.count).map { grown.word(at: $0) } == all.map(\.word))
        #expect((0..<grown.count).map { grown.object(at: $0) } == all.map(\.object))
      }
      #expect(WordIndexEntry.inserting(entries[7], into: block, limit: 4_080) != nil)
      // Equal numbers take no bytes, so there is always room for one more.
      let size = WordIndexEntry.encode(entries[...]).bytes.count
      if spread > 1 { #expect(WordIndexEntry.inserting(entries[7], into: block, limit: size) == nil) }
    }
  }

  @Test func sortingAgreesWithComparing() {
    var random = SeededGenerator.forTest()
    for count in [0, 1, 2, 511, 512, 5_000] {
      let entries = (0..<count).map { _ in
        WordIndexEntry(
          word: random.oneIn(2) ? UInt64(random.below(9)) : UInt64(bitPattern: Int64(random.below(1 << 40)) << 20),
          packed: Int64(random.below(200)))
      }
      var sorted = entries
      WordIndexEntry.sort(&sorted)
      let expected = entries.sorted { WordIndexEntry.isOrdered($0, $1) }
      #expect(sorted.map(\.word) == expected.map(\.word))
      #expect(sorted.map(\.packed) == expected.map(\.packed))
    }
  }

  @Test func aSeparatorLiesBetweenItsNeighbours() throws {
    let a = WordIndexEntry(word: 0x0102_0304_0506_0708, packed: 4)
    let b = WordIndexEntry(word: 0x0102_0309_0000_0000, packed: 2)
    #expect(WordIndexEntry.separator(a, b) == [1, 2, 3, 9])
    #expect(WordIndexEntry.separator(a, a) == nil)
    let c = WordIndexEntry(word: a.word, packed: 6)
    #expect(WordIndexEntry.separator(a, c)?.count == 16)
  }

  @Test func damagedBlocksAreRefusedOrReadWithinTheirBytes() {
    var random = SeededGenerator.forTest()
    let arena = ByteArena()
    var entries = (0..<60).map { i in
      BytesIndexEntry(arena.copy(ValueBuffer(Array("key \(i * 37 % 60)".utf8) + [0, 0]).keptBytes), packed: Int64(i) << 1)
    }
    BytesIndexEntry.sort(&entries)
    let good = Array(BytesIndexEntry.encode(entries[...]).keptBytes)
    var accepted = 0
    for _ in 0..<4_000 {
      var bytes = good
      for _ in 0...random.below(3) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
      if random.oneIn(3) { bytes.removeLast(random.below(bytes.count)) }
      let damaged = ValueBuffer(bytes)
      defer { withExtendedLifetime(damaged) {} }
      guard let block = try? IndexBlock(damaged.bytes, isWord: false) else { continue }
      accepted += 1
      // A read behind the end would find something, and end nothing.
      func number(_ at: Int, _ width: Int) -> Int { bytes[at..<at + width].reversed().reduce(0) { $0 << 8 | Int($1) } }
      let (offsetWidth, objectWidth) = (Int(bytes[1]), Int(bytes[2]))
      let fixed = number(16, 4) + block.count * objectWidth + (block.count + 1) * offsetWidth
      #expect(IndexBlock.headerSize + fixed <= bytes.count)
      #expect(IndexBlock.headerSize + fixed + number(IndexBlock.headerSize + fixed - offsetWidth, offsetWidth) <= bytes.count)
      for i in 0..<block.count {
        _ = block.object(at: i)
        for byte in block.key(at: i, in: arena) { _ = byte }
      }
    }
    // Most damage to keys and objects is not the block's to see.
    #expect(accepted > 100)
  }

  @Test func damagedBlocksOfNumbersAreRefusedOrReadWithinTheirBytes() {
    var random = SeededGenerator.forTest()
    for spread in [1, 200, 60_000, 3_000_000_000] {
      var entries = (0..<60).map { _ in
        WordIndexEntry(word: 1 << 63 + UInt64(random.below(spread)), packed: Int64(random.below(spread)) << 1)
      }
      WordIndexEntry.sort(&entries)
      let good = Array(WordIndexEntry.encode(entries[...]).keptBytes)
      var accepted = 0
      for _ in 0..<2_000 {
        var bytes = good
        for _ in 0...random.below(3) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
        if random.oneIn(3) { bytes.removeLast(random.below(bytes.count)) }
        let damaged = ValueBuffer(bytes)
        defer { withExtendedLifetime(damaged) {} }
        guard let block = try? IndexBlock(damaged.bytes, isWord: true) else { continue }
        accepted += 1
        // A read behind the end would find something, and end nothing.
        let widths = Int(bytes[1]) + Int(bytes[2])
        #expect(IndexBlock.headerSize + block.count * widths <= bytes.count)
        // Equal entries take no bytes, and there may be said to be millions.
        for i in Set([0, block.count - 1] + (0..<min(block.count, 100))) { _ = (block.word(at: i), block.object(at: i)) }
        let position = block.position(ofWord: UInt64(random.below(spread)), object: .min)
        #expect((0...block.count).contains(position))
      }
      #expect(accepted > 100)
    }
  }
}

extension ValueBuffer {
  /// The bytes, kept for ever: tests point into them.
  var keptBytes: UnsafeRawBufferPointer {
    _ = Unmanaged.passRetained(self)
    return bytes
  }
}
