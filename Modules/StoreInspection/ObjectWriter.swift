import StorageInterface
import StoreValues

/// Writes objects in one of the output formats, one type after another.
protocol ObjectWriter {
  /// Begins a type. `columns` are the fields that each of its objects will have.
  mutating func begin(_ type: String, _ columns: [ColumnEntry], count: Int) throws(InspectionError)
  mutating func object(_ key: ObjectKey, _ fields: [ShownField]) throws(InspectionError)
  mutating func endType() throws(InspectionError)
  /// Ends the output, after the last type.
  mutating func end() throws(InspectionError)
}

/// The title of the column of object keys in tables and CSV. No property can have this name.
let keyTitle = "#key"

/// `{ "Type": [ {…}, {…} ], … }`, one object per line, with the names of encoded objects: `"$id"` is its `objectIdentifier`, and
/// links are `{"$ref": …}`.
struct JSONRecordWriter: ObjectWriter {
  private let buffer: OutputBuffer
  private var record = JSONRecord("", [])
  private var typeCount = 0
  private var objectCount = 0

  init(_ buffer: OutputBuffer) { self.buffer = buffer }

  mutating func begin(_ type: String, _ columns: [ColumnEntry], count: Int) throws(InspectionError) {
    record = JSONRecord(type, columns)
    try buffer.put((typeCount == 0 ? "{\n" : ",\n") + quoted(type) + ": [")
    typeCount += 1
    objectCount = 0
  }

  mutating func object(_ key: ObjectKey, _ fields: [ShownField]) throws(InspectionError) {
    var bytes = Array((objectCount == 0 ? "\n" : ",\n").utf8)
    record.append(key, fields, to: &bytes)
    objectCount += 1
    try buffer.put(bytes)
  }

  mutating func endType() throws(InspectionError) { try buffer.put(objectCount == 0 ? "]" : "\n]") }

  mutating func end() throws(InspectionError) {
    try buffer.put(typeCount == 0 ? "{}\n" : "\n}\n")
    try buffer.flush()
  }
}

/// `{"$id":"Type-1",…}`, one object per line.
struct LineRecordWriter: ObjectWriter {
  private let buffer: OutputBuffer
  private var record = JSONRecord("", [])

  init(_ buffer: OutputBuffer) { self.buffer = buffer }

  mutating func begin(_ type: String, _ columns: [ColumnEntry], count: Int) throws(InspectionError) {
    record = JSONRecord(type, columns)
  }

  mutating func object(_ key: ObjectKey, _ fields: [ShownField]) throws(InspectionError) {
    var bytes: [UInt8] = []
    record.append(key, fields, to: &bytes)
    bytes.append(UInt8(ascii: "\n"))
    try buffer.put(bytes)
  }

  mutating func endType() throws(InspectionError) {}
  mutating func end() throws(InspectionError) { try buffer.flush() }
}

/// A header, then one record per object. One type only: a CSV file has one header.
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

/// A table with a header for each type.
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

/// The objects of one type as JSON.
private struct JSONRecord {
  private let type: String
  private let names: [[UInt8]]
  /// The position of the primary key among the fields.
  private let primaryKey: Int?

  init(_ type: String, _ columns: [ColumnEntry]) {
    self.type = type
    names = columns.map { Array(",\(quoted($0.schema.name)):".utf8) }
    primaryKey = columns.firstIndex { $0.schema.isPrimaryKey }
  }

  func append(_ key: ObjectKey, _ fields: [ShownField], to bytes: inout [UInt8]) {
    var value = Value.null
    if let primaryKey, case .value(let found) = fields[primaryKey] { value = found }
    let name = ShownField.object(key, of: type, primaryKey: value).objectIdentifier ?? ""
    bytes.append(contentsOf: "{\"\(GraphText.id)\":".utf8)
    JSONText.append(name, to: &bytes)
    for (name, field) in zip(names, fields) {
      bytes.append(contentsOf: name)
      JSONText.append(field, to: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
  }
}
