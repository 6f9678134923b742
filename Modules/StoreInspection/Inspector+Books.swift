import StorageInterface
import StoreValues

/// What a layer above keeps in a store's side entries, as a report for people and programs.
package struct BooksReport {
  /// Single facts, as name and text.
  package var facts: [(name: String, text: String)]
  /// The member of the JSON document that holds the rows.
  package var title: String
  /// The column titles.
  package var header: [String]
  /// The table's rows.
  package var rows: [[String]]

  package init(facts: [(name: String, text: String)], title: String, header: [String], rows: [[String]]) {
    (self.facts, self.title, self.header, self.rows) = (facts, title, header, rows)
  }
}

extension Inspector {
  /// Prints the report that `body` makes from a snapshot. If `body` returns nil, throws an error with the message `absent`.
  package func books(
    orElse absent: String, _ body: (any ReadTransaction) throws(StorageError) -> BooksReport?
  ) throws(InspectionError) {
    let found = try withSnapshot { read throws(InspectionError) in
      do throws(StorageError) { return try body(read) } catch { throw InspectionError(error) }
    }
    guard let report = found else { throw InspectionError(.notFound, absent) }
    func node(_ row: [String]) -> ReportNode { .object(zip(report.header, row).map { ($0, .text($1)) }) }
    switch format {
    case .table: try printTable(report)
    case .json:
      try print(.object(report.facts.map { ($0.name, .text($0.text)) } + [(report.title, .array(report.rows.map(node)))]))
    case .ndjson: try printLines(report.rows.map(node))
    case .csv: try printCSV(report.header, report.rows.map { $0.map { .text($0) } })
    }
  }

  private func printTable(_ report: BooksReport) throws(InspectionError) {
    let buffer = OutputBuffer(output)
    let width = (report.facts.map(\.name.count).max() ?? 0) + 2
    for (name, text) in report.facts {
      try buffer.put("\(name)\(String(repeating: " ", count: width - name.count))\(DisplayText.escaped(text))\n")
    }
    if report.rows.isEmpty { return try buffer.flush() }
    try buffer.put("\n")
    let table = TextTable(report.header, [], buffer: buffer)
    for row in report.rows { try table.add(row) }
    try table.finish()
  }
}
