import StorageInterface

/// An index entry on its way into or out of a block: a key, an object, and whether it is added or removed. Ordered by key, then
/// object, additions first.
protocol PendingIndexEntry {
  /// The first eight bytes of the key, high byte first.
  var word: UInt64 { get }
  /// The object times two, plus one for a removal.
  var packed: Int64 { get set }

  static func isOrdered(_ a: Self, _ b: Self) -> Bool
  static func haveSameKey(_ a: Self, _ b: Self) -> Bool
  /// The key of a byte entry; nil for words.
  var keyBytes: UnsafeRawBufferPointer? { get }
  /// Sorts by `isOrdered`.
  static func sort(_ entries: inout [Self])
}

/// Entries in the forms that blocks hold.
protocol BlockIndexEntry: PendingIndexEntry {
  /// The block of the entry, whether or not it is stored.
  func block(in fences: IndexFences) -> Int
  /// Whether the entry's key is before a cut.
  func isBelow(_ cut: IndexCut, _ bound: (word: UInt64, object: Int64)) -> Bool
  /// An entry of a block. Byte strings are copied to `arena`, or stay in the block's memory.
  static func entry(of block: IndexBlock, _ i: Int, arena: ByteArena) -> Self
  /// The shortest bytes above `a` and not above `b` in entry order; nil if the two are equal.
  static func separator(_ a: Self, _ b: Self) -> [UInt8]?
  /// How many of `entries` from the first on fit a block of `limit` bytes; at least one.
  static func fitting(_ entries: ArraySlice<Self>, limit: Int) -> Int
  static func encode(_ entries: ArraySlice<Self>) -> ValueBuffer
  /// A block with an additional entry; nil if it must be re-encoded, or would exceed `limit`.
  static func inserting(_ entry: Self, into block: IndexBlock, limit: Int) -> ValueBuffer?
  /// Whether the entries are in the order that `encode` relies on.
  static func areOrdered(_ entries: [Self]) -> Bool
}

extension BlockIndexEntry {
  /// Reads the entries of a block.
  static func read(_ block: IndexBlock, into out: inout [Self], arena: ByteArena) {
    out.reserveCapacity(out.count + block.count)
    for i in 0..<block.count { out.append(entry(of: block, i, arena: arena)) }
  }

  /// Orders by key and object only.
  @inline(__always) static func isBelow(_ a: Self, _ b: Self) -> Bool {
    var (a, b) = (a, b)
    a.packed &= ~1
    b.packed &= ~1
    return isOrdered(a, b)
  }
}

extension PendingIndexEntry {
  @inline(__always) var object: Int64 { packed >> 1 }
  @inline(__always) var isRemoval: Bool { packed & 1 == 1 }
}

/// An entry with a word as its key.
struct WordIndexEntry: BlockIndexEntry {
  var word: UInt64
  var packed: Int64

  @inline(__always) static func isOrdered(_ a: Self, _ b: Self) -> Bool {
    a.word != b.word ? a.word < b.word : a.packed < b.packed
  }
  @inline(__always) static func haveSameKey(_ a: Self, _ b: Self) -> Bool { a.word == b.word }

  var keyBytes: UnsafeRawBufferPointer? { nil }
  @inline(__always) func block(in fences: IndexFences) -> Int { fences.block(ofWord: word, object: object) }

  @inline(__always) func isBelow(_ cut: IndexCut, _ bound: (word: UInt64, object: Int64)) -> Bool {
    word != bound.word ? word < bound.word : object < bound.object
  }

  @inline(__always) static func entry(of block: IndexBlock, _ i: Int, arena: ByteArena) -> Self {
    WordIndexEntry(word: block.word(at: i), packed: block.object(at: i) << 1)
  }

  static func separator(_ a: Self, _ b: Self) -> [UInt8]? {
    var bytes: [UInt8] = []
    IndexKeyCoding.append(ordinal: b.word, to: &bytes)
    if a.word != b.word { return Array(bytes[0...(a.word ^ b.word).leadingZeroBitCount / 8]) }
    if a.object == b.object { return nil }
    IndexKeyCoding.append(object: b.object, to: &bytes)
    return Array(bytes[0...8 + (a.object ^ b.object).leadingZeroBitCount / 8])
  }

