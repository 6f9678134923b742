import ChangeTracker
import StorageInterface
import StoreValues
import SyncModel

/// Makes remote operations a part of an open write: merges them, and does what became visible, and nothing else, to the objects.
///
/// The write is recorded like any other, so live objects, results and observers follow it as they follow all commits. Its delete
/// rules are off but for embedded objects: what a rule deleted, its author's changeset says.
///
/// After every operation the objects are what the merge state shows. A link whose target is not there, or not in the incarnation its
/// author saw, is *hidden*: a property reads null, a collection of objects passes it over, and in a mixed value it is null. When the
/// target comes, what hides links to it is looked through (`MergeState.linkers`) and they are shown.
///
/// The state keeps the values of links, and of whatever it replaces as a whole (`Effect.Change.replaced`). What it does not know
/// of (a class, a property that only newer schemas have) is merged and not shown; a value that a property of the file cannot hold is
/// `.schemaMismatch`, and the write is to be ended.
///
/// Confined to the write's owner. An operation on a list of n elements costs O(n) reads of the state.
package struct Integrator<State: MergeState> where State.Failure == StorageError {
  let write: RecordedTransaction
  package let names: ObjectNames
  var watched: WatchedState<State>
  var rows: [TableID: RowBuffer] = [:]
  /// The object that is begun.
  var pending: PendingRow?

  /// What has been merged so far.
  package var state: State { watched.base }

  /// - Parameter own: the replica that the file is.
  package init(_ write: RecordedTransaction, _ sides: any SideWriting, own: ReplicaID, state: State) {
    self.write = write
    names = ObjectNames(sides, own: own)
    watched = WatchedState(state)
  }

  /// Takes in a changeset. When it throws, the write is to be ended: a part of it may be done.
  package mutating func integrate(_ changeset: Changeset, seq: Seq) throws(StorageError) {
    for (index, operation) in changeset.operations.enumerated() {
      try integrate(operation, at: changeset.stamp(of: index), seq: seq)
    }
    try settle()
  }

  /// Takes in one operation. `settle` is to follow the last one.
  package mutating func integrate(_ operation: SyncModel.Operation, at stamp: Stamp, seq: Seq) throws(StorageError) {
    // Nothing is merged while an object that links may lead to is not in the file, but what goes with its row.
    if let pending, !operation.isPlainSet(of: pending.object) { try settle() }
    if !watched.replaced.isEmpty { watched.replaced.removeAll(keepingCapacity: true) }
    for effect in try Merge.apply(operation, at: stamp, seq: seq, to: &watched) { try show(effect) }
  }

  /// Takes the server's states in place of the own ones: a refusal, or the pages of a snapshot (`Merge.take`).
  package mutating func take(
    _ states: [ObjectIdentity: ObjectState?], under pending: PendingChangesets
  ) throws(StorageError) {
    var before: [ObjectIdentity: Stamp] = [:]
    for object in states.keys { before[object] = try watched.record(of: object)?.node.guarding.epoch ?? .zero }
    for effect in try Merge.take(states, under: pending, in: &watched) { try show(effect) }
    // Another incarnation stands in the place of the one before: links to that one lead nowhere now, and others somewhere.
    for (object, epoch) in before {
      guard let record = try watched.record(of: object), record.isAlive, record.node.guarding.epoch != epoch else { continue }
      for linker in try watched.linkers(of: object) { try reconcile(linker, .links) }
    }
  }

  /// Forgets what a purge marker covers. Nothing visible changes: links that it severs are hidden already.
  package mutating func purge(_ purge: Purge) throws(StorageError) { _ = try Merge.purge(purge, in: &watched) }

  private mutating func show(_ effect: Effect) throws(StorageError) {
    let (object, path) = (effect.object, effect.path)
    if case .set(let name, let value) = effect.change, try setPending(name, value, in: object, path) { return }
    try settle()
    switch effect.change {
    case .created: try begin(object)
    case .deleted: try delete(object)
    case .replaced: try reconcile(object)
    case .set(let name, let value): try set(name, value, in: object, path)
    case .increment(let name, let delta): try add(delta, to: name, in: object, path)
    case .made: try make(object, path)
    case .removed: try remove(object, path)
    case .inserted(let id, _, let value): try insert(id, value, in: ListPlace(object: object, path: path))
    case .setElement(let id, _, let value): try setElement(id, value, in: ListPlace(object: object, path: path))
    case .moved(let id, let from, _): try move(id, from: from, in: ListPlace(object: object, path: path))
    case .erased(let id, let from): try erase(id, from: from, in: ListPlace(object: object, path: path))
    case .insertedMember(let value): try insertMember(value, in: object, path)
    case .erasedMember(let value): try eraseMember(value, in: object, path)
    case .setEntry(let key, let value): try setEntry(key, value, in: object, path)
    case .erasedEntry(let key):
      if let map = try collection(object, path) { try write.remove(key: key.text, from: map.id, map.owner) }
    case .cleared: try clear(object, path)
    }
  }
}

extension StorageError.Code {
  /// A replicated value, or key, is of a kind that the schema of the file does not have there.
  public static let schemaMismatch = Self(rawValue: "schemaMismatch")
}
