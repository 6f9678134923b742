import StorageInterface
import StoreValues

/// A snapshot of a key-value store.
///
/// **Memory.** Bytes that `value` returns stay in place and unchanged until `end` (or the last reference), so readers can keep
/// pointers; those that closures receive at least until the closure returns. They are not aligned.
/// **Threads.** One thread at a time, but any.
public protocol KeyValueSnapshot: AnyObject, Sendable {
  var version: Version { get }

  /// The value of a key, valid until the snapshot ends; nil if there is none. O(log n).
  func value(for key: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer?

  /// The value of a key for use after the snapshot's end, copied or in place; nil if there is none.
  ///
  /// A value without an owner is at the same address in every snapshot that has the same `memory` and a version that holds the
  /// value, until a batch puts or deletes its key. The default copies.
  func lastingValue(for key: UnsafeRawBufferPointer) throws(StorageError) -> LastingValue?

  /// Identifies the memory that values without an owner are in. Changes when they may have moved.
  var memory: UInt64 { get }

  /// Visits entries in key order from the first key at or after `start`, until `body` returns stop or the keys end; in reverse,
  /// from the last key at or before `start` downwards. `start` may be longer than any key. The visit ends at the first key that
  /// does not share the first `prefix` bytes of `start`, without reading its value, so that damage there does not affect
  /// entries before it. O(log n), then O(1) per entry.
  func visit(
    from start: UnsafeRawBufferPointer, sharing prefix: Int, reverse: Bool,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Step
  ) throws(StorageError)

  /// As `visit`, without values, which a store may have to make first. The default visits both.
  func visitKeys(
    from start: UnsafeRawBufferPointer, sharing prefix: Int, reverse: Bool, _ body: (_ key: UnsafeRawBufferPointer) -> Step
  ) throws(StorageError)

  /// Releases the version. Idempotent. Every other call throws `.closed` afterwards.
  func end()
}

/// A value that outlives the snapshot it was read from.
public struct LastingValue {
  /// The value.
  public let bytes: UnsafeRawBufferPointer
  /// The owner of the bytes; nil if it is the store.
  public let owner: ValueBuffer?
  /// Whether the bytes were copied for this value.
  public let isCopy: Bool

  private init(_ bytes: UnsafeRawBufferPointer, _ owner: ValueBuffer?, isCopy: Bool) {
    (self.bytes, self.owner, self.isCopy) = (bytes, owner, isCopy)
  }

  /// A copy of lent bytes.
  public init(copying bytes: UnsafeRawBufferPointer) {
    let copy = ValueBuffer(copying: bytes)
    self.init(copy.bytes, copy, isCopy: true)
  }

  /// A buffer that was made for this value.
  public init(making buffer: ValueBuffer) { self.init(buffer.bytes, buffer, isCopy: true) }

  /// A buffer that the store keeps.
  public init(sharing buffer: ValueBuffer) { self.init(buffer.bytes, buffer, isCopy: false) }

  /// Bytes that stay in place as long as versions hold them.
  public init(inPlace bytes: UnsafeRawBufferPointer) { self.init(bytes, nil, isCopy: false) }
}

extension KeyValueSnapshot {
  /// Keys that begin with `prefix`, in order.
  public func visitKeys(
    within prefix: UnsafeRawBufferPointer, _ body: (_ key: UnsafeRawBufferPointer) -> Step
  ) throws(StorageError) {
    try visitKeys(from: prefix, sharing: prefix.count, reverse: false, body)
  }

  /// By `visit`.
  public func visitKeys(
    from start: UnsafeRawBufferPointer, sharing prefix: Int, reverse: Bool, _ body: (_ key: UnsafeRawBufferPointer) -> Step
  ) throws(StorageError) {
    try visit(from: start, sharing: prefix, reverse: reverse) { key, _ in body(key) }
  }

  /// A constant, because no value lacks an owner.
  public var memory: UInt64 { 0 }

  /// A copy.
  public func lastingValue(for key: UnsafeRawBufferPointer) throws(StorageError) -> LastingValue? {
    try value(for: key).map { LastingValue(copying: $0) }
  }
}
