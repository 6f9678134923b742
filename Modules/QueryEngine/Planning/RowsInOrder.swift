/// Sorts rows by the bytes of their sort keys. If only the first are wanted, others are dropped on the way: it holds at most
/// twice as many, or 512, up to `Sorter.selectionMax`.
struct RowsInOrder {
  private var rows: [(bytes: [UInt8], place: Int)] = []
  private let wanted: Int
  private let capacity: Int
  /// The key of the last of the best rows; nil while there may be too few.
  private var worst: [UInt8]?

  /// nil: all are wanted.
  init(wanted: Int?) {
    let selects = wanted.map { $0 <= Sorter.selectionMax } ?? false
    self.wanted = wanted ?? .max
    capacity = selects ? max((wanted ?? 0) * 2, 512) : .max
  }

  var count: Int { rows.count }

  /// Adds a row. Rows must come by ascending place, which is the last tie-break.
  mutating func add(_ bytes: [UInt8], _ place: Int) {
    // An equal row sorts after the worst, which came before it.
    if let worst, bytes.withUnsafeBytes({ Bytes.compare($0, worst) }) >= 0 { return }
    rows.append((bytes, place))
    guard rows.count >= capacity else { return }
    sort()
    rows.removeLast(rows.count - wanted)
    worst = rows.last?.bytes
  }

  /// The places of the wanted rows, in order.
  mutating func finish() -> [Int] {
    sort()
    return rows.prefix(wanted).map(\.place)
  }

  private mutating func sort() {
    rows.sort { a, b in
      let order = a.bytes.withUnsafeBytes { Bytes.compare($0, b.bytes) }
      return order == 0 ? a.place < b.place : order < 0
    }
  }
}
