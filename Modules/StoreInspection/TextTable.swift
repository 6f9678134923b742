/// Prints rows in aligned columns.
///
/// Holds back the first rows to determine the widths and prints later rows at once, so a table of any length takes little memory
/// and only a late, wide value can exceed its column. Not thread-safe.
public final class TextTable {
  public enum Alignment: Sendable {
    case leading
    /// For numbers.
    case trailing
  }

  private static let rehearsedRows = 200

  private let alignments: [Alignment]
  private let widthMax: Int
  private let indent: String
  private let output: OutputBuffer
  private var widths: [Int]
  private var held: [[String]]
  private var isPrinting = false

  /// Columns with these titles. Missing `alignments` at the end are leading. Cuts values wider than `widthMax` terminal columns.
  public convenience init(
    _ titles: [String], _ alignments: [Alignment] = [], widthMax: Int = 40, indent: String = "",
    output: any TextOutput
  ) {
    self.init(titles, alignments, widthMax: widthMax, indent: indent, buffer: OutputBuffer(output))
  }

  init(
    _ titles: [String], _ alignments: [Alignment] = [], widthMax: Int = 40, indent: String = "",
    buffer: OutputBuffer
  ) {
    self.alignments = titles.indices.map { $0 < alignments.count ? alignments[$0] : .leading }
    self.widthMax = widthMax
    self.indent = indent
    self.output = buffer
    widths = titles.map { DisplayText.width($0) }
    held = [titles]
  }

  /// Adds a row with as many cells as there are titles. Control characters in them are escaped.
  public func add(_ cells: [String]) throws(InspectionError) {
    let row = cells.map { DisplayText.cut(DisplayText.escaped($0), to: widthMax) }
    if isPrinting { return try print(row) }
    for (column, cell) in row.enumerated() where column < widths.count {
      widths[column] = max(widths[column], DisplayText.width(cell))
    }
    held.append(row)
    if held.count > TextTable.rehearsedRows { try printHeld() }
  }

  /// Prints the rows held back. Call it once, after the last row.
  public func finish() throws(InspectionError) {
    if !isPrinting { try printHeld() }
    try output.flush()
  }

  private func printHeld() throws(InspectionError) {
    isPrinting = true
    held.insert(widths.map { String(repeating: "-", count: $0) }, at: 1)
    for row in held { try print(row) }
    held = []
  }

  private func print(_ row: [String]) throws(InspectionError) {
    var line = indent
    for (column, cell) in row.enumerated() where column < widths.count {
      let padding = String(repeating: " ", count: max(0, widths[column] - DisplayText.width(cell)))
      if column > 0 { line += "  " }
      line += alignments[column] == .trailing ? padding + cell : cell + padding
    }
    while line.last == " " { line.removeLast() }
    try output.put(line + "\n")
  }
}
