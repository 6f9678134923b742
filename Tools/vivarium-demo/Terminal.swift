import Foundation
import StoreInspection

/// Headings and tables on standard output.
enum Terminal {
  private static let isTerminal = isatty(STDOUT_FILENO) == 1

  static func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

  static func heading(_ text: String) {
    say(isTerminal ? "\n\u{1B}[1m\(text)\u{1B}[0m" : "\n\(text)\n\(String(repeating: "=", count: text.count))")
  }

  /// A question with its answer in rows, and how long it took to get it.
  static func table(
    _ question: String, _ titles: [String], _ alignments: [TextTable.Alignment] = [], since start: ContinuousClock.Instant,
    _ rows: [[String]]
  ) throws {
    let taken = milliseconds(since: start)
    say("\n\(question)  (\(taken))")
    let table = TextTable(titles, alignments, widthMax: 60, indent: "  ", output: DescriptorOutput(STDOUT_FILENO))
    for row in rows { try table.add(row) }
    try table.finish()
  }
}

/// 1234567 as `1,234,567`.
func grouped(_ number: Int) -> String {
  var text = ""
  for (position, digit) in String(abs(number)).reversed().enumerated() {
    if position > 0, position % 3 == 0 { text.append(",") }
    text.append(digit)
  }
  return (number < 0 ? "-" : "") + String(text.reversed())
}
