import StoreValues

/// What `@type` says of a value, and the names it may be compared with. A name can stand for several types.
struct TypeNames: Sendable, Hashable {
  private let bits: UInt32

  private enum Kind: UInt32 {
    case null, int, bool, string, data, date, float, double, decimal, objectId, uuid, link, list, map
    var bit: UInt32 { 1 << rawValue }
  }

  private init(_ kinds: Kind...) { bits = kinds.reduce(0) { $0 | $1.bit } }

  /// nil for a name that is none.
  init?(name: String) {
    guard let known = TypeNames.names[name.lowercased()] else { return nil }
    self = known
  }

  init(of value: Value) {
    self =
      switch value {
      case .null: TypeNames(.null)
      case .bool: TypeNames(.bool)
      case .int: TypeNames(.int)
      case .float: TypeNames(.float)
      case .double: TypeNames(.double)
      case .string: TypeNames(.string)
      case .data: TypeNames(.data)
      case .date: TypeNames(.date)
      case .uuid: TypeNames(.uuid)
      case .objectId: TypeNames(.objectId)
      case .decimal: TypeNames(.decimal)
      case .link, .object: TypeNames(.link)
      case .list: TypeNames(.list)
      case .map: TypeNames(.map)
      }
  }

  /// As a value: what the engine compares.
  var value: Value { .int(Int64(bits)) }

  static func meet(_ a: Value, _ b: Value) -> Bool {
    guard case .int(let x) = a, case .int(let y) = b else { return false }
    return x & y != 0
  }

  private static let names: [String: TypeNames] = {
    var names: [String: TypeNames] = [
      "null": TypeNames(.null), "string": TypeNames(.string), "float": TypeNames(.float), "double": TypeNames(.double),
      "numeric": TypeNames(.int, .float, .double, .decimal), "uuid": TypeNames(.uuid), "guid": TypeNames(.uuid),
      "objectid": TypeNames(.objectId), "object_id": TypeNames(.objectId), "decimal": TypeNames(.decimal),
      "decimal128": TypeNames(.decimal), "array": TypeNames(.list), "list": TypeNames(.list),
      "object": TypeNames(.map), "dictionary": TypeNames(.map), "collection": TypeNames(.list, .map),
    ]
    for name in ["int", "integer", "int8", "int16", "int32", "int64", "byte", "short", "long", "char"] { names[name] = TypeNames(.int) }
    for name in ["bool", "boolean"] { names[name] = TypeNames(.bool) }
    for name in ["data", "binary", "bindata", "bytearray", "byte[]", "bytes", "bytea"] { names[name] = TypeNames(.data) }
    for name in ["date", "timestamp", "datetimeoffset", "datetime"] { names[name] = TypeNames(.date) }
    for name in ["link", "objectlink", "typedlink"] { names[name] = TypeNames(.link) }
    return names
  }()
}
