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

  /// Entries in key order from the first key at or after `start`, until `body` says stop or the keys end; in
  /// reverse, from the last key at or before `start` downwards. `start` may be longer than any key.
  /// O(log n), then O(1) an entry.
  func visit(
    from start: UnsafeRawBufferPointer, reverse: Bool,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Step
  ) throws(StorageError)

  /// Gives the version back. Idempotent. Every other call throws `.closed` afterwards.
  func end()
}
