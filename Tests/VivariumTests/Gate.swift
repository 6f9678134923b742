import StorageInterface
import StoreValues
import Synchronization
import Vivarium
import VivariumTestSupport

/// The wrapper of an engine, made once.
private final class SharedWrapper: Sendable {
  private let made = Mutex<ForwardingEngine?>(nil)

  func wrapper(_ make: () -> ForwardingEngine) -> ForwardingEngine {
    made.withLock { made in
      let wrapper = made ?? make()
      made = wrapper
      return wrapper
    }
  }
}

/// Lets nobody scan while it is closed, nobody read objects of a type while that is, and nobody commit while the one for commits is.
final class Gate: Sendable {
  let isClosed = Atomic(false)
  /// Scans fail, of snapshots and in writes.
  let isBroken = Atomic(false)
  /// How many have failed.
  let refusals = Atomic(0)
  private let closedType = Mutex<String?>(nil)
  let isClosedToCommits = Atomic(false)
  /// Commits fail, and make no version.
  let refusesCommits = Atomic(false)
  let (reached, opened) = (Signal(), Signal())

  fileprivate func pass(_ isClosed: borrowing Atomic<Bool>) {
    guard isClosed.load(ordering: .acquiring) else { return }
    reached.fire()
    _ = opened.wait()
  }

  /// Lets nobody read objects of one type from snapshots, by scans or one by one.
  func close(_ type: String) { closedType.withLock { $0 = type } }

  fileprivate func pass(_ table: TableID, _ reading: any StorageReading) {
    guard let type = closedType.withLock({ $0 }), reading.catalog[table]?.name == type else { return }
    reached.fire()
    _ = opened.wait()
  }

  fileprivate func check() throws(StorageError) {
    guard isBroken.load(ordering: .acquiring) else { return }
    refusals.add(1, ordering: .relaxed)
    throw StorageError(.io, .statement, "The disk is broken.")
  }

  /// Lets go who waits, and everybody who comes.
  func open() {
    isClosed.store(false, ordering: .releasing)
    isClosedToCommits.store(false, ordering: .releasing)
    closedType.withLock { $0 = nil }
    opened.fire()
  }
}

extension StorageBackend {
  /// The backend behind a gate. All its engines are one, so that all stores share one notifier.
  func behind(_ gate: Gate) -> any StorageBackend {
    let shared = SharedWrapper()
    return ForwardingBackend(self) { engine in
      shared.wrapper {
        ForwardingEngine(engine, read: { GatedRead(base: $0, gate: gate) }, write: { GatedWrite(base: $0, gate: gate) })
      }
    }
  }
}

private final class GatedRead: ForwardingRead {
  let base: any ReadTransaction
  let gate: Gate
  init(base: any ReadTransaction, gate: Gate) { (self.base, self.gate) = (base, gate) }

  /// None: every read has to be seen.
  var powers: StoragePowers { StoragePowers() }

  func scan(
    _ table: TableID, _ columns: [PropertyID], from start: ObjectKey, hints: [ZoneHint],
    _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) {
    try gate.check()
    gate.pass(gate.isClosed)
    gate.pass(table, base)
    try base.scan(table, columns, from: start, hints: hints, body)
  }

  func keys(
    in index: IndexID, _ range: IndexRange, descending: Bool, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    try gate.check()
    gate.pass(gate.isClosed)
    try base.keys(in: index, range, descending: descending, body)
  }

  func contains(_ table: TableID, _ key: ObjectKey) throws(StorageError) -> Bool {
    gate.pass(table, base)
    return try base.contains(table, key)
  }

  func word(_ column: ColumnID, _ key: ObjectKey) throws(StorageError) -> Int64? {
    gate.pass(column.table, base)
    return try base.word(column, key)
  }
}

private final class GatedWrite: ForwardingWrite {
  let base: any WriteTransaction
  let gate: Gate
  init(base: any WriteTransaction, gate: Gate) { (self.base, self.gate) = (base, gate) }

  /// None: every scan has to be seen.
  var powers: StoragePowers { StoragePowers() }

  func scan(
    _ table: TableID, _ columns: [PropertyID], from start: ObjectKey, hints: [ZoneHint],
    _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) {
    try gate.check()
    try base.scan(table, columns, from: start, hints: hints, body)
  }

  func commit(_ record: CommitRecord, _ durability: Durability) throws(StorageError) -> Version {
    gate.pass(gate.isClosedToCommits)
    if gate.refusesCommits.load(ordering: .acquiring) { throw StorageError(.io, .statement, "The disk takes no commit.") }
    return try base.commit(record, durability)
  }
}
