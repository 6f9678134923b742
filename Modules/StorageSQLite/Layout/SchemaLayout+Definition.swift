import StorageInterface
import StoreValues

/// The SQL that creates tables, indexes and triggers. Made to be read: `.schema` shows it.
extension TableLayout {
  var definition: String {
    let columns = ["_key INTEGER PRIMARY KEY"] + scalars.flatMap(\.column.definitions)
    return "CREATE TABLE \(name) (\n  " + columns.joined(separator: ",\n  ") + "\n)"
  }

  /// The own tables of a property: a collection's, and one for links inside mixed values.
  func sideDefinitions(_ column: ColumnLayout) -> [String] {
    var result: [String] = []
    let place: String? =
      switch column.kind {
      case .list: "position INTEGER NOT NULL"
      case .set: "sort BLOB NOT NULL /* order key of value */"
      case .map: "key TEXT NOT NULL"
      case .scalar, .inverse: nil
      }
    if let place, let name = place.split(separator: " ").first {
      result.append(
        """
        CREATE TABLE \(column.name) (
          owner INTEGER NOT NULL,
          \(place),
          value \(column.cell.declaration)\(column.mayBeNull ? "" : " NOT NULL")\(column.remark),
          PRIMARY KEY (owner, \(name))
        ) WITHOUT ROWID
        """)
    }
    if column.linksInside, let links = column.backlinkIndex {
      result.append(
        """
        CREATE TABLE \(links) (
          type INTEGER NOT NULL /* id in _vivarium_types */,
          target INTEGER NOT NULL,
          owner INTEGER NOT NULL,
          count INTEGER NOT NULL,
          PRIMARY KEY (type, target, owner)
        ) WITHOUT ROWID
        """)
    }
    return result
  }

  /// Indexes and triggers: SQL name to kind and definition.
  var accessories: [String: (kind: String, definition: String)] {
    var result: [String: (kind: String, definition: String)] = [:]
    for index in indexes { result[index.name] = ("INDEX", index.definition) }
    for column in slots {
      guard let backlinks = column.backlinkIndex, !column.linksInside else { continue }
      let place =
        column.isCollection
        ? "\(column.name) (value)" : "\(name) (\(column.name)) WHERE \(column.name) IS NOT NULL"
      result[backlinks] = ("INDEX", "CREATE INDEX \(backlinks) ON \(place)")
    }
    for (name, definition) in triggers { result[name] = ("TRIGGER", definition) }
    return result
  }
}

extension ColumnLayout {
  fileprivate var definition: String {
    var text = "\(name) \(cell.declaration)"
    let absent = entry.absentValue
    if !mayBeNull { text += " NOT NULL" }
    if !absent.isNull { text += " DEFAULT \(literal(absent))" }
    return text + remark
  }

  /// The definitions of the column and, if there is one, of its order key column.
  fileprivate var definitions: [String] { [definition] + (orderDefinition.map { [$0] } ?? []) }

  private var orderDefinition: String? {
    guard let orderName else { return nil }
    let absent = entry.absentValue
    let standard = absent.isNull ? "" : " DEFAULT x'" + absent.orderKey.map { $0.hexadecimal }.joined() + "'"
    return "\(orderName) BLOB\(standard) /* order key of \(SchemaLayout.commentable(entry.schema.name)) */"
  }

  /// The statements that add the column to a table with rows. The default must be a plain literal there; a value without one (a
  /// text with NUL) is written into the rows.
  func additions(to table: String) -> [String] {
    let absent = entry.absentValue
    guard !absent.isNull, case let text = literal(absent), text.hasPrefix("(") else {
      return definitions.map { "ALTER TABLE \(table) ADD COLUMN \($0)" }
    }
    return ["ALTER TABLE \(table) ADD COLUMN \(name) \(cell.declaration)", "UPDATE \(table) SET \(name) = \(text)"]
  }

  /// A comment for what the declared type does not express.
  fileprivate var remark: String {
    switch cell.type {
    case .bool: " /* 0 or 1 */"
    case .date: " /* nanoseconds since 2001-01-01 00:00 UTC, within 2^62 */"
    case .uuid: " /* UUID, 16 bytes */"
    case .objectId: " /* ObjectId, 12 bytes */"
    case .decimal: " /* decimal number */"
    case .mixed: " /* any type */"
    case .link: " /* _key in \(SchemaLayout.commentable(entry.schema.target ?? "?")) */"
    default: ""
    }
  }

  private func literal(_ value: Value) -> String {
    if let word = value.word {
      if !cell.isFloating { return "\(word)" }
      let double = Double(asWord: word, cell.physical)
      // NaN and −0.0 in their stored form: sixteen hexadecimal digits of the word.
      if double.isNaN || (double == 0 && double.sign == .minus) { return "x'\(UInt64(bitPattern: word).hexadecimal)'" }
      return double.isInfinite ? (double < 0 ? "-9e999" : "9e999") : "\(double)"
    }
    if case .decimal(let decimal) = value { return "'\(decimal)'" }
    return value.withBytes { bytes in
      guard let bytes else { return "NULL" }
      let isPlain = cell.isText && !bytes.contains { $0 == 0 }
      if isPlain { return "'" + String(decoding: bytes, as: UTF8.self).doubling("'") + "'" }
      let blob = "x'" + bytes.map { $0.hexadecimal }.joined() + "'"
      return cell.isText ? "(CAST(\(blob) AS TEXT))" : blob
    }
  }
}

extension SchemaLayout {
  /// The name without characters that would end a comment.
  fileprivate static func commentable(_ name: String) -> String {
    String(name.map { $0 == "*" || $0 == "\0" ? "?" : $0 })
  }
}

extension Double {
  /// The number that a word of a floating column stands for.
  init(asWord word: Int64, _ physical: PhysicalType) {
    self =
      physical == .float
      ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: word))) : Double(bitPattern: UInt64(bitPattern: word))
  }
}

extension FixedWidthInteger {
  fileprivate var hexadecimal: String {
    let digits = String(self, radix: 16)
    return String(repeating: "0", count: Self.bitWidth / 4 - digits.count) + digits
  }
}
