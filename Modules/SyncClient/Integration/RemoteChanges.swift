import ChangeTracker
import StorageInterface
import StoreValues
import SyncModel
import SyncProtocol

/// Integrates the server's messages into an open write: objects, merge state, clock, outbox and cursor change together or not at all.
///
/// ```swift
/// try await store.integrate { write in
///   var changes = try RemoteChanges(write)
///   for entry in page.entries { try changes.take(entry) }
///   try changes.finish(at: page.cursor)
/// }
/// ```
///
/// If anything throws, the write must be rolled back; nothing is then done. For one write; confined to its owner.
package struct RemoteChanges {
  let sides: any SideWriting
  let state: FileState
  var integrator: Integrator<FileState>
  /// The replica's identity and counters; `finish` stores it.
  package var standing: ReplicaStanding
  /// What became of pending changes when the file began anew, or discarded them for that; nil if it did not.
  package internal(set) var report: RecoveryReport?

  /// - Throws: `.syncRequired` for an engine without side entries, and errors of reading them.
  package init(_ write: RecordedTransaction) throws(StorageError) {
    guard let sides = write.transaction.writePowers.sides else { throw .withoutSideEntries }
    self.sides = sides
    state = try FileState(sides)
    standing = try ReplicaStanding.read(sides) ?? .drawn()
    cursor = try SyncCursor.read(sides)
    integrator = Integrator(write, sides, own: standing.replica, state: state)
    state.settled.names = integrator.names
  }

  /// The last integrated entry of the log.
  package internal(set) var cursor: Seq

  /// Integrates the next entry. An entry that was integrated before has no effect.
  package mutating func take(_ entry: LogEntry) throws(StorageError) {
    if entry.seq <= cursor { return }
    cursor = entry.seq
    switch entry.body {
    case .changeset(_, let changeset):
      try integrate(changeset, at: entry.seq)
      if !changeset.operations.isEmpty { standing.clock.receive(changeset.last) }
    case .own(let clientSeq):
      // Only its place in the log changes.
      guard let own = try Outbox.changeset(clientSeq, sides) else { return }
      try integrate(own, at: entry.seq)
      try Outbox.remove(clientSeq, sides)
    case .refusal(let clientSeq, _, _, let states):
      standing.refusalSeen = max(standing.refusalSeen, entry.seq)
      try updatePending(taking: states) { $0.refuse(clientSeq, with: states) }
    case .purge(let purge): try forget(purge)
    case .schema: break
    }
  }

  /// Objects that came in a page may already include later entries. Those are not merged again, since a purge may have forgotten what
  /// they would lose against.
  private mutating func integrate(_ changeset: Changeset, at seq: Seq) throws(StorageError) {
    var isKnown: [ObjectIdentity: Bool] = [:]
    var last: (object: ObjectIdentity, isKnown: Bool)?
    for (index, operation) in changeset.operations.enumerated() {
      let object = operation.object
      if last?.object != object {
        if let known = isKnown[object] {
          last = (object, known)
        } else {
          let known = (try state.record(of: object)?.lastSeq ?? .zero) >= seq
          isKnown[object] = known
          last = (object, known)
        }
      }
      if last?.isKnown == true { continue }
      try integrator.integrate(operation, at: changeset.stamp(of: index), seq: seq)
    }
    try integrator.settle()
  }

  /// Forgets what a marker covers. A void change may link to an incarnation that was refused, which cannot be told from a forgotten one
  /// afterwards; until its answer comes, it is shown as the merge state has it.
  mutating func forget(_ purge: Purge) throws(StorageError) {
    try integrator.purge(purge)
    for pending in try Outbox.pending(sides).all where pending.isVoid {
      for object in pending.changeset.objects { try integrator.reconcile(object, .links) }
    }
  }

  /// Stores the progress. Call it once, at the end.
  ///
  /// - Parameter shown: the entry up to which everything was received, even if no entry concerned the replica.
  package mutating func finish(at shown: Seq = .zero) throws(StorageError) {
    cursor = max(cursor, shown)
    try SyncCursor.write(cursor, sides)
    standing.captured = sides.version.next
    try standing.write(sides)
    try state.flush()
  }

  private mutating func updatePending(
    taking states: [ObjectIdentity: ObjectState?], _ body: (inout PendingChangesets) -> Void
  ) throws(StorageError) {
    let before = try Outbox.pending(sides)
    var after = before
    body(&after)
    try integrator.take(states, under: after)
    try Outbox.update(from: before, to: after, sides)
  }
}

extension StorageError {
  /// For engines that cannot store what replication needs.
  static var withoutSideEntries: StorageError {
    StorageError(
      .syncRequired, .transaction, "The engine cannot keep what replication needs.", remedy: "Use one with the power 'SideWriting'.")
  }
}

extension StorageError {
  init(_ error: ClockError) { self.init(.syncRequired, .transaction, error.message, remedy: error.remedy) }
}
