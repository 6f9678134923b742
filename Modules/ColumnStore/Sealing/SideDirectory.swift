import StorageInterface
import StoreValues

/// Where a sealed store has its side entries (Docs/FileFormat.md, "Encrypted entries"): each value in an entry of its own, named after the
/// key, and the keys, in their order, in blocks. A block has the keys from its fence up to the next one's; the first one's is empty.
enum SideDirectory {
  private static let space = EntryKey.Space.side.rawValue
  static let recordName: [UInt8] = [space, 0]
  static let valuePrefix: [UInt8] = [space, 1]
  static let blockPrefix: [UInt8] = [space, 2]
  /// The most bytes of a block with more than one key.
  static let blockMax = 4_000
  /// A block that is written in order leaves an eighth free.
  static let blockMaxInOrder = blockMax - blockMax / 8

  /// The record of the directory: the version that last added or removed a block, and how many there are, each u64.
  struct Record {
    var version: UInt64
    var blockCount: UInt64

    init(version: UInt64, blockCount: Int) { (self.version, self.blockCount) = (version, UInt64(blockCount)) }

    init(_ bytes: UnsafeRawBufferPointer) throws(StorageError) {
      guard bytes.count == 16, let start = bytes.baseAddress else { throw .corrupt("the directory of side entries has no record") }
      (version, blockCount) = (start.number(0), start.number(8))
    }

    var encoded: [UInt8] {
      [version, blockCount].flatMap { number in withUnsafeBytes(of: number.littleEndian) { Array($0) } }
    }
  }

  static func blockName(_ fence: [UInt8], _ cipher: EntryCipher) -> [UInt8] {
    cipher.hidden(blockPrefix + fence, after: blockPrefix.count)
  }

  // MARK: Blocks

  /// The bytes that a key takes in a block: its length u16, and itself.
  static func byteCount(_ key: [UInt8]) -> Int { 2 + key.count }

  static func encode(_ keys: some Sequence<[UInt8]>) -> ValueBuffer {
    var out: [UInt8] = []
    for key in keys {
      withUnsafeBytes(of: UInt16(truncatingIfNeeded: key.count).littleEndian) { out.append(contentsOf: $0) }
      out += key
    }
    return ValueBuffer(out)
  }

  static func keys(_ block: UnsafeRawBufferPointer) throws(StorageError) -> [[UInt8]] {
    var keys: [[UInt8]] = []
    var place = 0
    while place < block.count {
      guard place + 2 <= block.count, let start = block.baseAddress else { throw .corrupt("the directory of side entries is cut off") }
      let count = Int(start.number(place, as: UInt16.self))
      guard count <= block.count - place - 2 else { throw .corrupt("the directory of side entries is cut off") }
      keys.append(Array(block[(place + 2)..<(place + 2 + count)]))
      place += 2 + count
    }
    return keys
  }

  /// Keys in pieces that fit into blocks: full ones if the directory grows at its end, else even ones.
  static func pieces(_ keys: [[UInt8]], isAppended: Bool) -> [ArraySlice<[UInt8]>] {
    let total = keys.reduce(0) { $0 + byteCount($1) }
    if total <= blockMax { return [keys[...]] }
    let limit = isAppended ? blockMaxInOrder : max(1, total / ((total + blockMax - 1) / blockMax + 1))
    var pieces: [ArraySlice<[UInt8]>] = []
    var (start, bytes) = (0, 0)
    for (i, key) in keys.enumerated() {
      if i > start, bytes + byteCount(key) > limit {
        pieces.append(keys[start..<i])
        (start, bytes) = (i, 0)
      }
      bytes += byteCount(key)
    }
    pieces.append(keys[start...])
    return pieces
  }
}

/// The fences of the directory's blocks in one or more versions, ascending.
struct SideFences: Sendable {
  /// The commit that last added or removed a block.
  let version: UInt64
  let fences: [[UInt8]]

  var count: Int { fences.count }

  /// The block of a key, whether or not it is there; 0 if there are none. O(log n).
  func block(of key: [UInt8]) -> Int {
    var (low, high) = (0, fences.count)
    while low < high {
      let middle = (low + high) / 2
      if key.lexicographicallyPrecedes(fences[middle]) { high = middle } else { low = middle + 1 }
    }
    return max(0, low - 1)
  }
}
