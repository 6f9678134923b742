import Foundation
import StorageInterface
import StoreValues
import Synchronization

/// A version that several threads read at once.
///
/// A transaction allows one thread at a time. So there is one for each thread that reads at the same time, up to some: while the
/// version is the newest, more transactions of it can be begun. When no more can be begun, threads wait for each other.
final class SharedVersion: ReadTransaction {
  let version: Version
  let catalog: Catalog
  /// The store of the version.
  let identity: StoreIdentity
  private let first: Reader
  private let rest: Mutex<Rest>

  /// A transaction and its lock. The lock is recursive, because the closure that a call runs may make another call.
  private struct Reader: Sendable {
    let base: any ReadTransaction
    let lock = NSRecursiveLock()
  }

  private struct Rest {
    var readers: [Reader] = []
    /// Begins a transaction of the newest version; nil once no more are to be begun.
    var begin: (@Sendable () -> (any ReadTransaction)?)?
  }

  private static let readersMax = max(4, min(16, ProcessInfo.processInfo.activeProcessorCount))

  /// From now on `base` must only be read through this object. `begin`: begins a transaction of the store's newest version.
  init(_ base: any ReadTransaction, of identity: StoreIdentity, begin: (@Sendable () -> (any ReadTransaction)?)? = nil) {
    self.identity = identity
    version = base.version
    catalog = base.catalog
    first = Reader(base: base)
    rest = Mutex(Rest(begin: begin))
  }

  private func alone<R>(_ body: (any ReadTransaction) throws(StorageError) -> R) throws(StorageError) -> R {
    let reader = first.lock.try() ? first : lockReader()
    defer { reader.lock.unlock() }
    return try body(reader.base)
  }

  /// A locked reader. A thread that has one already, and calls from its closure, finds at least that one, so it never waits.
  private func lockReader() -> Reader {
    let readers = rest.withLock(\.readers)
    for reader in readers where reader.lock.try() { return reader }
    if let reader = addReader() { return reader }
    first.lock.lock()
    return first
  }

  private func addReader() -> Reader? {
    let begin = rest.withLock { $0.readers.count < SharedVersion.readersMax - 1 ? $0.begin : nil }
    guard let base = begin?() else { return nil }
    let reader = Reader(base: base)
    reader.lock.lock()
    let isAdded = rest.withLock { rest in
      guard rest.begin != nil, base.version == version else {
        // There are newer versions, and from now on always.
        rest.begin = nil
        return false
      }
      rest.readers.append(reader)
      return true
    }
    if isAdded { return reader }
    reader.lock.unlock()
    base.end()
    return nil
  }

  /// None: the memory that they lend would be read outside the lock.
  var powers: StoragePowers { StoragePowers() }

  func count(_ table: TableID) throws(StorageError) -> Int {
    try alone { base throws(StorageError) in try base.count(table) }
  }
  func contains(_ table: TableID, _ key: ObjectKey) throws(StorageError) -> Bool {
    try alone { base throws(StorageError) in try base.contains(table, key) }
  }
  func word(_ column: ColumnID, _ key: ObjectKey) throws(StorageError) -> Int64? {
    try alone { base throws(StorageError) in try base.word(column, key) }
  }
  func bytes(
    _ column: ColumnID, _ key: ObjectKey, _ body: (UnsafeRawBufferPointer?) -> Void
  ) throws(StorageError) {
    try alone { base throws(StorageError) in try base.bytes(column, key, body) }
  }
  func scan(
    _ table: TableID, _ columns: [PropertyID], from start: ObjectKey, hints: [ZoneHint],
    _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) {
    try alone { base throws(StorageError) in try base.scan(table, columns, from: start, hints: hints, body) }
  }
  func keys(
    in index: IndexID, _ range: IndexRange, descending: Bool, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    try alone { base throws(StorageError) in try base.keys(in: index, range, descending: descending, body) }
  }
  func count(in index: IndexID, _ range: IndexRange) throws(StorageError) -> Int {
    try alone { base throws(StorageError) in try base.count(in: index, range) }
  }
  func count(in index: IndexID, equalTo integer: Int64) throws(StorageError) -> Int {
    try alone { base throws(StorageError) in try base.count(in: index, equalTo: integer) }
  }
  func elementCount(_ column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Int {
    try alone { base throws(StorageError) in try base.elementCount(column, owner) }
  }
  func elements(
    _ column: ColumnID, _ owner: ObjectKey, _ range: Range<Int>, _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) {
    try alone { base throws(StorageError) in try base.elements(column, owner, range, body) }
  }
  func position(of value: Value, in column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Int? {
    try alone { base throws(StorageError) in try base.position(of: value, in: column, owner) }
  }
  func contains(member: Value, in column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    try alone { base throws(StorageError) in try base.contains(member: member, in: column, owner) }
  }
  func value(forKey key: String, in column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Value? {
    try alone { base throws(StorageError) in try base.value(forKey: key, in: column, owner) }
  }
  func key(in index: IndexID, equal values: [Value]) throws(StorageError) -> ObjectKey? {
    try alone { base throws(StorageError) in try base.key(in: index, equal: values) }
  }
  func key(in index: IndexID, equalTo integer: Int64) throws(StorageError) -> ObjectKey? {
    try alone { base throws(StorageError) in try base.key(in: index, equalTo: integer) }
  }
  func sources(
    of target: ObjectKey, through column: ColumnID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    try alone { base throws(StorageError) in try base.sources(of: target, through: column, body) }
  }
  func sources(
    of target: ObjectLink, through column: ColumnID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    try alone { base throws(StorageError) in try base.sources(of: target, through: column, body) }
  }
  func history(after version: Version, _ body: (CommitRecord) -> Step) throws(StorageError) {
    try alone { base throws(StorageError) in try base.history(after: version, body) }
  }

  func end() {
    let readers = rest.withLock { rest in
      rest.begin = nil
      return rest.readers
    }
    for reader in [first] + readers {
      reader.lock.lock()
      reader.base.end()
      reader.lock.unlock()
    }
  }
}

extension Store {
  /// The version that the store reads, for any thread, and usable after the store is gone.
  ///
  /// Has a transaction of its own. A version that is no longer the newest cannot be opened again: then the store shares its own
  /// transaction, and reads it through the same lock until it moves on.
  func sharedSnapshot() -> SharedVersion {
    if let known = reader.sharedVersion, known.version == snapshot.version { return known }
    let engine = shared.engine
    let own = try? engine.beginRead()
    let made: SharedVersion
    if let own, own.version == snapshot.version {
      made = SharedVersion(own, of: identity) { try? engine.beginRead() }
    } else {
      own?.end()
      made = SharedVersion(snapshot, of: identity)
      let isRead = reading === snapshot
      reader.share(made)
      if isRead { read(from: made) }
    }
    reader.sharedVersion = made
    return made
  }
}
