import Foundation
import StorageInterface
import StoreValues

/// A scalar represented as bytes in the storage interface.
public protocol BytesScalar: Scalar {
  init?(_$bytes: UnsafeRawBufferPointer)
  /// Lends the bytes; `body` runs exactly once.
  func _$withBytes(_ body: (UnsafeRawBufferPointer) -> Void)
}

extension BytesScalar {
  @inlinable @inline(__always)
  public static func _$decode(_ vector: ColumnVector, _ row: Int) -> Self? { Self(_$bytes: vector.bytes(at: row)) }
  @inlinable public func _$put(_ row: RowBuffer, _ slot: Int) { _$withBytes { row.set(slot, bytes: $0) } }
  public func _$set(_ context: ModelContext, _ key: Int64, _ ordinal: Int) {
    _$withBytes { context.set(key, ordinal, bytes: $0) }
  }
}

extension String: BytesScalar {
  @inlinable public static var _$type: ValueType { .string }
  @inlinable public static var _$zero: String { "" }
  @inlinable @inline(__always) public init?(_$bytes bytes: UnsafeRawBufferPointer) {
    self.init(decoding: bytes, as: UTF8.self)
  }
  @inlinable public func _$withBytes(_ body: (UnsafeRawBufferPointer) -> Void) {
    var text = self
    text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
  }
  public init?(persisted value: Value) {
    guard case .string(let text) = value else { return nil }
    self = text
  }
  public var persistedValue: Value { .string(self) }
}

extension Data: BytesScalar {
  @inlinable public static var _$type: ValueType { .data }
  @inlinable public static var _$zero: Data { Data() }
  @inlinable public init?(_$bytes bytes: UnsafeRawBufferPointer) { self.init(bytes) }
  @inlinable public func _$withBytes(_ body: (UnsafeRawBufferPointer) -> Void) { withUnsafeBytes(body) }
  public init?(persisted value: Value) {
    guard case .data(let data) = value else { return nil }
    self = data
  }
  public var persistedValue: Value { .data(self) }
}

extension UUID: BytesScalar {
  @inlinable public static var _$type: ValueType { .uuid }
  @inlinable public static var _$zero: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
  @inlinable public init?(_$bytes bytes: UnsafeRawBufferPointer) {
    guard bytes.count == 16 else { return nil }
    self.init(uuid: bytes.loadUnaligned(as: uuid_t.self))
  }
  @inlinable public func _$withBytes(_ body: (UnsafeRawBufferPointer) -> Void) {
    withUnsafeBytes(of: uuid) { body($0) }
  }
  public init?(persisted value: Value) {
    guard case .uuid(let uuid) = value else { return nil }
    self = uuid
  }
  public var persistedValue: Value { .uuid(self) }
}
