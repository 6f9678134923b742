import Storage
import Values

/// The memory of a transaction's windows: given out in small pieces, freed all at once.
///
/// Also knows which columns are being read in the order of their keys: only those are read ahead.
struct WindowArena: ~Copyable {
  private static let blockSize = 1 << 16
  private static let runMax = 512

  private struct Reader {
    /// The key after the last window's.
    var next: Int64
    var length: Int64
  }

  private var blocks: [UnsafeMutableRawPointer] = []
  private var used = 0
  private var capacity = 0
  private var readers: [ColumnID: Reader] = [:]

  init() {}

  deinit { for block in blocks { block.deallocate() } }

  /// How many rows from `key` on the next window of the column should have.
  mutating func length(_ column: ColumnID, at key: Int64) -> Int64 {
    var length: Int64 = 1
    if let reader = readers[column], key >= reader.next, reader.next > 0, key - reader.next <= reader.length {
      length = min(reader.length * 4, Int64(WindowArena.runMax))
    }
    let (next, overflow) = key.addingReportingOverflow(length)
    readers[column] = Reader(next: overflow ? .max : next, length: length)
    return overflow ? 1 : length
  }

  /// Zeroed memory of at least so many bytes, aligned to 16.
  mutating func allocate(_ count: Int) -> UnsafeMutableRawPointer {
    let size = (max(count, 1) + 15) & ~15
    if size > WindowArena.blockSize / 4 {
      let block = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
      // Before the last one, which goes on being filled.
      blocks.insert(block, at: max(0, blocks.count - 1))
      return block.initializeMemory(as: UInt8.self, repeating: 0, count: size).asRaw
    }
    if used + size > capacity {
      blocks.append(.allocate(byteCount: WindowArena.blockSize, alignment: 16))
      used = 0
      capacity = WindowArena.blockSize
    }
    let start = blocks[blocks.count - 1] + used
    used += size
    return start.initializeMemory(as: UInt8.self, repeating: 0, count: size).asRaw
  }

  /// Ends every window.
  mutating func reset() {
    if blocks.isEmpty { return }
    for block in blocks { block.deallocate() }
    blocks = []
    used = 0
    capacity = 0
    readers = [:]
  }
}

extension UnsafeMutablePointer<UInt8> {
  fileprivate var asRaw: UnsafeMutableRawPointer { UnsafeMutableRawPointer(self) }
}
