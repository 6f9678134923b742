import StorageInterface
import StoreValues

/// Answers questions about a store without the program that made it: everything comes from the catalog in the file.
///
/// Each command reads one snapshot from beginning to end, while others write. Only `compact` writes. Commands throw `InspectionError`
/// with a message for people and the exit status of the `inspect` program. Not thread-safe: run one command at a time.
public struct Inspector {
  let engine: any StorageEngine
  /// The location of the store, as messages name it.
  let location: String
  let format: OutputFormat
  let output: any TextOutput

  /// An inspector of an open store that prints to `output`.
  public init(_ engine: any StorageEngine, location: String, format: OutputFormat, output: any TextOutput) {
    self.engine = engine
    self.location = location
    self.format = format
    self.output = output
  }

  func withSnapshot<R>(_ body: (any ReadTransaction) throws(InspectionError) -> R) throws(InspectionError) -> R {
    let read: any ReadTransaction
    do throws(StorageError) { read = try engine.beginRead() } catch { throw InspectionError(error) }
    defer { read.end() }
    return try body(read)
  }

  /// The table of a type. Throws status `.notFound` with the existing names.
  func table(_ type: String, in catalog: Catalog) throws(InspectionError) -> TableEntry {
    if let table = catalog[type] { return table }
    let names = catalog.tables.map(\.name)
    throw InspectionError(
      .notFound,
      "There is no type '\(DisplayText.escaped(type))' in \(DisplayText.escaped(location)), "
        + (names.isEmpty ? "which has no types." : "which has \(names.joined(separator: ", "))."))
  }

  func recordWriter() -> any ObjectWriter {
    let buffer = OutputBuffer(output)
    return switch format {
    case .table: TableRecordWriter(buffer)
    case .json: JSONRecordWriter(buffer)
    case .ndjson: LineRecordWriter(buffer)
    case .csv: CSVRecordWriter(buffer, isShown: output.isTerminal)
    }
  }

  func print(_ text: [UInt8]) throws(InspectionError) {
    let buffer = OutputBuffer(output)
    try buffer.put(text)
    try buffer.flush()
  }

  /// Prints a document as indented JSON.
  func print(_ node: ReportNode) throws(InspectionError) {
    try print(node.text(pretty: true) + [UInt8(ascii: "\n")])
  }

  /// Prints each document on one line.
  func printLines(_ nodes: [ReportNode]) throws(InspectionError) {
    try print(nodes.flatMap { $0.text(pretty: false) + [UInt8(ascii: "\n")] })
  }

  /// Prints one record without a header.
  func printCSV(_ record: [ShownField]) throws(InspectionError) {
    var bytes: [UInt8] = []
    CSVText.append(record, to: &bytes, isShown: output.isTerminal)
    try print(bytes)
  }

  func printCSV(_ header: [String], _ records: [[ShownField]]) throws(InspectionError) {
    var bytes: [UInt8] = []
    let isShown = output.isTerminal
    CSVText.append(header.map { .value(.string($0)) }, to: &bytes, isShown: isShown)
    for record in records { CSVText.append(record, to: &bytes, isShown: isShown) }
    try print(bytes)
  }
}

extension ShownField {
  static func text(_ text: String?) -> ShownField { .value(text.map { .string($0) } ?? .null) }
  static func number(_ number: Int) -> ShownField { .value(.int(Int64(number))) }
  static func bool(_ bool: Bool) -> ShownField { .value(.bool(bool)) }
}
