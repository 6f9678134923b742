import ChangeTracker
import StorageInterface
import StoreValues
import SyncModel

/// Integrates remote operations into an open write: merges them, and applies exactly the visible effects to the objects.
///
/// The write is recorded like any other, so live objects, results and observers follow it as they follow all commits. Its delete rules
/// are off except for embedded objects: what a rule deleted is in its author's changeset.
///
/// After every operation the objects are what the merge state shows. A link whose target does not exist, or not in the incarnation its
/// author saw, is *hidden*: a property reads null, a collection of objects leaves it out, and in a mixed value it is null. When the
/// target arrives, the objects that may link to it (`MergeState.linkers`) are updated and the links are shown.
///
/// The state keeps the values of links, and of whatever is replaced as a whole (`Effect.Change.replaced`). Classes and properties that
/// only newer schemas have are merged and not shown. A value that a property of the file cannot hold throws `.schemaMismatch`, and the
/// write must be rolled back.
///
/// Confined to the write's owner. An operation on a list of n elements costs O(n) reads of the state.
package struct Integrator<State: MergeState> where State.Failure == StorageError {
  let write: RecordedTransaction
  package let names: ObjectNames
  var watched: WatchedState<State>
  var rows: [TableID: RowBuffer] = [:]
  /// The object that is begun and not inserted yet.
  var pending: PendingRow?

  /// The state with everything merged so far.
  package var state: State { watched.base }

  /// - Parameter own: the file's replica.
  package init(_ write: RecordedTransaction, _ sides: any SideWriting, own: ReplicaID, state: State) {
    self.write = write
    names = ObjectNames(sides, own: own)
    watched = WatchedState(state)
  }

  /// Integrates a changeset. If it throws, the write must be rolled back: a part may be done.
  package mutating func integrate(_ changeset: Changeset, seq: Seq) throws(StorageError) {
    for (index, operation) in changeset.operations.enumerated() {
      try integrate(operation, at: changeset.stamp(of: index), seq: seq)
    }
    try settle()
  }

  /// Integrates one operation. Call `settle` after the last one.
  package mutating func integrate(_ operation: SyncModel.Operation, at stamp: Stamp, seq: Seq) throws(StorageError) {
    // While an object is pending, nothing is merged except what goes into its row: links may lead to it.
    if let pending, !operation.isPlainSet(of: pending.object) { try settle() }
    if !watched.replaced.isEmpty { watched.replaced.removeAll(keepingCapacity: true) }
    for effect in try Merge.apply(operation, at: stamp, seq: seq, to: &watched) { try show(effect) }
  }

  /// Replaces the own states by the server's: for a refusal, or the pages of a snapshot (`Merge.take`).
  package mutating func take(
    _ states: [ObjectIdentity: ObjectState?], under pending: PendingChangesets
  ) throws(StorageError) {
    var before: [ObjectIdentity: Stamp] = [:]
    for object in states.keys { before[object] = try watched.record(of: object)?.node.guarding.epoch ?? .zero }
    for effect in try Merge.take(states, under: pending, in: &watched) { try show(effect) }
    // A new incarnation: links to the previous one now lead nowhere, and links to this one lead somewhere.
    for (object, epoch) in before {
      guard let record = try watched.record(of: object), record.isAlive, record.node.guarding.epoch != epoch else { continue }
      for linker in try watched.linkers(of: object) { try reconcile(linker, .links) }
    }
    // Of use to the effects of one operation only.
    watched.replaced.removeAll()
  }

  /// Forgets what a purge marker covers. Nothing visible changes: the links that it severs are already hidden.
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
  /// A replicated value or key has a type that the file's schema does not allow there.
  public static let schemaMismatch = Self(rawValue: "schemaMismatch")
}
