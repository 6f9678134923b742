import StorageInterface

/// The location of the rows of a bytes column, for one width of offsets.
struct BytesRows<Offset: FixedWidthInteger & UnsignedInteger> {
  let values: UnsafeRawPointer
  let offsets: UnsafeRawPointer
  let count: Int

  @inline(__always) func offset(_ row: Int) -> Int {
    Int(truncatingIfNeeded: offsets.loadUnaligned(fromByteOffset: row &* MemoryLayout<Offset>.size, as: Offset.self))
  }
  @inline(__always) func bytes(_ row: Int) -> UnsafeRawBufferPointer {
    let start = offset(row)
    return UnsafeRawBufferPointer(start: values + start, count: offset(row &+ 1) &- start)
  }
}

extension Kernels {
  /// Tests a column of strings, data or UUIDs.
  static func bytes(_ vector: ColumnVector, _ rows: Int, _ test: BytesTest, _ flags: Flags, into mask: Mask) {
    switch vector.layout {
    case .bytes16: bytes(UInt16.self, vector, rows, test, flags, into: mask)
    case .bytes32: bytes(UInt32.self, vector, rows, test, flags, into: mask)
    case .fixed16:
      for row in 0..<rows {
        flags[row] = test.matches(UnsafeRawBufferPointer(start: vector.values + row &* 16, count: 16)) ? 1 : 0
      }
      pack(flags, rows, into: mask)
    default:
      let constant = UnsafeRawBufferPointer(start: vector.values, count: Int(truncatingIfNeeded: vector.base))
      if test.matches(constant) { Masks.fill(mask, rows: rows) } else { Masks.clear(mask, Masks.words(for: rows)) }
    }
  }

  @inline(__always)
  private static func bytes<Offset: FixedWidthInteger & UnsignedInteger>(
    _: Offset.Type, _ vector: ColumnVector, _ rows: Int, _ test: BytesTest, _ flags: Flags, into mask: Mask
  ) {
    guard let offsets = vector.offsets else { return Masks.clear(mask, Masks.words(for: rows)) }
    let area = BytesRows<Offset>(values: vector.values, offsets: offsets, count: rows)
    switch test {
    case .equal(let needle):
      if needle.isEmpty {
        for row in 0..<rows { flags[row] = area.offset(row) == area.offset(row &+ 1) ? 1 : 0 }
      } else {
        begins(area, needle, isWhole: true, flags)
      }
    case .prefix(let needle): begins(area, needle, isWhole: false, flags)
    case .contains(let needle):
      flags.update(repeating: 0, count: rows)
      contains(area, needle, flags)
    case .suffix(let needle): for row in 0..<rows { flags[row] = Bytes.ends(area.bytes(row), needle) ? 1 : 0 }
    case .set(let set): for row in 0..<rows { flags[row] = Bytes.contains(set, area.bytes(row)) ? 1 : 0 }
    case .range(let range): for row in 0..<rows { flags[row] = range.contains(area.bytes(row)) ? 1 : 0 }
    case .value(let test): for row in 0..<rows { flags[row] = test.matches(area.bytes(row)) ? 1 : 0 }
    case .text(let test): for row in 0..<rows { flags[row] = test.matches(area.bytes(row)) ? 1 : 0 }
    }
    pack(flags, rows, into: mask)
  }

  /// Rows that begin with the needle, or equal it. Compares the first eight bytes as one word, and the rest only if they agree.
  @inline(__always)
  private static func begins<Offset>(_ area: BytesRows<Offset>, _ needle: [UInt8], isWhole: Bool, _ flags: Flags) {
    let end = area.offset(area.count)
    needle.withUnsafeBytes { needle in
      let length = needle.count
      var head: UInt64 = 0
      let headLength = min(8, length)
      withUnsafeMutableBytes(of: &head) { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: needle[..<headLength])) }
      // The first bytes in memory are a word's low ones on every supported platform.
      let keep: UInt64 = headLength == 8 ? ~0 : (1 &<< UInt64(headLength &* 8)) &- 1
      // From here on, an eight-byte load could read past the area's end.
      var safe = area.count
      while safe > 0, area.offset(safe &- 1) &+ 8 > end { safe &-= 1 }
      var start = area.offset(0)
      for row in 0..<safe {
        let next = area.offset(row &+ 1)
        let word = area.values.loadUnaligned(fromByteOffset: start, as: UInt64.self)
        let size = next &- start
        let fits: UInt8 = isWhole ? (size == length ? 1 : 0) : (size >= length ? 1 : 0)
        flags[row] = ((word ^ head) & keep == 0 ? 1 : 0) & fits
        start = next
      }
      for row in safe..<area.count {
        let bytes = area.bytes(row)
        let fits = isWhole ? bytes.count == length : bytes.count >= length
        flags[row] = fits && Bytes.equal(UnsafeRawBufferPointer(rebasing: bytes[..<length]), needle) ? 1 : 0
      }
      if length <= 8 { return }
      for row in 0..<safe where flags[row] != 0 {
        let bytes = UnsafeRawBufferPointer(start: area.values + area.offset(row), count: length)
        if !Bytes.equal(bytes, needle) { flags[row] = 0 }
      }
    }
  }

  /// Rows that contain the needle. Searches the bytes of all rows as one text, 64 positions at a time, for the needle's first
  /// and last byte at their distance; a candidate is compared in full and must lie within one row.
  @inline(__always)
  private static func contains<Offset>(_ area: BytesRows<Offset>, _ needle: [UInt8], _ flags: Flags) {
    needle.withUnsafeBytes { needle in
      let length = needle.count
      let end = area.offset(area.count)
      var position = area.offset(0)
      let stop = end &- length  // the last position where the needle fits
      let (first, last) = (needle[0], needle[length &- 1])
      var row = 0
      @inline(__always) func test(_ at: Int) -> Int {
        while area.offset(row &+ 1) <= at { row &+= 1 }
        let rowEnd = area.offset(row &+ 1)
        if at &+ length > rowEnd { return at &+ 1 }
        guard Bytes.equal(UnsafeRawBufferPointer(start: area.values + at, count: length), needle) else { return at &+ 1 }
        flags[row] = 1
        return rowEnd
      }
      withUnsafeTemporaryAllocation(byteCount: 64, alignment: 16) { hits in
        let raw = UnsafeRawPointer(hits.baseAddress.unsafelyUnwrapped)  // 64 bytes always have an address
        let bytes = hits.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self)
        while position &+ 63 <= stop {
          let heads = area.values + position
          let tails = heads + (length &- 1)
          for i in 0..<64 {
            let head = heads.load(fromByteOffset: i, as: UInt8.self) ^ first
            let tail = tails.load(fromByteOffset: i, as: UInt8.self) ^ last
            bytes[i] = head | tail == 0 ? 1 : 0
          }
          var any: UInt64 = 0
          for group in 0..<8 { any |= raw.load(fromByteOffset: group &* 8, as: UInt64.self) }
          var next = position &+ 64
          if any != 0 {
            var from = position
            for i in 0..<64 where bytes[i] != 0 && position &+ i >= from { from = test(position &+ i) }
            next = max(next, from)
          }
          position = next
        }
      }
      while position <= stop {
        let head = area.values.load(fromByteOffset: position, as: UInt8.self)
        let tail = area.values.load(fromByteOffset: position &+ length &- 1, as: UInt8.self)
        position = head == first && tail == last ? test(position) : position &+ 1
      }
    }
  }
}
