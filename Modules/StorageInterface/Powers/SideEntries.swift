import StoreValues

/// A power of transactions: small byte records beside the objects, for a layer above that keeps information about them which
/// must always match the data (what replication knows of each object, say).
///
/// An entry belongs to the version: the transaction that writes the objects writes it, the snapshots that see them see it, and
/// a rollback, also of a savepoint, removes it. It belongs to the file, not to an object: whoever put it must remove it when
/// its subject is deleted. It is in no commit record, in no query and in no copy of the store. Keys have 1 to
/// `SideKey.countMax` bytes and sort as by `memcmp`, a prefix before the longer key; values have 0 bytes up to the limit of a
/// bytes column.
///
/// A store without side entries has no storage for them, and these calls then answer from the catalog alone. The first entry
/// makes the file one of a newer format (`Catalog.hasSideEntries`).
///
/// Called for each object that a commit changes, by users of the power only; never for stores without side entries.
/// **Threads, memory, errors.** As in `StorageReading`. A key that is too short or too long is `.misuse`, of scope statement.
public protocol SideReading: StorageReading {
  /// Whether other programs may write objects without the library, as in an SQLite file. Users of side entries must then detect
  /// such changes by comparing their entries with the objects. False if an engine does not say.
  var isOpenToOthers: Bool { get }

  /// The value of a key, lent; nil if there is no entry. `body` runs exactly once unless the call throws. O(log n).
  func side(_ key: [UInt8], _ body: (UnsafeRawBufferPointer?) -> Void) throws(StorageError)

  /// The entries from `start` on, ascending, up to but excluding `end`; to the last if `end` is nil. `start` and `end` may have
  /// any length: an empty start is before all. Key and value are lent for the call of `body` only, which may read the
  /// transaction. O(log n), then O(1) per entry.
  func sides(
    from start: [UInt8], below end: [UInt8]?, _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Step
  ) throws(StorageError)
}

extension SideReading {
  public var isOpenToOthers: Bool { false }
}

/// The same in a write, which sees its own entries.
public protocol SideWriting: SideReading, WriteTransaction {
  /// Puts an entry, or removes it if `value` is nil; removing a missing entry is not an error. Copies the bytes. Undone with
  /// the enclosing savepoint. Throws `.misuse` or `.tooLarge`, of scope statement: nothing was put.
  func setSide(_ key: [UInt8], _ value: [UInt8]?) throws(StorageError)
}

/// The rules for keys of side entries.
public enum SideKey {
  /// The most bytes of a key: LMDB's limit, less the engine's prefix.
  public static let countMax = 480

  /// Throws for a key that no entry can have.
  public static func check(_ key: [UInt8]) throws(StorageError) {
    if (1...countMax).contains(key.count) { return }
    throw StorageError(
      .misuse, .statement, "A side entry's key has \(key.count) bytes.", remedy: "Give it 1 to \(countMax).")
  }
}

extension SideReading {
  /// The transaction itself.
  public var sideReading: (any SideReading)? { self }

  /// The value of a key, copied; nil if there is no entry.
  public func side(_ key: [UInt8]) throws(StorageError) -> [UInt8]? {
    var value: [UInt8]?
    try side(key) { bytes in value = bytes.map { Array($0) } }
    return value
  }
}

extension SideWriting {
  /// The transaction itself.
  public var sideWriting: (any SideWriting)? { self }
}

extension Catalog {
  /// Whether the file has storage for side entries: true from the first one on, permanently. An engine that puts the first one
  /// makes its catalog `withSideEntries`, and keeps that in whatever catalog it is given afterwards.
  public var hasSideEntries: Bool { sides ?? false }

  /// The catalog of a file with storage for side entries.
  public func withSideEntries() -> Catalog {
    var catalog = self
    catalog.sides = true
    return catalog
  }

  /// The catalog of a file without storage for side entries: for copies, which start without.
  public func withoutSideEntries() -> Catalog {
    var catalog = self
    catalog.sides = nil
    return catalog
  }
}
