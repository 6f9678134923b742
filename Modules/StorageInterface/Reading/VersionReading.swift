import StoreValues

/// One version of a store, the base of all parts of reading: its number, its schema, its powers, and its end.
///
/// `version` and `catalog` are read for every query and every write and must not read the file; the rest once per transaction.
/// On one thread at a time, like all calls of a transaction.
public protocol VersionReading: AnyObject {
  /// The version that is read; in a write, the version the write began from.
  var version: Version { get }

  /// The schema of this version; in a write, as changed by it.
  var catalog: Catalog { get }

  /// The powers of the transaction: a power it conforms to but does not list here is not used. O(1).
  var powers: StoragePowers { get }

  /// Ends the transaction: a read releases its version, an open write is rolled back. Idempotent. Dropping the last reference
  /// does the same. Every other call afterwards throws `.closed`.
  func end()
}
