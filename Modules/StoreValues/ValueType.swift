/// The type of one scalar, or of one element of a collection.
///
/// The raw values are written to files and never change meaning.
public enum ValueType: String, Sendable, Hashable, Codable, CaseIterable {
  case bool
  case int8
  case int16
  case int32
  case int64
  case float
  case double
  case string
  case data
  /// A point in time, exact to the nanosecond (`Timestamp`).
  case date
  case uuid
  case objectId
  case decimal
  /// A value of any of the other types, a link that includes its type, or a nested list or map of such values. Null is one of
  /// its values, so a mixed property is always optional.
  case mixed
  /// A reference to an object, whose type the property declares.
  case link
}

/// The physical representation of a value: what the storage engine needs to know of a type.
public enum PhysicalType: UInt8, Sendable, Hashable {
  /// 64 bits: an integer, a Bool (0 or 1), a link (the object key) or a date (`Timestamp.word`). Ordered as Int64.
  case integer
  /// 64 bits: the bit pattern of a Double.
  case double
  /// 32 bits: the bit pattern of a Float, zero-extended.
  case float
  /// Any number of bytes: String (UTF-8), Data, ObjectId (12 bytes) or a mixed value (`MixedCoding`).
  case bytes
  /// Exactly 16 bytes: UUID, or a Decimal128, whose bytes do not order as its values.
  case bytes16
}

extension ValueType {
  /// How values of the type are stored. Bit-exact in every case.
  @inlinable public var physical: PhysicalType {
    switch self {
    case .bool, .int8, .int16, .int32, .int64, .link, .date: .integer
    case .double: .double
    case .float: .float
    case .string, .data, .objectId, .mixed: .bytes
    case .uuid, .decimal: .bytes16
    }
  }

  /// True when a value fits one 64-bit word (see `StorageReading.word`).
  @inlinable public var isWord: Bool { physical != .bytes && physical != .bytes16 }

  /// The size of every value in bytes; nil if sizes differ, and for words.
  @inlinable public var fixedByteCount: Int? {
    switch self {
    case .uuid, .decimal: 16
    case .objectId: 12
    default: nil
    }
  }

  /// Whether values sort as their words or bytes in storage. Decimals and mixed values sort only by `Value.orderKey`.
  @inlinable public var ordersByBytes: Bool { self != .decimal && self != .mixed }

  /// Whether values can be links, which have backlinks.
  @inlinable public var mayLink: Bool { self == .link || self == .mixed }

  /// The range of valid words, if not every Int64 is one: integers and Bools in range, dates that are not NaN. nil for types
  /// that are not integers at the storage interface.
  package var wordRange: ClosedRange<Int64>? {
    switch self {
    case .bool: 0...1
    case .date: Timestamp.negativeInfinity.word...Int64.max
    case .link: Int64.min...Int64.max
    default: integerRange
    }
  }

  /// The range of an integer type; nil for other types.
  public var integerRange: ClosedRange<Int64>? {
    switch self {
    case .int8: Int64(Int8.min)...Int64(Int8.max)
    case .int16: Int64(Int16.min)...Int64(Int16.max)
    case .int32: Int64(Int32.min)...Int64(Int32.max)
    case .int64: Int64.min...Int64.max
    default: nil
    }
  }
}
