import StoreValues

/// One version of a store, as every part of reading it needs: which version it is, its schema, what can be done with it, and its end.
///
/// `version` and `catalog` are asked for every query and every write and must not read the file; the rest once a transaction. On one
/// thread at a time, as all calls of a transaction are.
public protocol VersionReading: AnyObject {
  /// The version that is read; in a write, the version the write began from.
  var version: Version { get }

  /// The schema of this version; in a write, as changed by it.
  var catalog: Catalog { get }

  /// What the transaction can do beyond this protocol: a power it conforms to but does not name here is not used. O(1).
  var powers: StoragePowers { get }

  /// Ends the transaction: a read lets go of its version, an open write is rolled back. Idempotent. Dropping
  /// the last reference does the same. Every other call afterwards throws `.closed`.
  func end()
}
