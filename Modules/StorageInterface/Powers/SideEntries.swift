import StoreValues

/// A power of transactions: small records of bytes beside the objects, for a layer above that keeps books about them (what
/// replication knows of each object, say) and must never know more or less than the data.
///
/// An entry belongs to the version: it is written by the transaction that writes the objects, seen by the snapshots that see them,
/// and gone with a rollback, a savepoint's too. It belongs to the file, not to an object: whoever put it takes it out again when what it is
/// about goes. It is in no commit record, in no query and in no copy of the store. Keys are 1 to `SideKey.countMax` bytes
/// and ascend as by `memcmp`, the shorter first where one begins the other; values are 0 bytes to what a bytes column can hold.
///
/// A store in which nobody ever put an entry has no place for them, and is asked nothing for them: all of these calls answer from the
/// catalog. The first entry makes it one of a newer format (`Catalog.hasSideEntries`).
///
/// Called for each object that a commit changes, by whoever asked for the power; never for stores that nobody keeps books on.
/// **Threads, memory, errors.** As `StorageReading` says. A key that is too short or too long is `.misuse`, of scope statement.
public protocol SideReading: StorageReading {
  /// Whether other programs may write objects past the library, as they may those of a SQLite file. Whoever keeps books on the objects
  /// finds out what they did by what he has written down of them. False where an engine does not say.
  var isOpenToOthers: Bool { get }

  /// The value of a key, lent; nil where there is no entry. `body` runs exactly once unless the call throws. O(log n).
  func side(_ key: [UInt8], _ body: (UnsafeRawBufferPointer?) -> Void) throws(StorageError)

  /// The entries from `start` on, ascending, up to but without `end`; to the last where `end` is nil. `start` and `end` may have any
  /// length: an empty start is before all. Both bytes are lent for the call of `body` alone, which may read the transaction. O(log n),
  /// then O(1) an entry.
  func sides(
    from start: [UInt8], below end: [UInt8]?, _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Step
  ) throws(StorageError)
}

extension SideReading {
  public var isOpenToOthers: Bool { false }
}

/// The same in the write, which sees what it has put.
public protocol SideWriting: SideReading, WriteTransaction {
  /// Puts an entry, or takes it out where `value` is nil; taking out what is not there is no error. The bytes are copied. Undone with the
  /// savepoint it was made in. Throws `.misuse` or `.tooLarge`, of scope statement: nothing was put.
  func setSide(_ key: [UInt8], _ value: [UInt8]?) throws(StorageError)
}

/// The rules for keys of side entries.
public enum SideKey {
  /// Bytes of the longest key: what LMDB takes, less what engines put before it.
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

  /// The value of a key, copied; nil where there is no entry.
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
  /// Whether the file has a place for side entries: true from the first one on, for good. An engine that puts the first one says so by
  /// making its catalog `withSideEntries`, and keeps it so in whatever catalog it is given afterwards.
  public var hasSideEntries: Bool { sides ?? false }

  /// The same catalog of a file that has the place.
  public func withSideEntries() -> Catalog {
    var catalog = self
    catalog.sides = true
    return catalog
  }

  /// The same catalog of a file that has none yet: for copies, which begin without.
  public func withoutSideEntries() -> Catalog {
    var catalog = self
    catalog.sides = nil
    return catalog
  }
}
