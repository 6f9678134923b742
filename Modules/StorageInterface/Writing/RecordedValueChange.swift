import StoreValues

/// One scalar of one object before and after a commit. Null stands for the value of an object that did not exist before, or
/// does not exist after.
public struct RecordedValueChange: Sendable, Hashable {
  /// The object's table.
  public var table: TableID
  /// The object.
  public var key: ObjectKey
  /// The scalar or link.
  public var property: PropertyID
  /// The old value; null if there was no object.
  public var old: Value
  /// The new value; null if there is no object.
  public var new: Value

  public init(_ column: ColumnID, _ key: ObjectKey, old: Value, new: Value) {
    table = column.table
    self.key = key
    property = column.property
    self.old = old
    self.new = new
  }
}

extension RecordedValueChange {
  func encode(to out: inout VarintWriter) {
    out.put(UInt64(table.rawValue))
    out.putSigned(key.rawValue)
    out.put(UInt64(property.rawValue))
    out.put(old)
    out.put(new)
  }

  init(from input: inout VarintReader) throws(StorageError) {
    let table = TableID(try input.small())
    let key = ObjectKey(try input.nextSigned())
    let column = ColumnID(table, PropertyID(try input.small()))
    self.init(column, key, old: try input.value(), new: try input.value())
  }
}

extension VarintWriter {
  /// Writes the length and bytes of a mixed value; a plain link as one of table 0. No bytes: null.
  mutating func put(_ value: Value) {
    var mixed = value
    if case .link(let key) = value { mixed = .object(ObjectLink(TableID(0), key)) }
    let encoded = MixedCoding.encode(mixed) ?? []
    put(UInt64(encoded.count))
    bytes += encoded
  }
}

extension VarintReader {
  mutating func value() throws(StorageError) -> Value {
    let bytes = try bytes(try next())
    if bytes.isEmpty { return .null }
    guard let mixed = MixedCoding.decode(bytes) else { throw VarintReader.damaged }
    if case .object(let link) = mixed, link.table == TableID(0) { return .link(link.key) }
    return mixed
  }
}
