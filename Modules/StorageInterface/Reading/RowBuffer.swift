import StoreValues

/// The values of one new object on their way into an engine: a slot for each column of the table, words and bytes side by side,
/// without `Value`s. Made once for a table and reused row by row.
///
/// An unset slot has the column's absent value (`ColumnEntry.absentValue`). Collection and inverse slots are unused: lists,
/// sets and maps start empty and are filled by the calls of `WriteTransaction`.
///
/// Not thread-safe; `@exclusivity(unchecked)`, because no access to a variable spans another call. Setting a slot is O(1) plus
/// the bytes copied.
public final class RowBuffer {
  /// The row's table.
  public let table: TableID
  /// The number of slots, one per column.
  public let count: Int
  @usableFromInline let words: UnsafeMutablePointer<Int64>
  @usableFromInline let nulls: UnsafeMutablePointer<Bool>
  @exclusivity(unchecked) @usableFromInline var arena: UnsafeMutableRawPointer
  private var arenaCapacity = 256
  private var arenaUsed = 0
  /// More bytes were set than a row can hold; engines reject the row.
  public private(set) var isOverfull = false
  /// The type of each slot, by which `set(_:_:)` encodes a `Value`.
  private let types: [ValueType]
  private let absentWords: [Int64]
  private let absentNulls: [Bool]
  private let absentBytes: [UInt8]

  /// A buffer for rows of a table, with every slot absent.
  public init(_ entry: TableEntry) {
    table = entry.id
    count = entry.columns.count
    types = entry.columns.map { $0.schema.valueType ?? .link }
    words = .allocate(capacity: max(count, 1))
    nulls = .allocate(capacity: max(count, 1))
    var absentWords: [Int64] = []
    var absentNulls: [Bool] = []
    var absentBytes: [UInt8] = []
    for column in entry.columns {
      let value = column.absentValue
      var word = value.word ?? 0
      value.withBytes { bytes in
        guard let bytes else { return }
        word = RowBuffer.packed(offset: absentBytes.count, count: bytes.count)
        absentBytes += bytes
      }
      absentWords.append(word)
      absentNulls.append(value.isNull)
    }
    self.absentWords = absentWords
    self.absentNulls = absentNulls
    self.absentBytes = absentBytes
    arenaCapacity = max(256, absentBytes.count * 2)
    arena = .allocate(byteCount: arenaCapacity, alignment: 8)
    reset()
  }

  deinit {
    words.deallocate()
    nulls.deallocate()
    arena.deallocate()
  }

  /// Makes every slot absent again.
  public func reset() {
    for slot in 0..<count {
      words[slot] = absentWords[slot]
      nulls[slot] = absentNulls[slot]
    }
    absentBytes.withUnsafeBytes { if let start = $0.baseAddress { arena.copyMemory(from: start, byteCount: $0.count) } }
    arenaUsed = absentBytes.count
    isOverfull = false
  }

  /// Offset and length of bytes in the arena, 32 bits each.
  private static func packed(offset: Int, count: Int) -> Int64 {
    Int64(bitPattern: UInt64(UInt32(truncatingIfNeeded: offset)) << 32 | UInt64(UInt32(truncatingIfNeeded: count)))
  }
}

extension RowBuffer {
  /// Sets a fixed-width value. The caller must pass a valid slot, which is not checked. O(1).
  @inlinable public func set(_ slot: Int, word: Int64) {
    words[slot] = word
    nulls[slot] = false
  }

  /// Sets a slot to null.
  @inlinable public func setNull(_ slot: Int) { nulls[slot] = true }

  /// Sets a slot to bytes, which are copied. A row holds up to 4 GiB of them; `insert` rejects more as `.tooLarge`.
  public func set(_ slot: Int, bytes: UnsafeRawBufferPointer) {
    guard arenaUsed + bytes.count <= Int(UInt32.max) else {
      isOverfull = true
      return
    }
    if arenaUsed + bytes.count > arenaCapacity { grow(by: bytes.count) }
    if let start = bytes.baseAddress { (arena + arenaUsed).copyMemory(from: start, byteCount: bytes.count) }
    words[slot] = RowBuffer.packed(offset: arenaUsed, count: bytes.count)
    nulls[slot] = false
    arenaUsed += bytes.count
  }

  /// Sets a slot to a `Value` of its type.
  public func set(_ slot: Int, _ value: Value) {
    if types[slot] != .mixed, let word = value.word { return set(slot, word: word) }
    value.withBytes(as: types[slot]) { bytes in
      if let bytes { set(slot, bytes: bytes) } else { setNull(slot) }
    }
  }

  /// Whether a slot is null.
  @inlinable public func isNull(_ slot: Int) -> Bool { nulls[slot] }
  /// The word of a word column; unspecified if the slot is null.
  @inlinable public func word(_ slot: Int) -> Int64 { words[slot] }
  /// The bytes of a bytes column, valid until the buffer is changed; unspecified if the slot is null.
  @inlinable public func bytes(_ slot: Int) -> UnsafeRawBufferPointer {
    let packed = UInt64(bitPattern: words[slot])
    return UnsafeRawBufferPointer(start: arena + Int(packed >> 32), count: Int(packed & 0xFFFF_FFFF))
  }

  private func grow(by needed: Int) {
    let capacity = (arenaUsed + needed) * 2
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
    larger.copyMemory(from: arena, byteCount: arenaUsed)
    arena.deallocate()
    arena = larger
    arenaCapacity = capacity
  }
}
