/// A test of the bytes of a string, data or UUID. Bytes are equal and ordered as by `memcmp`.
enum BytesTest: Sendable {
  case equal([UInt8])
  /// Sorted, without duplicates.
  case set([[UInt8]])
  case range(BytesRange)
  /// The operands of the following three are never empty: an empty one becomes `range(.all)`.
  case prefix([UInt8])
  case suffix([UInt8])
  case contains([UInt8])
  /// Tests that bytes alone do not decide.
  indirect case text(TextTest)
  /// Tests of bytes that encode decimals or mixed values.
  indirect case value(ValueTest)

  var cost: Int {
    switch self {
    case .equal, .prefix: 6
    case .suffix, .range: 8
    case .set: 12
    case .contains: 20
    case .text, .value: 200
    }
  }

  func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
    switch self {
    case .equal(let other): return Bytes.equal(bytes, other)
    case .set(let set): return Bytes.contains(set, bytes)
    case .range(let range): return range.contains(bytes)
    case .prefix(let needle): return Bytes.begins(bytes, needle)
    case .suffix(let needle): return Bytes.ends(bytes, needle)
    case .contains(let needle): return Bytes.find(needle, in: bytes)
    case .text(let test): return test.matches(bytes)
    case .value(let test): return test.matches(bytes)
    }
  }
}

/// Bytes between two bounds in the order of `memcmp`.
struct BytesRange: Sendable {
  var lower: [UInt8] = []
  var includesLower = true
  /// nil: no upper bound.
  var upper: [UInt8]?
  var includesUpper = true

  static let all = BytesRange()

  func contains(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let low = Bytes.compare(bytes, lower)
    if low < 0 || (low == 0 && !includesLower) { return false }
    guard let upper else { return true }
    let high = Bytes.compare(bytes, upper)
    return high < 0 || (high == 0 && includesUpper)
  }

  func intersection(_ other: BytesRange) -> BytesRange {
    var result = self
    let low = lower.withUnsafeBytes { Bytes.compare($0, other.lower) }
    if low < 0 {
      result.lower = other.lower
      result.includesLower = other.includesLower
    } else if low == 0 {
      result.includesLower = includesLower && other.includesLower
    }
    guard let theirs = other.upper else { return result }
    guard let mine = upper else {
      result.upper = theirs
      result.includesUpper = other.includesUpper
      return result
    }
    let high = mine.withUnsafeBytes { Bytes.compare($0, theirs) }
    if high > 0 {
      result.upper = theirs
      result.includesUpper = other.includesUpper
    } else if high == 0 {
      result.includesUpper = includesUpper && other.includesUpper
    }
    return result
  }
}

/// Compares and searches raw bytes, without Foundation.
enum Bytes {
  static func equal(_ a: UnsafeRawBufferPointer, _ b: [UInt8]) -> Bool {
    a.count == b.count && b.withUnsafeBytes { equal(a, $0) }
  }

  /// Both have the same length.
  @inline(__always)
  static func equal(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    var i = 0
    while i &+ 8 <= b.count {
      if a.loadUnaligned(fromByteOffset: i, as: UInt64.self) != b.loadUnaligned(fromByteOffset: i, as: UInt64.self) {
        return false
      }
      i &+= 8
    }
    while i < b.count {
      if a[i] != b[i] { return false }
      i &+= 1
    }
    return true
  }

  static func compare(_ a: UnsafeRawBufferPointer, _ b: [UInt8]) -> Int { b.withUnsafeBytes { compare(a, $0) } }

  /// Negative, 0 or positive, as `memcmp`; a prefix sorts before the longer bytes.
  static func compare(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
    let shared = min(a.count, b.count)
    var i = 0
    while i &+ 8 <= shared {
      let x = a.loadUnaligned(fromByteOffset: i, as: UInt64.self)
      let y = b.loadUnaligned(fromByteOffset: i, as: UInt64.self)
      if x != y { return x.bigEndian < y.bigEndian ? -1 : 1 }
      i &+= 8
    }
    while i < shared {
      if a[i] != b[i] { return a[i] < b[i] ? -1 : 1 }
      i &+= 1
    }
    return a.count - b.count
  }

  static func begins(_ a: UnsafeRawBufferPointer, _ needle: [UInt8]) -> Bool {
    a.count >= needle.count && needle.withUnsafeBytes { equal(UnsafeRawBufferPointer(rebasing: a[..<$0.count]), $0) }
  }

  static func ends(_ a: UnsafeRawBufferPointer, _ needle: [UInt8]) -> Bool {
    a.count >= needle.count
      && needle.withUnsafeBytes { equal(UnsafeRawBufferPointer(rebasing: a[(a.count - $0.count)...]), $0) }
  }

  /// Whether the non-empty needle occurs. O(n · m) at worst, O(n) on ordinary text.
  static func find(_ needle: [UInt8], in a: UnsafeRawBufferPointer) -> Bool {
    guard a.count >= needle.count else { return false }
    return needle.withUnsafeBytes { needle in
      let (first, last) = (needle[0], needle[needle.count - 1])
      for start in 0...(a.count - needle.count)
      where a[start] == first && a[start &+ needle.count &- 1] == last {
        if equal(UnsafeRawBufferPointer(rebasing: a[start..<start + needle.count]), needle) { return true }
      }
      return false
    }
  }

  static func contains(_ sorted: [[UInt8]], _ bytes: UnsafeRawBufferPointer) -> Bool {
    var low = 0
    var high = sorted.count
    while low < high {
      let middle = (low + high) / 2
      let order = compare(bytes, sorted[middle])
      if order == 0 { return true }
      if order > 0 { low = middle + 1 } else { high = middle }
    }
    return false
  }
}
