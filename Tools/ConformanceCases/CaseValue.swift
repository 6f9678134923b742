import Foundation
import StoreValues

/// Values as the files write them.
enum CaseValue {
  /// A value for a property, or an argument where there is no type. `links` finds the key of a row.
  static func value(_ json: JSONValue, as type: ValueType?, links: (JSONValue) throws -> Value) throws -> Value {
    switch json {
    case .null: return .null
    case .bool(let bool): return .bool(bool)
    case .int(let number):
      switch type {
      case .double: return .double(Double(number))
      case .float: return .float(Float(number))
      case .decimal: return .decimal(Decimal128(number))
      default: return .int(number)
      }
    case .double(let number):
      switch type {
      case .float: return .float(Float(number))
      case .decimal: return .decimal(try decimal("\(number)"))
      default: return .double(number)
      }
    case .string(let text): return .string(text)
    case .array: throw Inexpressible("a list where one value belongs")
    case .object(let members):
      guard members.count == 1, let member = members.first else { throw Inexpressible("a value \(json)") }
      return try tagged(member.name, member.value, links: links)
    }
  }

  private static func decimal(_ text: String) throws -> Decimal128 {
    guard let decimal = Decimal128(text) else { throw Inexpressible("a decimal number \(text)") }
    return decimal
  }

  private static func tagged(_ tag: String, _ json: JSONValue, links: (JSONValue) throws -> Value) throws -> Value {
    switch tag {
    case "$date":
      guard let parts = json.ints, parts.count == 2 else { throw Inexpressible("a date \(json)") }
      return .date(Timestamp(secondsSince1970: Int64(parts[0]), nanoseconds: Int64(parts[1])))
    case "$data":
      guard let data = json.string.flatMap({ Data(base64Encoded: $0) }) else { throw Inexpressible("data \(json)") }
      return .data(data)
    case "$uuid":
      guard let uuid = json.string.flatMap({ UUID(uuidString: $0) }) else { throw Inexpressible("a UUID \(json)") }
      return .uuid(uuid)
    case "$double": return .double(try real(json))
    case "$float": return .float(Float(try real(json)))
    case "$link": return try links(json)
    case "$decimal": return .decimal(try decimal(json.string ?? ""))
    case "$oid":
      guard let id = json.string.flatMap({ ObjectId($0) }) else { throw Inexpressible("an ObjectId \(json)") }
      return .objectId(id)
    case "$list": return .list(try (json.array ?? []).map { try value($0, as: .mixed, links: links) })
    case "$dict":
      return .map(ValueMap(try (json.members ?? []).map { ValueMap.Entry($0.name, try value($0.value, as: .mixed, links: links)) }))
    default: throw Inexpressible("no property holds a value '\(tag)'")
    }
  }

  private static func real(_ json: JSONValue) throws -> Double {
    if let number = json.double { return number }
    switch json.string {
    case "nan": return .nan
    case "inf": return .infinity
    case "-inf": return -.infinity
    default: throw Inexpressible("a number \(json)")
    }
  }
}
