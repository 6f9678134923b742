/// The merge of replicated changes. Clients and the server run the same code, over any `MergeState`.
///
/// **What it promises.** State is a product of cells. Each cell is a join-semilattice (the highest key of a register, the union of
/// increments, the highest stamp of a position, *erased* above *present*) and each operation is a join with a small element, below the
/// epochs of `EpochGuard`. So operations commute and are idempotent (Shapiro, Preguiça, Baquero, Zawirski: *Conflict-free Replicated Data
/// Types*, 2011): replicas that integrated the same operations are in the same state, whatever the order of arrival, on two conditions:
/// 1. An operation on an element arrives after the element's insert. One on a missing element is ignored, because the element cannot be
///    told from one that a purge has forgotten.
/// 2. Operations made before a purge marker's stable entry are not applied again after the marker (`Purge`).
///
/// In-order delivery of a server's log, where a changeset's base is always below its own entry, guarantees both.
public enum Merge {
  /// Merges one operation.
  ///
  /// - Parameters:
  ///   - stamp: the stamp of the operation in its changeset.
  ///   - seq: the entry of the log that brought the operation; `.pending` for an own change that is not in the log yet. When the log
  ///     returns an own change, it is merged again with its entry; this changes only its place in the log.
  /// - Returns: the visible changes; none for an operation that lost. Apply them before merging the next operation, because
  ///   `Effect.Change.replaced` refers to the state as this call left it.
  /// - Complexity: O(the object's record), plus what the state takes to find an element.
  public static func apply<State: MergeState>(
    _ operation: Operation, at stamp: Stamp, seq: Seq, to state: inout State
  ) throws(State.Failure) -> [Effect] {
    guard operation.isWellFormed else { return [] }
    var run = MergeRun(operation: operation, stamp: stamp, seq: seq, floor: state.floor)
    let known = try state.lendRecord(of: operation.object)
    let isNew = known == nil
    // `record` is the only reference to its storage, so it is changed in place.
    var record = (consume known) ?? ObjectRecord()
    let isChanged = try run.merge(into: &record, in: &state)
    try state.returnRecord(isNew && !isChanged ? nil : record, of: operation.object, isChanged: isChanged)
    return run.effects
  }

  /// Merges the operations of a changeset in order. For the visible changes, merge them one by one: the state must be read in between.
  public static func apply<State: MergeState>(_ changeset: Changeset, seq: Seq, to state: inout State) throws(State.Failure) {
    for (index, operation) in changeset.operations.enumerated() {
      _ = try apply(operation, at: changeset.stamp(of: index), seq: seq, to: &state)
    }
  }

  /// Whether a link leads to a live object of the incarnation that the author of the link saw. Any other link reads as null and is left
  /// out of collections; it may lead somewhere later, when its target arrives.
  public static func resolves<State: MergeState>(_ link: LinkTarget, in state: State) throws(State.Failure) -> Bool {
    guard let record = try state.record(of: link.object), record.isAlive else { return false }
    return record.node.guarding.passage(of: link.epoch, floor: state.floor) == .current
  }

  /// Whether a link names the incarnation that a guard has.
  package static func resolves(_ link: LinkTarget, _ guarding: EpochGuard, floor: Stamp) -> Bool {
    guarding.passage(of: link.epoch, floor: floor) == .current
  }
}
