import StorageInterface
import StoreValues

/// One version of a key-value store.
///
/// **Memory.** Bytes that are lent, by `value` and to closures alike, stay where they are and unchanged until
/// `end` (or the last reference), so that a reader can keep pointers. Their address has no alignment.
/// **Threads.** One thread at a time, but any.
public protocol KeyValueSnapshot: AnyObject, Sendable {
  var version: Version { get }

  /// The value of a key, lent until the snapshot ends; nil when there is none. O(log n).
  func value(for key: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer?

  /// The value of a key, to be read beyond the snapshot's end: in memory of its own, or where it lies; nil when there is none.
  ///
  /// Where a value has no owner, every snapshot with the same `memory` of a version that holds it has it there,
  /// until a batch puts or deletes its key. By default a copy.
  func lastingValue(for key: UnsafeRawBufferPointer) throws(StorageError) -> LastingValue?

  /// What memory values without an owner lie in. Another number where they may lie elsewhere.
  var memory: UInt64 { get }

  /// Entries in key order from the first key at or after `start`, until `body` says stop or the keys end; in
  /// reverse, from the last key at or before `start` downwards. `start` may be longer than any key.
  /// They end where a key does not begin with the first `prefix` bytes of `start`: the value of that one is not looked at, so that
  /// its damage keeps nobody from what is before it. O(log n), then O(1) an entry.
  func visit(
    from start: UnsafeRawBufferPointer, sharing prefix: Int, reverse: Bool,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Step
  ) throws(StorageError)

  /// Gives the version back. Idempotent. Every other call throws `.closed` afterwards.
  func end()
}

/// A value that outlives the snapshot it was read from.
public struct LastingValue {
  /// The value.
  public let bytes: UnsafeRawBufferPointer
  /// Whose the bytes are; nil for those of the store.
  public let owner: ValueBuffer?
  /// Whether the bytes were copied for this.
  public let isCopy: Bool

  private init(_ bytes: UnsafeRawBufferPointer, _ owner: ValueBuffer?, isCopy: Bool) {
    (self.bytes, self.owner, self.isCopy) = (bytes, owner, isCopy)
  }

  /// A copy of what is lent.
  public init(copying bytes: UnsafeRawBufferPointer) {
    let copy = ValueBuffer(copying: bytes)
    self.init(copy.bytes, copy, isCopy: true)
  }

  /// What the store keeps in memory of its own.
  public init(sharing buffer: ValueBuffer) { self.init(buffer.bytes, buffer, isCopy: false) }

  /// What stays where it is as long as versions hold it.
  public init(inPlace bytes: UnsafeRawBufferPointer) { self.init(bytes, nil, isCopy: false) }
}

extension KeyValueSnapshot {
  /// Entries whose keys begin with `prefix`, in key order.
  public func visit(
    within prefix: UnsafeRawBufferPointer, _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Step
  ) throws(StorageError) {
    try visit(from: prefix, sharing: prefix.count, reverse: false, body)
  }

  /// One memory, which no value without an owner lies in.
  public var memory: UInt64 { 0 }

  /// A copy.
  public func lastingValue(for key: UnsafeRawBufferPointer) throws(StorageError) -> LastingValue? {
    try value(for: key).map { LastingValue(copying: $0) }
  }
}
