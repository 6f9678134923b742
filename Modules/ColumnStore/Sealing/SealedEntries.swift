import StorageInterface
import StoreValues
import Synchronization

/// The cipher of a store's entries, with what its snapshots know of them in common. From any thread.
final class SealedEntries: Sendable {
  /// An encrypted value, by its length, its nonce and its tag.
  private struct Stamp: Equatable {
    var count: Int
    var ends: [UInt8]

    init(_ sealed: UnsafeRawBufferPointer) {
      count = sealed.count
      ends = Array(sealed.prefix(16)) + Array(sealed.suffix(16))
    }
  }

  /// Entries that each transaction reads have short names: the catalog, and the records of tables and indexes.
  private static let nameMax = 5
  private static let valueMax = 64 << 10

  let cipher: EntryCipher
  /// These entries, decrypted, as they were last. As many as the store has tables and indexes.
  private let known = Mutex<[[UInt8]: (stamp: Stamp, value: ValueBuffer)]>([:])
  private let fences = Mutex<SideFences?>(nil)

  init(_ cipher: EntryCipher) { self.cipher = cipher }

  /// The name of an entry. The keys that have something of a user in them are hidden, and side entries are named after theirs.
  func name(of key: UnsafeRawBufferPointer) -> [UInt8] {
    guard let group = HiddenGroup(of: key) else { return Array(key) }
    return group.isOfSides ? SideDirectory.valuePrefix + cipher.side(key.dropFirst()) : cipher.hidden(key, after: group.prefix.count)
  }

  /// Decrypts a value. The tag of one that is known was checked before.
  func opened(_ sealed: UnsafeRawBufferPointer, _ name: UnsafeRawBufferPointer) throws(StorageError) -> ValueBuffer {
    guard name.count <= SealedEntries.nameMax, sealed.count <= SealedEntries.valueMax else { return try cipher.open(sealed, name) }
    let (name, stamp) = (Array(name), Stamp(sealed))
    if let found = known.withLock({ $0[name] }), found.stamp == stamp { return found.value }
    let value = try name.lend { name throws(StorageError) in try cipher.open(sealed, name) }
    known.withLock { $0[name] = (stamp, value) }
    return value
  }

  /// The fences of the directory of side entries, if they are those of a commit.
  func sideFences(_ version: UInt64) -> SideFences? {
    fences.withLock { $0?.version == version ? $0 : nil }
  }

  /// Keeps the newest fences.
  func keep(_ new: SideFences) {
    fences.withLock { fences in
      if (fences?.version ?? 0) <= new.version { fences = new }
    }
  }

  /// Lets go of what is decrypted.
  func forget() {
    known.withLock { $0 = [:] }
    fences.withLock { $0 = nil }
  }
}
