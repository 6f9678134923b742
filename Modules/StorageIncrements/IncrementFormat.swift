import StorageInterface

/// The layout of an increment: a file with what changed in a store between two versions (Docs/FileFormat.md).
enum IncrementFormat {
  /// The first bytes of each increment.
  static let magic = Array("VIVINCR1".utf8)
  /// The newest format that this build reads.
  static let format: UInt32 = 1
  /// Magic, format, flags, salt, check of the key, room, checksum.
  static let headerCount = 48
  static let saltCount = 16
  /// Length, flags, checksum.
  static let blockHeadCount = 12
  /// The size from which a block is written. An entry is never divided, so a block may be larger.
  static let blockBytes = 64 << 10
  /// What a block may have, sealed.
  static let blockBytesMax = Int(UInt32.max) - 1_024

  /// A flag of the header: the blocks are encrypted.
  static let isSealed: UInt32 = 1
  /// A flag of a block: no other one follows.
  static let isLast: UInt32 = 1
}

/// The kinds of entries, in the order in which they are in a file.
enum IncrementTag: UInt64 {
  /// Store, versions, catalog. Alone in the first block.
  case head = 1
  /// The commit record of the next version.
  case record = 2
  /// A new value of an object that was there: neither a link nor mixed.
  case scalar = 3
  /// A new object, without links, mixed values and collections.
  case row = 4
  /// A link or a mixed value, of an object that was there or is new.
  case link = 5
  /// Some elements of a list or members of a set, behind those that came before.
  case elements = 6
  /// Some keys of a map with their values.
  case pairs = 7
  /// The number of entries before it.
  case end = 8

  /// Entries of a later phase never come before those of an earlier one.
  var phase: UInt64 { self == .elements || self == .pairs ? IncrementTag.link.rawValue : rawValue }
}

// MARK: - Values

extension VarintWriter {
  mutating func put(tag: IncrementTag) { put(tag.rawValue) }

  mutating func put(text: String) {
    put(UInt64(text.utf8.count))
    bytes += text.utf8
  }

  mutating func put(word: Int64?) {
    guard let word else { return put(0) }
    put(1)
    putSigned(word)
  }

  /// Bytes with their number, which is one more than there are; nothing else for null.
  mutating func put(cell: UnsafeRawBufferPointer?) {
    guard let cell else { return put(0) }
    put(UInt64(cell.count) + 1)
    bytes += cell
  }
}

extension VarintReader {
  mutating func tag() throws(StorageError) -> IncrementTag {
    guard let tag = IncrementTag(rawValue: try next()) else { throw VarintReader.damaged }
    return tag
  }

  mutating func text() throws(StorageError) -> String { String(decoding: try bytes(try next()), as: UTF8.self) }

  mutating func word() throws(StorageError) -> Int64? {
    switch try next() {
    case 0: return nil
    case 1: return try nextSigned()
    default: throw VarintReader.damaged
    }
  }

  mutating func cell() throws(StorageError) -> UnsafeRawBufferPointer? {
    let count = try next()
    return count == 0 ? nil : try bytes(count - 1)
  }
}