  static func fitting(_ entries: ArraySlice<Self>, limit: Int) -> Int {
    let first = entries[entries.startIndex]
    var (low, high) = (first.object, first.object)
    var count = 0
    for entry in entries {
      low = min(low, entry.object)
      high = max(high, entry.object)
      let width =
        PackedNumbers.width(entry.word &- first.word) + PackedNumbers.width(UInt64(bitPattern: high &- low))
      if count > 0, IndexBlock.headerSize + (count + 1) * width > limit { break }
      count += 1
    }
    return count
  }

  static func encode(_ entries: ArraySlice<Self>) -> ValueBuffer {
    // Requires at least one entry.
    let first = entries[entries.startIndex]
    var (low, high) = (first.object, first.object)
    for entry in entries {
      low = min(low, entry.object)
      high = max(high, entry.object)
    }
    let keyWidth = PackedNumbers.width(entries[entries.endIndex - 1].word &- first.word)
    var objectWidth = PackedNumbers.width(UInt64(bitPattern: high &- low))
    if keyWidth + objectWidth == 0, entries.count > IndexBlock.equalMax { objectWidth = 1 }
    return ValueBuffer(count: IndexBlock.headerSize + entries.count * (keyWidth + objectWidth)) { [objectWidth] out in
      let out = out.baseAddress.unsafelyUnwrapped  // a buffer of at least a header has an address
      out.store(UInt8(1), at: 0)
      out.store(UInt8(keyWidth), at: 1)
      out.store(UInt8(objectWidth), at: 2)
      out.store(UInt8(0), at: 3)
      out.store(UInt32(truncatingIfNeeded: entries.count), at: 4)
      out.store(first.word, at: 8)
      out.store(UInt64(bitPattern: low), at: 16)
      let keys = out + IndexBlock.headerSize
      let objects = keys + entries.count * keyWidth
      entries.withUnsafeBufferPointer { entries in
        for i in 0..<entries.count {
          PackedNumbers.store(entries[i].word &- first.word, keys, keyWidth, i)
          PackedNumbers.store(UInt64(bitPattern: entries[i].object &- low), objects, objectWidth, i)
        }
      }
    }
  }

  /// Words are encoded in any order that `sort` produces.
  static func areOrdered(_ entries: [Self]) -> Bool { true }

  static func inserting(_ entry: Self, into block: IndexBlock, limit: Int) -> ValueBuffer? {
    block.inserting(word: entry.word, object: entry.object, limit: limit)
  }

  static func sort(_ entries: inout [Self]) { IndexEntrySort.sort(&entries) }
}

/// An entry with a byte string as its key. The string is in an arena or a block that outlives the entry.
struct BytesIndexEntry: BlockIndexEntry {
  var word: UInt64
  var packed: Int64
  var start: UnsafeRawPointer
  var count: Int

  init(_ key: UnsafeRawBufferPointer, packed: Int64) {
    // Keys of bytes are never empty: each component writes at least its end.
    start = key.baseAddress ?? UnsafeRawPointer(Bits.allSet)
    count = key.count
    self.packed = packed
    var word: UInt64 = 0
    for i in 0..<8 { word = word << 8 | (i < key.count ? UInt64(key[i]) : 0) }
    self.word = word
  }

  var key: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

  static func isOrdered(_ a: Self, _ b: Self) -> Bool {
    if a.word != b.word { return a.word < b.word }
    let order = compareBytes(a.key, b.key)
    return order != 0 ? order < 0 : a.packed < b.packed
  }

  static func haveSameKey(_ a: Self, _ b: Self) -> Bool { a.word == b.word && compareBytes(a.key, b.key) == 0 }

  var keyBytes: UnsafeRawBufferPointer? { key }

  func block(in fences: IndexFences) -> Int {
    var bytes = Array(key)
    IndexKeyCoding.append(object: object, to: &bytes)
    return bytes.withUnsafeBytes { fences.block(ofEntry: $0) }
  }

  func isBelow(_ cut: IndexCut, _ bound: (word: UInt64, object: Int64)) -> Bool { cut.isAbove(key) }

  static func entry(of block: IndexBlock, _ i: Int, arena: ByteArena) -> Self {
    BytesIndexEntry(block.key(at: i, in: arena), packed: block.object(at: i) << 1)
  }

