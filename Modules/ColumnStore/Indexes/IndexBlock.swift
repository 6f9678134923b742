import StorageInterface

/// A sorted run of index entries in one value (Docs/FileFormat.md, "Index blocks"), read in place.
///
/// Numbers: 1 u8, key width u8, object width u8, 0 u8, count u32, lowest key u64, lowest object u64; then keys and
/// objects as differences from the lowest.
/// Byte strings: 2 u8, offset width u8, object width u8, 0 u8, count u32, lowest object u64, prefix length u32, 0 u32; then the
/// common prefix, objects, count + 1 offsets, and each key's rest after the prefix.
struct IndexBlock {
  static let headerSize = 24

  let count: Int
  let isWord: Bool
  private let keyWidth: Int
  private let objectWidth: Int
  private let lowestKey: UInt64
  private let lowestObject: UInt64
  private let objects: UnsafeRawPointer
  /// Numbers: the keys. Byte strings: the offsets.
  private let keys: UnsafeRawPointer
  private let prefix: UnsafeRawBufferPointer
  private let suffixes: UnsafeRawPointer
  /// Numbers: the last is `count - 1` above the first. If they are distinct, there are no gaps.
  private let isUnbroken: Bool

  /// No table gives out higher keys; the sum of two does not overflow.
  private static let objectMax = UInt64(Int64.max >> 2)

  /// The most equal entries in a block that take no byte each. More get a byte each, so that a count is bounded by the size.
  static let equalMax = 1 << 16
  /// The limit for older builds, which never gave equal entries a byte.
  private static let equalLimit = 1 << 24

  init(_ bytes: UnsafeRawBufferPointer, isWord: Bool) throws(StorageError) {
    guard let start = bytes.baseAddress, bytes.count >= IndexBlock.headerSize,
      start.number(0, as: UInt8.self) == (isWord ? 1 : 2)
    else { throw .corrupt("an index block has no header") }
    self.isWord = isWord
    keyWidth = Int(start.number(1, as: UInt8.self))
    objectWidth = Int(start.number(2, as: UInt8.self))
    count = Int(start.number(4, as: UInt32.self))
    guard PackedNumbers.isWidth(keyWidth), PackedNumbers.isWidth(objectWidth), count > 0 else {
      throw .corrupt("an index block has impossible widths")
    }
    lowestObject = start.number(isWord ? 16 : 8)
    guard lowestObject <= IndexBlock.objectMax else { throw .corrupt("an index block has impossible objects") }
    let data = start + IndexBlock.headerSize
    let size = bytes.count - IndexBlock.headerSize
    // Counts are 32-bit, so none of the products below overflows.
    if isWord {
      guard count * (keyWidth + objectWidth) <= size, keyWidth + objectWidth > 0 || count <= IndexBlock.equalLimit else {
        throw .corrupt("an index block is cut off")
      }
      lowestKey = start.number(8)
      keys = data
      objects = data + count * keyWidth
      prefix = UnsafeRawBufferPointer(start: data, count: 0)
      suffixes = data
      isUnbroken = PackedNumbers.load(keys, keyWidth, count - 1) == UInt64(count - 1)
    } else {
      let prefixCount = Int(start.number(16, as: UInt32.self))
      let fixed = prefixCount + count * objectWidth + (count + 1) * keyWidth
      guard keyWidth == 2 || keyWidth == 4, fixed <= size else { throw .corrupt("an index block is cut off") }
      isUnbroken = false
      lowestKey = 0
      prefix = UnsafeRawBufferPointer(start: data, count: prefixCount)
      objects = data + prefixCount
      keys = objects + count * objectWidth
      suffixes = data + fixed
      var last: UInt64 = 0
      for i in 0...count {
        let offset = PackedNumbers.load(keys, keyWidth, i)
        guard offset >= last else { throw .corrupt("the offsets of an index block go back") }
        last = offset
      }
      guard last <= UInt64(size - fixed) else { throw .corrupt("the offsets of an index block leave it") }
    }
    // Narrower objects cannot exceed the limit.
    guard objectWidth < 8 || (0..<count).allSatisfy({ objects.number($0 &* 8, as: UInt64.self) <= IndexBlock.objectMax }) else {
      throw .corrupt("an index block has impossible objects")
    }
  }

  @inline(__always) func object(at i: Int) -> Int64 {
    Int64(bitPattern: lowestObject &+ PackedNumbers.load(objects, objectWidth, i))
  }

  @inline(__always) func word(at i: Int) -> UInt64 { lowestKey &+ PackedNumbers.load(keys, keyWidth, i) }

  /// The rest of a byte key after the prefix.
  @inline(__always) private func suffix(at i: Int) -> UnsafeRawBufferPointer {
    let from = Int(PackedNumbers.load(keys, keyWidth, i))
    let to = Int(PackedNumbers.load(keys, keyWidth, i + 1))
    return UnsafeRawBufferPointer(start: suffixes + from, count: to - from)
  }

  /// A byte key, assembled in an arena.
  func key(at i: Int, in arena: ByteArena) -> UnsafeRawBufferPointer {
    let rest = suffix(at: i)
    if prefix.isEmpty { return rest }
    return arena.join(prefix, rest)
  }

