import Foundation
import StoreInspection

/// Headings and tables on standard output.
enum Terminal {
  private static let isTerminal = isatty(STDOUT_FILENO) == 1

  /// Lines of text. What a terminal would obey is escaped in them: names and subjects are what others wrote.
  static func say(_ text: String) {
    write(text.split(separator: "\n", omittingEmptySubsequences: false).map { DisplayText.escaped(String($0)) }.joined(separator: "\n"))
  }

  private static func write(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

  static func heading(_ text: String) {
    write(isTerminal ? "\n\u{1B}[1m\(text)\u{1B}[0m" : "\n\(text)\n\(String(repeating: "=", count: text.count))")
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
