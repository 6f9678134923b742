/// What a terminal shows that was sent these bytes: as much of one as the program uses.
struct TerminalScreen: Sendable {
  private(set) var rows: [String]
  /// How often all of it was wiped.
  private(set) var wipes = 0
  /// How often the cursor was put somewhere: once for each line that is written.
  private(set) var linesWritten = 0
  /// Whether the program has the screen to itself.
  private(set) var isAlternate = false
  private var (row, column) = (0, 0)
  private var pending: [UInt8] = []

  init(height: Int) { rows = [String](repeating: "", count: height) }

  mutating func take(_ bytes: some Sequence<UInt8>) {
    pending += bytes
    while let first = pending.first {
      if first == 27 {
        guard pending.count > 2, let end = pending.indices.dropFirst(2).first(where: { pending[$0] >= 0x40 }) else { return }
        obey(pending[2..<end], pending[end])
        pending.removeFirst(end + 1)
      } else {
        let length = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        guard pending.count >= length else { return }
        put(String(decoding: pending.prefix(length), as: UTF8.self))
        pending.removeFirst(length)
      }
    }
  }

  private mutating func obey(_ parameters: ArraySlice<UInt8>, _ command: UInt8) {
    let text = String(decoding: parameters, as: UTF8.self)
    switch command {
    case UInt8(ascii: "H"):
      let numbers = text.split(separator: ";").compactMap { Int($0) }
      (row, column) = ((numbers.first ?? 1) - 1, (numbers.count > 1 ? numbers[1] : 1) - 1)
      linesWritten += 1
    case UInt8(ascii: "K"): if rows.indices.contains(row) { rows[row] = String(rows[row].prefix(column)) }
    case UInt8(ascii: "J"):
      wipes += 1
      rows = rows.map { _ in "" }
    case UInt8(ascii: "h") where text == "?1049": isAlternate = true
    case UInt8(ascii: "l") where text == "?1049": isAlternate = false
    default: break
    }
  }

  private mutating func put(_ text: String) {
    guard rows.indices.contains(row), text >= " " else { return }
    let line = rows[row].padding(to: column)
    rows[row] = String(line.prefix(column)) + text + String(line.dropFirst(column + 1))
    column += 1
  }
}

extension String {
  fileprivate func padding(to count: Int) -> String { self + String(repeating: " ", count: max(0, count - self.count)) }
}
