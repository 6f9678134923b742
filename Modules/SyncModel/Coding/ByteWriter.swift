/// Writes the numbers and bytes that all encodings consist of. Docs/SyncModel.md has the layout.
package struct ByteWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func put(byte: UInt8) { bytes.append(byte) }

  /// LEB128: 7 bits a byte, the lowest first.
  package mutating func put(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  package mutating func put(_ count: Int) { put(UInt64(truncatingIfNeeded: count)) }

  /// Zigzag: 0, −1, 1, −2 … become 0, 1, 2, 3 …
  package mutating func put(signed value: Int64) { put(UInt64(bitPattern: (value << 1) ^ (value >> 63))) }

  /// All bytes of the integer, little endian.
  package mutating func put(fixed value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  package mutating func put(raw: some Sequence<UInt8>) { bytes.append(contentsOf: raw) }

  /// The length and the bytes.
  package mutating func put(_ content: some Collection<UInt8>) {
    put(content.count)
    bytes.append(contentsOf: content)
  }
}
