/// Writes variable-length integers: of commit records, and of increments.
package struct VarintWriter {
  package var bytes: [UInt8] = []

  package init() {}

  package mutating func put(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  package mutating func putSigned(_ value: Int64) { put(UInt64(bitPattern: (value << 1) ^ (value >> 63))) }
}

/// Reads them from arbitrary bytes: every read is bounds-checked and throws on damage.
package struct VarintReader {
  private let input: UnsafeRawBufferPointer
  private var offset = 0

  package init(_ input: UnsafeRawBufferPointer) { self.input = input }

  package static let damaged = StorageError(
    .corrupt, .engine, "A commit record in the history is damaged.",
    remedy: "Copy the store to a new file; the data itself can be whole.")

  private var left: Int { input.count - offset }

  /// The unread bytes.
  package var rest: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: input[offset...]) }

  package mutating func next() throws(StorageError) -> UInt64 {
    var result: UInt64 = 0
    var shift: UInt64 = 0
    while offset < input.count, shift < 64 {
      let byte = input[offset]
      offset += 1
      result |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return result }
      shift += 7
    }
    throw VarintReader.damaged
  }

  package mutating func nextSigned() throws(StorageError) -> Int64 {
    let raw = try next()
    return Int64(bitPattern: raw >> 1) ^ -Int64(bitPattern: raw & 1)
  }

  /// A count of items that follow, each of at least one byte: at most the remaining bytes, so that damage cannot cause
  /// unbounded allocation.
  package mutating func count() throws(StorageError) -> Int {
    let count = try next()
    guard count <= UInt64(left) else { throw VarintReader.damaged }
    return Int(count)
  }

  /// A list position or length: above what a list can have, while sums of millions of them cannot overflow.
  mutating func position() throws(StorageError) -> Int {
    let value = try next()
    guard value <= 1 << 40 else { throw VarintReader.damaged }
    return Int(value)
  }

  /// The key of an object, written as the difference to another one. Keys are positive.
  package mutating func key(after last: Int64) throws(StorageError) -> Int64 {
    let key = last &+ (try nextSigned())
    guard key > 0 else { throw VarintReader.damaged }
    return key
  }

  package mutating func small() throws(StorageError) -> UInt16 {
    guard let value = UInt16(exactly: try next()) else { throw VarintReader.damaged }
    return value
  }

  package mutating func bytes(_ count: UInt64) throws(StorageError) -> UnsafeRawBufferPointer {
    guard count <= UInt64(left) else { throw VarintReader.damaged }
    defer { offset += Int(count) }
    return UnsafeRawBufferPointer(rebasing: input[offset..<offset + Int(count)])
  }
}
