import Foundation
import StorageInterface
import StoreValues

/// A scalar represented as one 64-bit word in the storage interface.
public protocol WordScalar: Scalar {
  init?(_$word: Int64)
  var _$word: Int64 { get }
}

extension WordScalar {
  @inlinable @inline(__always)
  public static func _$decode(_ vector: ColumnVector, _ row: Int) -> Self? { Self(_$word: vector.word(at: row)) }
  @inlinable public func _$put(_ row: RowBuffer, _ slot: Int) { row.set(slot, word: _$word) }
  public func _$set(_ context: ModelContext, _ key: Int64, _ ordinal: Int) { context.set(key, ordinal, word: _$word) }
  public init?(persisted value: Value) {
    guard value.fits(Self._$type), let word = value.word else { return nil }
    self.init(_$word: word)
  }
  public var persistedValue: Value { Value(word: _$word, type: Self._$type) ?? .null }
}

extension WordScalar where Self: FixedWidthInteger {
  @inlinable public static var _$zero: Self { 0 }
  /// Storage holds only words in range, so nothing is lost.
  @inlinable @inline(__always) public init?(_$word word: Int64) { self = Self(truncatingIfNeeded: word) }
  @inlinable @inline(__always) public var _$word: Int64 { Int64(truncatingIfNeeded: self) }
  @inlinable public var persistedValue: Value { .int(_$word) }
}

extension Int: WordScalar { @inlinable public static var _$type: ValueType { .int64 } }
extension Int64: WordScalar { @inlinable public static var _$type: ValueType { .int64 } }
extension Int32: WordScalar { @inlinable public static var _$type: ValueType { .int32 } }
extension Int16: WordScalar { @inlinable public static var _$type: ValueType { .int16 } }
extension Int8: WordScalar { @inlinable public static var _$type: ValueType { .int8 } }

extension Bool: WordScalar {
  @inlinable public static var _$type: ValueType { .bool }
  @inlinable public static var _$zero: Bool { false }
  @inlinable @inline(__always) public init?(_$word word: Int64) { self = word != 0 }
  @inlinable @inline(__always) public var _$word: Int64 { self ? 1 : 0 }
}

extension Double: WordScalar {
  @inlinable public static var _$type: ValueType { .double }
  @inlinable public static var _$zero: Double { 0 }
  @inlinable @inline(__always) public init?(_$word word: Int64) { self.init(bitPattern: UInt64(bitPattern: word)) }
  @inlinable @inline(__always) public var _$word: Int64 { Int64(bitPattern: bitPattern) }
}

extension Float: WordScalar {
  @inlinable public static var _$type: ValueType { .float }
  @inlinable public static var _$zero: Float { 0 }
  @inlinable @inline(__always) public init?(_$word word: Int64) { self.init(bitPattern: UInt32(truncatingIfNeeded: word)) }
  @inlinable @inline(__always) public var _$word: Int64 { Int64(bitPattern) }
}

extension Date: WordScalar {
  @inlinable public static var _$type: ValueType { .date }
  /// The reference date, 2001-01-01 00:00 UTC.
  @inlinable public static var _$zero: Date { Date(timeIntervalSinceReferenceDate: 0) }
  @inlinable @inline(__always) public init?(_$word word: Int64) { self = Timestamp(word: word).date }
  @inlinable @inline(__always) public var _$word: Int64 { Timestamp(self).word }
}

/// A date to the nanosecond: a property of this type keeps what `Date` would round.
extension Timestamp: WordScalar {
  @inlinable public static var _$type: ValueType { .date }
  @inlinable public static var _$zero: Timestamp { Timestamp(word: 0) }
  @inlinable @inline(__always) public init?(_$word word: Int64) { self.init(word: word) }
  @inlinable @inline(__always) public var _$word: Int64 { word }
}
