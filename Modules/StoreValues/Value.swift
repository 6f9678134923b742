#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A value of any property type, for code that does not know the Swift type: dynamic access, queries, `inspect`, conversions.
/// Typed code never boxes values in it.
///
/// Equality is bit-exact (`NaN == NaN`, `0.0 != -0.0`, strings by UTF-8 bytes), so that round trips can be checked and sets of
/// values are meaningful. The order of queries and sorting is `Value.Order`.
public enum Value: Sendable {
  case null
  case bool(Bool)
  case int(Int64)
  case float(Float)
  case double(Double)
  case string(String)
  case data(Data)
  case date(Timestamp)
  case uuid(UUID)
  case objectId(ObjectId)
  case decimal(Decimal128)
  /// A link of a property that declares its target type.
  case link(ObjectKey)
  /// A link in a mixed value, which includes the target type.
  case object(ObjectLink)
  /// Only inside a mixed value.
  case list([Value])
  /// Only inside a mixed value.
  case map(ValueMap)
}

extension Value: Hashable {
  public static func == (a: Value, b: Value) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let x), .bool(let y)): x == y
    case (.int(let x), .int(let y)): x == y
    case (.float(let x), .float(let y)): x.bitPattern == y.bitPattern
    case (.double(let x), .double(let y)): x.bitPattern == y.bitPattern
    case (.string(let x), .string(let y)): x.utf8.elementsEqual(y.utf8)
    case (.data(let x), .data(let y)): x == y
    case (.date(let x), .date(let y)): x == y
    case (.uuid(let x), .uuid(let y)): x == y
    case (.link(let x), .link(let y)): x == y
    case (.objectId(let x), .objectId(let y)): x == y
    case (.decimal(let x), .decimal(let y)): x.isIdentical(to: y)
    case (.object(let x), .object(let y)): x == y
    case (.list(let x), .list(let y)): x == y
    case (.map(let x), .map(let y)): x == y
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let x): hasher.combine(x)
    case .int(let x): hasher.combine(x)
    case .float(let x): hasher.combine(x.bitPattern)
    case .double(let x): hasher.combine(x.bitPattern)
    case .string(let x): for byte in x.utf8 { hasher.combine(byte) }
    case .data(let x): hasher.combine(x)
    case .date(let x): hasher.combine(x)
    case .uuid(let x): hasher.combine(x)
    case .link(let x): hasher.combine(x)
    case .objectId(let x): hasher.combine(x)
    case .decimal(let x):
      hasher.combine(x.high)
      hasher.combine(x.low)
    case .object(let x): hasher.combine(x)
    case .list(let x): hasher.combine(x)
    case .map(let x): hasher.combine(x)
    }
  }
}

extension Value {
  /// Whether it is null.
  @inlinable public var isNull: Bool { if case .null = self { true } else { false } }

  /// Whether the value is a number or date that equals nothing in a condition.
  package var isNaN: Bool {
    switch self {
    case .float(let x): x.isNaN
    case .double(let x): x.isNaN
    case .decimal(let x): x.isNaN
    case .date(let x): x.isNaN
    default: false
    }
  }

  /// The type of a non-null value; integers are `int64`, and values only possible in a mixed one are `mixed`.
  public var type: ValueType? {
    switch self {
    case .null: nil
    case .bool: .bool
    case .int: .int64
    case .float: .float
    case .double: .double
    case .string: .string
    case .data: .data
    case .date: .date
    case .uuid: .uuid
    case .link: .link
    case .objectId: .objectId
    case .decimal: .decimal
    case .object, .list, .map: .mixed
    }
  }

  /// Whether the value may be stored in a scalar or element of the type, without conversion. A mixed column accepts everything
  /// but a link without a type, with lists and maps up to `MixedCoding.depthMax` deep.
  public func fits(_ type: ValueType) -> Bool {
    if type == .mixed { return isMixable(0) }
    if case .int(let number) = self { return type.integerRange?.contains(number) ?? false }
    return self.type == type
  }

  private func isMixable(_ depth: Int) -> Bool {
    switch self {
    case .link: false
    case .object(let link): link.key.rawValue <= ObjectLink.keyMax
    case .list(let elements): depth < MixedCoding.depthMax && elements.allSatisfy { $0.isMixable(depth + 1) }
    case .map(let map): depth < MixedCoding.depthMax && map.entries.allSatisfy { $0.value.isMixable(depth + 1) }
    default: true
    }
  }
}

extension Value: CustomStringConvertible {
  /// A readable form for logs, errors and tables. Not a storage format.
  public var description: String {
    switch self {
    case .null: "nil"
    case .bool(let x): "\(x)"
    case .int(let x): "\(x)"
    case .float(let x): "\(x)"
    case .double(let x): "\(x)"
    case .string(let x): x
    case .data(let x): "\(x.count) bytes"
    case .date(let x): x.description
    case .uuid(let x): x.uuidString
    case .link(let x): "\(x)"
    case .objectId(let x): x.description
    case .decimal(let x): x.description
    case .object(let x): "\(x)"
    case .list(let x): "[" + x.map(\.description).joined(separator: ", ") + "]"
    case .map(let x): "{" + x.entries.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "}"
    }
  }
}
