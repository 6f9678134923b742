import Foundation
import StorageInterface
import StoreValues

extension ObjectId: BytesScalar {
  @inlinable public static var _$type: ValueType { .objectId }
  /// 12 zero bytes.
  public static var _$zero: ObjectId { .zero }
  public init?(_$bytes bytes: UnsafeRawBufferPointer) { self.init(bytes: bytes) }
  public func _$withBytes(_ body: (UnsafeRawBufferPointer) -> Void) { bytes.withUnsafeBytes(body) }
  public init?(persisted value: Value) {
    guard case .objectId(let id) = value else { return nil }
    self = id
  }
  public var persistedValue: Value { .objectId(self) }
}

extension Decimal128: BytesScalar {
  @inlinable public static var _$type: ValueType { .decimal }
  public static var _$zero: Decimal128 { .zero }
  public init?(_$bytes bytes: UnsafeRawBufferPointer) {
    guard let value = Value(bytes: bytes, type: .decimal), case .decimal(let decimal) = value else { return nil }
    self = decimal
  }
  public func _$withBytes(_ body: (UnsafeRawBufferPointer) -> Void) {
    Value.decimal(self).withBytes { bytes in if let bytes { body(bytes) } }
  }
  public init?(persisted value: Value) {
    guard case .decimal(let decimal) = value else { return nil }
    self = decimal
  }
  public var persistedValue: Value { .decimal(self) }
}
