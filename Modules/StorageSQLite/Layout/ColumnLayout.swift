import StorageInterface
import StoreValues

/// The SQL names and the storage of one property.
final class ColumnLayout: Sendable {
  enum Kind: Sendable {
    case scalar
    case list
    case set
    case map
    /// Nothing is stored: read through the links of the other type.
    case inverse
  }

  let id: ColumnID
  let entry: ColumnEntry
  let kind: Kind
  /// The form of the scalar or of the collection's elements. Meaningless for inverses.
  let cell: CellType
  let mayBeNull: Bool
  /// The column's name, or the name of the collection's table; quoted.
  let name: String
  /// For a scalar that does not sort as it is stored: the column of its order keys; quoted.
  let orderName: String?
  /// `Person.age`, for messages.
  let label: String
  /// The index for backlinks; quoted, nil if the property has no links. For mixed properties it is a table.
  let backlinkIndex: String?

  init(
    _ entry: ColumnEntry, in table: TableEntry, name: String, orderName: String?, backlinkIndex: String?
  ) {
    id = table.column(entry.id)
    self.entry = entry
    cell = CellType(entry.schema.valueType ?? .link)
    kind =
      switch entry.schema.kind {
      case .scalar: .scalar
      case .list: .list
      case .set: .set
      case .map: .map
      case .linkingObjects: .inverse
      }
    mayBeNull = entry.schema.mayBeNull
    self.name = name.quoted
    self.orderName = orderName?.quoted
    self.backlinkIndex = backlinkIndex?.quoted
    label = "'\(table.name).\(entry.schema.name)'"
  }

  var isRelationship: Bool { kind != .inverse && cell.type == .link }
  var isCollection: Bool { kind != .inverse && kind != .scalar }
  /// Whether links are inside the values, so that a table of their own stores them.
  var linksInside: Bool { kind != .inverse && cell.type == .mixed }

  /// The terms that sort the column's values as `Value.order` does: null, NaN, numbers. Floating columns need two, because a
  /// BLOB sorts after the numbers.
  var orderTerms: [String] {
    if let orderName { return [orderName] }
    guard cell.isFloating else { return [name] }
    return [
      "CASE typeof(\(name)) WHEN 'null' THEN NULL WHEN 'blob' THEN \(name) = \(cell.negativeZero) ELSE 1 END",
      "CASE typeof(\(name)) WHEN 'blob' THEN 0 ELSE \(name) END",
    ]
  }

  /// The same order for columns that no index covers, at half the cost per row: every number is below every BLOB, so one
  /// comparison distinguishes them. Without nulls, NULL stands for NaN below all numbers, and one term is enough.
  var sortTerms: [String] {
    guard orderName == nil, cell.isFloating else { return orderTerms }
    if !mayBeNull { return ["CASE WHEN \(name) < x'' THEN \(name) WHEN \(name) = \(cell.negativeZero) THEN 0.0 END"] }
    return [
      "CASE WHEN \(name) < x'' THEN 1 ELSE \(name) = \(cell.negativeZero) END",
      "CASE WHEN \(name) < x'' THEN \(name) ELSE 0 END",
    ]
  }
}

extension ColumnLayout {
  /// Throws `.typeMismatch` if the column, or an element of the collection, cannot hold the word.
  @inline(__always) func check(word: Int64?) throws(StorageError) {
    guard let word else {
      if mayBeNull { return }
      throw mismatch("null")
    }
    switch cell.type {
    case .int64, .double, .date, .link: return
    case .bool: if word & 1 == word { return }
    case .float: if word >= 0 && word <= Int64(UInt32.max) { return }
    case .int8: if Int64(Int8(truncatingIfNeeded: word)) == word { return }
    case .int16: if Int64(Int16(truncatingIfNeeded: word)) == word { return }
    case .int32: if Int64(Int32(truncatingIfNeeded: word)) == word { return }
    case .string, .data, .uuid, .objectId, .decimal, .mixed: break
    }
    throw mismatch("\(word)")
  }

  /// Throws `.typeMismatch` if the column, or an element of the collection, cannot hold the bytes.
  @inline(__always) func check(bytes: UnsafeRawBufferPointer?) throws(StorageError) {
    guard let bytes else {
      if mayBeNull { return }
      throw mismatch("null")
    }
    if let wanted = cell.type.fixedByteCount, bytes.count != wanted { throw mismatch("\(bytes.count) bytes") }
    if cell.type == .mixed, MixedCoding.decode(bytes) == nil { throw mismatch("\(bytes.count) bytes") }
  }

  func check(_ value: Value) throws(StorageError) {
    if value.isNull ? mayBeNull : value.fits(cell.type) { return }
    throw mismatch("\(value)")
  }

  func mismatch(_ what: String) -> StorageError {
    StorageError(.typeMismatch, .statement, "\(label) holds \(cell.type.rawValue)\(mayBeNull ? " or null" : ""), not \(what).")
  }
}