  static func separator(_ a: Self, _ b: Self) -> [UInt8]? {
    if let at = commonPrefix(a.key, b.key), at < b.count { return Array(b.key[0...at]) }
    // No key is a prefix of another, so the keys are equal and the objects decide.
    if a.object == b.object { return nil }
    var bytes = Array(b.key)
    IndexKeyCoding.append(object: b.object, to: &bytes)
    return Array(bytes[0...b.count + (a.object ^ b.object).leadingZeroBitCount / 8])
  }

  /// Where two byte strings first differ; nil when they are equal.
  private static func commonPrefix(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int? {
    let common = min(a.count, b.count)
    var i = 0
    while i < common, a[i] == b[i] { i += 1 }
    return i == a.count && i == b.count ? nil : i
  }

  static func fitting(_ entries: ArraySlice<Self>, limit: Int) -> Int {
    let first = entries[entries.startIndex]
    var (low, high) = (first.object, first.object)
    var (count, keyBytes) = (0, 0)
    for entry in entries {
      low = min(low, entry.object)
      high = max(high, entry.object)
      let prefix = commonPrefix(first.key, entry.key) ?? entry.count
      keyBytes += entry.count
      let n = count + 1
      let width = PackedNumbers.width(UInt64(bitPattern: high &- low))
      let suffixes = keyBytes - n * prefix
      let offsetWidth = suffixes <= Int(UInt16.max) ? 2 : 4
      if count > 0, IndexBlock.headerSize + prefix + n * width + (n + 1) * offsetWidth + suffixes > limit { break }
      count = n
    }
    return count
  }

  static func encode(_ entries: ArraySlice<Self>) -> ValueBuffer {
    let first = entries[entries.startIndex]
    let last = entries[entries.endIndex - 1]
    var (low, high, keyBytes) = (first.object, first.object, 0)
    for entry in entries {
      low = min(low, entry.object)
      high = max(high, entry.object)
      keyBytes += entry.count
    }
    let prefix = commonPrefix(first.key, last.key) ?? first.count
    let objectWidth = PackedNumbers.width(UInt64(bitPattern: high &- low))
    let suffixes = keyBytes - entries.count * prefix
    let offsetWidth = suffixes <= Int(UInt16.max) ? 2 : 4
    let fixed = IndexBlock.headerSize + prefix + entries.count * objectWidth + (entries.count + 1) * offsetWidth
    return ValueBuffer(count: fixed + suffixes) { out in
      let out = out.baseAddress.unsafelyUnwrapped  // a buffer of at least a header has an address
      out.store(UInt8(2), at: 0)
      out.store(UInt8(offsetWidth), at: 1)
      out.store(UInt8(objectWidth), at: 2)
      out.store(UInt8(0), at: 3)
      out.store(UInt32(truncatingIfNeeded: entries.count), at: 4)
      out.store(UInt64(bitPattern: low), at: 8)
      out.store(UInt32(truncatingIfNeeded: prefix), at: 16)
      out.store(UInt32(0), at: 20)
      (out + IndexBlock.headerSize).copyMemory(from: first.start, byteCount: prefix)
      let objects = out + IndexBlock.headerSize + prefix
      let offsets = objects + entries.count * objectWidth
      var used = 0
      for (i, entry) in entries.enumerated() {
        PackedNumbers.store(UInt64(bitPattern: entry.object &- low), objects, objectWidth, i)
        PackedNumbers.store(UInt64(used), offsets, offsetWidth, i)
        (out + fixed + used).copyMemory(from: entry.start + prefix, byteCount: entry.count - prefix)
        used += entry.count - prefix
      }
      PackedNumbers.store(UInt64(used), offsets, offsetWidth, entries.count)
    }
  }

  static func sort(_ entries: inout [Self]) { entries.sort(by: isOrdered) }

  /// Adjacent keys share prefixes, so the block must be re-encoded.
  static func inserting(_ entry: Self, into block: IndexBlock, limit: Int) -> ValueBuffer? { nil }

  /// The common prefix of the first and the last key is omitted from all keys between them, which requires their order.
  static func areOrdered(_ entries: [Self]) -> Bool {
    for i in entries.indices.dropFirst() where isOrdered(entries[i], entries[i - 1]) { return false }
    return true
  }
}
