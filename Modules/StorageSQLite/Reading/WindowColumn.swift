import StorageInterface
import StoreValues

/// The window of one column: the rows lent last, and those read ahead together with another column's.
///
/// Two reused blocks of memory alternate: reading ahead fills the one that is not lent. So lent rows stay valid until the next
/// request for the column, and a million objects need no more memory than five hundred.
///
/// `@exclusivity(unchecked)`: confined to its transaction, and no access spans a call of a caller's closure.
final class WindowColumn {
  /// The most rows that are read at once.
  static let rowsMax = 512

  let layout: ColumnLayout
  private let isWord: Bool
  @exclusivity(unchecked) private var lent: WindowRows
  @exclusivity(unchecked) private var ahead: WindowRows
  /// Whether the rows read last were requested.
  @exclusivity(unchecked) private(set) var isUsed = true
  /// The key after the last window, where the next one begins if access is sequential, and the length of the last one.
  @exclusivity(unchecked) private(set) var next: Int64 = 0
  @exclusivity(unchecked) private(set) var length: Int64 = 0

  init(_ layout: ColumnLayout) {
    self.layout = layout
    isWord = layout.cell.isWord
    lent = WindowRows(layout.cell)
    ahead = WindowRows(layout.cell)
  }

  deinit {
    lent.deallocate()
    ahead.deallocate()
  }

  /// Whether a row is in memory and current. `epoch`: the transaction's change counter.
  @inline(__always) func holds(_ key: Int64, _ epoch: UInt64) -> Bool {
    ahead.row(of: key, epoch) != nil || lent.row(of: key, epoch) != nil
  }

  /// The window containing a row that is in memory; nil otherwise.
  @inline(__always) func window(containing key: Int64, _ epoch: UInt64) -> ColumnWindow? {
    if ahead.row(of: key, epoch) != nil {
      swap(&lent, &ahead)
      isUsed = true
      return lent.window
    }
    return lent.row(of: key, epoch) != nil ? lent.window : nil
  }

  /// The word of a row that is in memory: nil if it is not, and a nil in it for null.
  @inline(__always) func word(_ key: Int64, _ epoch: UInt64) -> Int64?? {
    guard isWord else { return nil }
    if let row = lent.row(of: key, epoch) { return .some(lent.word(at: row)) }
    if let row = ahead.row(of: key, epoch) {
      isUsed = true
      return .some(ahead.word(at: row))
    }
    return nil
  }

  /// How many rows from `key` on to read: increasing while access is sequential.
  @inline(__always) func wanted(from key: Int64, _ epoch: UInt64) -> Int64 {
    let isInOrder = lent.epoch == epoch && next > 0 && key >= next && key - next <= length
    return isInOrder ? min(length * 4, Int64(WindowColumn.rowsMax)) : 1
  }

  /// Whether the column is read side by side with another. It may be a row ahead: of live objects the first number is read alone, and
  /// the first text is not.
  func keepsPace(with other: WindowColumn, _ epoch: UInt64) -> Bool {
    isUsed && lent.epoch == epoch && length == other.length && (0...1).contains(next &- other.next)
  }

  /// Discards the rows read ahead, and prepares for the rows from `key` on.
  @inline(__always) func begin(_ key: Int64, _ length: Int64, _ epoch: UInt64) {
    ahead.begin(key, epoch)
    isUsed = false
    self.length = length
    let (next, overflow) = key.addingReportingOverflow(length)
    self.next = overflow ? 0 : next
  }

  /// Appends a value of the statement's current row. Skipped keys become holes.
  @inline(__always) func append(_ statement: Statement, _ column: Int32, key: Int64) throws(StorageError) -> Bool {
    // A damaged file may return rows outside the requested range, and in any order.
    guard ahead.hasRoom(for: key) else { throw statement.named(.outOfOrder(layout.label)) }
    if ahead.append(statement, column, key: key) { return true }
    // The incomplete window is invalid.
    ahead.begin(key, .max)
    return false
  }

  /// Whether one window has enough bytes.
  var isFull: Bool { ahead.byteCount >= 1 << 20 }
}

/// The memory of one window.
private struct WindowRows {
  private var buffer: ColumnBuffer
  private let live: UnsafeMutablePointer<UInt64>
  private(set) var firstKey: Int64 = 0
  private var count = 0
  private var hasHoles = false
  /// The transaction's epoch when it was read.
  private(set) var epoch = UInt64.max

  private static let liveWords = WindowColumn.rowsMax / 64

  init(_ cell: CellType) {
    buffer = ColumnBuffer(cell, capacity: WindowColumn.rowsMax)
    live = .allocate(capacity: WindowRows.liveWords)
    live.initialize(repeating: 0, count: WindowRows.liveWords)
  }

  func deallocate() {
    buffer.deallocate()
    live.deallocate()
  }

  var byteCount: Int { buffer.arenaUsed }

  @inline(__always) func row(of key: Int64, _ epoch: UInt64) -> Int? {
    guard self.epoch == epoch, key >= firstKey, key &- firstKey < Int64(count) else { return nil }
    let row = Int(key &- firstKey)
    return !hasHoles || live[row >> 6] >> UInt64(row & 63) & 1 == 1 ? row : nil
  }

  @inline(__always) func word(at row: Int) -> Int64? { buffer.word(at: row) }

  mutating func begin(_ key: Int64, _ epoch: UInt64) {
    buffer.start()
    firstKey = key
    count = 0
    hasHoles = false
    self.epoch = epoch
  }

  /// Whether the next row may have that key: after the last one, and within the window.
  @inline(__always) func hasRoom(for key: Int64) -> Bool {
    let (row, overflow) = key.subtractingReportingOverflow(firstKey)
    return !overflow && row >= Int64(count) && row < Int64(WindowColumn.rowsMax)
  }

  /// False: the value is not of the column's type. Requires room for the key.
  @inline(__always) mutating func append(_ statement: Statement, _ column: Int32, key: Int64) -> Bool {
    let row = Int(key &- firstKey)
    if row > count { skip(to: row) }
    if hasHoles { live[row >> 6] |= 1 << UInt64(row & 63) }
    count = row + 1
    return buffer.append(statement, column, at: row)
  }

  private mutating func skip(to row: Int) {
    if !hasHoles {
      for word in 0..<WindowRows.liveWords {
        let rows = max(0, min(64, count - word * 64))
        live[word] = rows == 64 ? .max : (1 << UInt64(rows)) - 1
      }
      hasHoles = true
    }
    for hole in count..<row { buffer.appendHole(at: hole) }
  }

  var window: ColumnWindow {
    ColumnWindow(firstKey: firstKey, live: hasHoles ? UnsafePointer(live) : nil, vector: buffer.vector(count: count))
  }
}
