import StorageInterface
import StoreValues

/// Writes objects in one of the output formats, type after type.
protocol ObjectWriter {
  /// Before the objects of a type; `columns` are the fields each will have.
  mutating func begin(_ type: String, _ columns: [ColumnEntry], count: Int) throws(InspectionError)
  mutating func object(_ key: ObjectKey, _ fields: [ShownField]) throws(InspectionError)
  mutating func endType() throws(InspectionError)
  /// After the last type.
  mutating func end() throws(InspectionError)
}

/// The name under which an object's key is shown: no property can be called so.
let keyTitle = "#key"

/// `{ "Type": [ {…}, {…} ], … }`, an object a line.
struct JSONRecordWriter: ObjectWriter {
  private let buffer: OutputBuffer
  private var names: [[UInt8]] = []
  private var typeCount = 0
  private var objectCount = 0

  init(_ buffer: OutputBuffer) { self.buffer = buffer }

  mutating func begin(_ type: String, _ columns: [ColumnEntry], count: Int) throws(InspectionError) {
    names = memberNames(columns)
    try buffer.put((typeCount == 0 ? "{\n" : ",\n") + quoted(type) + ": [")
    typeCount += 1
    objectCount = 0
  }

  mutating func object(_ key: ObjectKey, _ fields: [ShownField]) throws(InspectionError) {
    var bytes = Array((objectCount == 0 ? "\n" : ",\n").utf8)
    appendObject(to: &bytes, lead: "\"\(keyTitle)\":\(key.rawValue)", names, fields)
    objectCount += 1
    try buffer.put(bytes)
  }

  mutating func endType() throws(InspectionError) { try buffer.put(objectCount == 0 ? "]" : "\n]") }

  mutating func end() throws(InspectionError) {
    try buffer.put(typeCount == 0 ? "{}\n" : "\n}\n")
    try buffer.flush()
  }
}

/// `{"#type":"Type","#key":1,…}`, an object a line.
struct LineRecordWriter: ObjectWriter {
  private let buffer: OutputBuffer
  private var names: [[UInt8]] = []
  private var lead = ""

  init(_ buffer: OutputBuffer) { self.buffer = buffer }

  mutating func begin(_ type: String, _ columns: [ColumnEntry], count: Int) throws(InspectionError) {
    names = memberNames(columns)
    lead = "\"#type\":\(quoted(type)),\"\(keyTitle)\":"
  }

  mutating func object(_ key: ObjectKey, _ fields: [ShownField]) throws(InspectionError) {
    var bytes: [UInt8] = []
    appendObject(to: &bytes, lead: lead + String(key.rawValue), names, fields)
    bytes.append(UInt8(ascii: "\n"))
    try buffer.put(bytes)
  }

  mutating func endType() throws(InspectionError) {}
  mutating func end() throws(InspectionError) { try buffer.flush() }
}

/// A header and a record an object. One type only: a CSV file has one header.
struct CSVRecordWriter: ObjectWriter {
  private let buffer: OutputBuffer
  private let isShown: Bool

  init(_ buffer: OutputBuffer, isShown: Bool) { (self.buffer, self.isShown) = (buffer, isShown) }

  mutating func begin(_ type: String, _ columns: [ColumnEntry], count: Int) throws(InspectionError) {
    var bytes: [UInt8] = []
    CSVText.append(([keyTitle] + columns.map(\.schema.name)).map { .value(.string($0)) }, to: &bytes, isShown: isShown)
    try buffer.put(bytes)
  }

  mutating func object(_ key: ObjectKey, _ fields: [ShownField]) throws(InspectionError) {
    var bytes: [UInt8] = []
    CSVText.append([.value(.int(key.rawValue))] + fields, to: &bytes, isShown: isShown)
    try buffer.put(bytes)
  }

  mutating func endType() throws(InspectionError) {}
  mutating func end() throws(InspectionError) { try buffer.flush() }
}

/// A headed table for each type.
struct TableRecordWriter: ObjectWriter {
  private let buffer: OutputBuffer
  private var table: TextTable?
  private var isFirst = true

  init(_ buffer: OutputBuffer) { self.buffer = buffer }

  mutating func begin(_ type: String, _ columns: [ColumnEntry], count: Int) throws(InspectionError) {
    try buffer.put("\(isFirst ? "" : "\n")\(DisplayText.escaped(type)): \(count) object\(count == 1 ? "" : "s")\n")
    isFirst = false
    table = TextTable(
      [keyTitle] + columns.map(\.schema.name), [.trailing] + columns.map(\.alignment), buffer: buffer)
  }

  mutating func object(_ key: ObjectKey, _ fields: [ShownField]) throws(InspectionError) {
    try table?.add([String(key.rawValue)] + fields.map(\.displayText))
  }

  mutating func endType() throws(InspectionError) { try table?.finish() }
  mutating func end() throws(InspectionError) { try buffer.flush() }
}

extension ColumnEntry {
  fileprivate var alignment: TextTable.Alignment {
    guard case .scalar(let type) = schema.kind else { return .leading }
    return switch type {
    case .int8, .int16, .int32, .int64, .float, .double, .decimal: .trailing
    default: .leading
    }
  }
}

private func quoted(_ text: String) -> String {
  var bytes: [UInt8] = []
  JSONText.append(text, to: &bytes)
  return String(decoding: bytes, as: UTF8.self)
}

private func memberNames(_ columns: [ColumnEntry]) -> [[UInt8]] {
  columns.map { Array(",\(quoted($0.schema.name)):".utf8) }
}

private func appendObject(to bytes: inout [UInt8], lead: String, _ names: [[UInt8]], _ fields: [ShownField]) {
  bytes.append(UInt8(ascii: "{"))
  bytes.append(contentsOf: lead.utf8)
  for (name, field) in zip(names, fields) {
    bytes.append(contentsOf: name)
    JSONText.append(field, to: &bytes)
  }
  bytes.append(UInt8(ascii: "}"))
}