  /// Decodes the objects of a range of positions.
  func copyObjects(_ range: Range<Int>, to out: UnsafeMutablePointer<Int64>) {
    let base = Int64(bitPattern: lowestObject)
    switch objectWidth {
    case 2: for i in range { out[i &- range.lowerBound] = base &+ Int64(objects.number(i &* 2, as: UInt16.self)) }
    case 4: for i in range { out[i &- range.lowerBound] = base &+ Int64(objects.number(i &* 4, as: UInt32.self)) }
    default: for i in range { out[i &- range.lowerBound] = object(at: i) }
    }
  }

  /// The first position that is not before the cut. O(log n).
  func position(of cut: IndexCut) -> Int {
    if isWord {
      let bound = cut.wordBound
      return position(ofWord: bound.word, object: bound.object)
    }
    var (low, high) = (0, count)
    let arena = ByteArena()
    while low < high {
      let middle = (low + high) / 2
      if cut.isAbove(key(at: middle, in: arena)) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The object of a word in a block of distinct words. O(1) if the words have no gap.
  @inline(__always) func object(ofWord word: UInt64) -> Int64? {
    if word < lowestKey { return nil }
    let offset = word &- lowestKey
    if isUnbroken { return offset < UInt64(count) ? object(at: Int(offset)) : nil }
    if offset < UInt64(count), PackedNumbers.load(keys, keyWidth, Int(offset)) == offset {
      return object(at: Int(offset))
    }
    var (low, rest) = (0, count)
    while rest > 1 {
      let half = rest &>> 1
      low = PackedNumbers.load(keys, keyWidth, low &+ half) <= offset ? low &+ half : low
      rest &-= half
    }
    return PackedNumbers.load(keys, keyWidth, low) == offset ? object(at: low) : nil
  }

  /// The block with an additional word; the bytes before and after it are copied unchanged. Nil if the word does not fit the
  /// block's widths, or the block the limit.
  func inserting(word: UInt64, object: Int64, limit: Int) -> ValueBuffer? {
    let (key, member) = (word &- lowestKey, UInt64(bitPattern: object) &- lowestObject)
    guard isWord, keyWidth + objectWidth > 0 || count < IndexBlock.equalMax, word >= lowestKey,
      object >= Int64(bitPattern: lowestObject), PackedNumbers.width(key) <= keyWidth,
      PackedNumbers.width(member) <= objectWidth
    else { return nil }
    let size = IndexBlock.headerSize + (count + 1) * (keyWidth + objectWidth)
    if size > limit { return nil }
    let place = position(ofWord: word, object: object)
    return ValueBuffer(count: size) { out in
      let out = out.baseAddress.unsafelyUnwrapped  // a buffer of at least a header has an address
      out.store(UInt8(1), at: 0)
      out.store(UInt8(keyWidth), at: 1)
      out.store(UInt8(objectWidth), at: 2)
      out.store(UInt8(0), at: 3)
      out.store(UInt32(truncatingIfNeeded: count + 1), at: 4)
      out.store(lowestKey, at: 8)
      out.store(lowestObject, at: 16)
      let newKeys = out + IndexBlock.headerSize
      let newObjects = newKeys + (count + 1) * keyWidth
      for (from, to, width, number) in [(keys, newKeys, keyWidth, key), (objects, newObjects, objectWidth, member)] {
        to.copyMemory(from: from, byteCount: place * width)
        PackedNumbers.store(number, to, width, place)
        (to + (place + 1) * width).copyMemory(from: from + place * width, byteCount: (count - place) * width)
      }
    }
  }

  /// The first position, from `start` on, whose word is not below a word, or with `isAfter` is above it.
  func position(ofWord word: UInt64, isAfter: Bool = false, from start: Int = 0) -> Int {
    if word < lowestKey { return start }
    let offset = word &- lowestKey
    if isAfter, offset == .max { return count }
    let bound = isAfter ? offset &+ 1 : offset
    return switch keyWidth {
    case 0: bound == 0 ? start : count
    case 1: position(UInt8.self, notBelow: bound, from: start)
    case 2: position(UInt16.self, notBelow: bound, from: start)
    case 4: position(UInt32.self, notBelow: bound, from: start)
    default: position(UInt64.self, notBelow: bound, from: start)
    }
  }

  @inline(__always)
  private func position<T: FixedWidthInteger & UnsignedInteger>(_: T.Type, notBelow bound: UInt64, from start: Int) -> Int {
    var (low, rest) = (start, count &- start)
    while rest > 0 {
      let half = rest &>> 1
      let isBelow = UInt64(keys.number((low &+ half) &* MemoryLayout<T>.size, as: T.self)) < bound
      low = isBelow ? low &+ half &+ 1 : low
      rest = isBelow ? rest &- half &- 1 : half
    }
    return low
  }

  /// The first position that is not below (word, object).
  @inline(__always) func position(ofWord word: UInt64, object bound: Int64) -> Int {
    if word < lowestKey { return 0 }
    let offset = word &- lowestKey
    // Compare differences, not sums: no addition per step.
    var (low, high) = (0, count)
    while low < high {
      let middle = (low &+ high) &>> 1
      let key = PackedNumbers.load(keys, keyWidth, middle)
      let isBelow = key < offset || (key == offset && (bound == .max || (bound != .min && object(at: middle) < bound)))
      if isBelow { low = middle &+ 1 } else { high = middle }
    }
    return low
  }
}

extension ByteArena {
  /// Concatenates two byte strings in new memory.
  func join(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    fill(a.count + b.count) { out in
      if let start = a.baseAddress { out.copyMemory(from: start, byteCount: a.count) }
      if let start = b.baseAddress { (out + a.count).copyMemory(from: start, byteCount: b.count) }
    }
  }
}
