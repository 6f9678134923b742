import StorageInterface
import StoreValues

/// The first words of an index's fences, in raw memory that its maker frees.
struct FenceWords {
  let count: Int
  private let start: UnsafeMutablePointer<UInt64>

  init(_ words: [UInt64]) {
    count = words.count
    start = .allocate(capacity: max(count, 1))
    for (i, word) in words.enumerated() { (start + i).initialize(to: word) }
  }

  func deallocate() { start.deallocate() }

  var all: UnsafeBufferPointer<UInt64> { UnsafeBufferPointer(start: start, count: count) }

  /// `i` must be below `count`.
  @inline(__always) subscript(i: Int) -> UInt64 { start[i] }

  /// The block of a word in an index of distinct words. Fences of consecutive keys are evenly spaced, so the position is
  /// interpolated first. Then O(1), otherwise O(log n).
  @inline(__always) func block(ofWord word: UInt64) -> Int {
    guard count > 1, word >= start[1] else { return 0 }
    // The first fence may be empty: the words begin with the second.
    let last = count &- 1
    if word >= start[last] { return last }
    let share = Double(word &- start[1]) / Double(start[last] &- start[1])
    // Between 0 and 1, as `word` lies between the two.
    let guess = 1 &+ Int(share * Double(last &- 1))
    for i in Swift.max(1, guess &- 1)...Swift.min(last, guess &+ 1) {
      if start[i] <= word, i == last || word < start[i &+ 1] { return i }
    }
    var (low, rest) = (0, count)
    while rest > 1 {
      let half = rest &>> 1
      low = start[low &+ half] <= word ? low &+ half : low
      rest &-= half
    }
    return low
  }
}

/// Some hundred words in 4,096 bits: "not there" is certain. Raw memory that its maker frees.
struct WordFilter {
  private static let bitCount = 4_096
  private let bits: UnsafeMutablePointer<UInt64>

  init() {
    bits = .allocate(capacity: WordFilter.bitCount / 64)
    bits.initialize(repeating: 0, count: WordFilter.bitCount / 64)
  }

  func deallocate() { bits.deallocate() }

  @inline(__always) private static func place(_ word: UInt64) -> Int {
    Int(truncatingIfNeeded: FingerprintSet.fingerprint(word)) & (bitCount &- 1)
  }

  func insert(_ word: UInt64) { Bits.set(bits, WordFilter.place(word)) }

  @inline(__always) func mayContain(_ word: UInt64) -> Bool { Bits.test(bits, WordFilter.place(word)) }
}

/// A unique index of integers as raw memory: lookups count no references. Valid as long as its reader, and until the first
/// change of the index.
struct DirectIndex {
  let index: IndexID
  private let fences: FenceWords
  private let blocks: BlockTable
  /// Of the numbers that fresh rows have, whose entries are in no block.
  private let fresh: WordFilter?

  init(_ index: IndexID, _ reader: IndexReader, fresh: WordFilter?) {
    self.index = index
    fences = reader.fences.words
    blocks = reader.blocks
    self.fresh = fresh
  }

  /// The object of a word: 0 if there is none, nil if the block was not read yet, or if a fresh row may have the word.
  @inline(__always) func object(ofWord word: UInt64) -> Int64? {
    if let fresh, fresh.mayContain(word) { return nil }
    guard fences.count > 0, let block = blocks.place(fences.block(ofWord: word)) else { return nil }
    return block.pointee?.object(ofWord: word) ?? 0
  }
}
