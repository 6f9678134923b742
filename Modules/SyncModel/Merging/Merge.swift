/// The merge of replicated changes: the same code for every client and for the server, over any `MergeState`.
///
/// **What it promises.** State is a product of cells. Each cell is a join-semilattice (the highest key of a register, the union of
/// increments, the highest stamp of a position, *erased* above *present*) and each operation a join with a small
/// element, below the epochs of `EpochGuard`. So operations commute, and doing one again changes nothing (Shapiro, Preguiça, Baquero,
/// Zawirski: *Conflict-free Replicated Data Types*, 2011): replicas that integrated the same operations are
/// in the same state, in whatever order they came, as long as
/// 1. an operation on an element comes after the element's insert. One on an element that is not there is ignored,
///    because it cannot be told from one that a purge has forgotten;
/// 2. operations made before a purge marker's stable entry are not given again after the marker (`Purge`).
///
/// In-order delivery of a server's log, where a changeset's base is always below its own entry, gives both.
public enum Merge {
  /// Merges one operation.
  ///
  /// - Parameters:
  ///   - stamp: of the operation in its changeset.
  ///   - seq: the entry of the log that brought it; `.pending` for an own change on its way there. An own change is merged
  ///     again with its entry once the log brings it back: nothing changes but the place in the log.
  /// - Returns: what changed visibly; nothing for an operation that lost.
  /// - Complexity: O(the object's record), and the state's of finding an element.
  public static func apply<State: MergeState>(
    _ operation: Operation, at stamp: Stamp, seq: Seq, to state: inout State
  ) throws(State.Failure) -> [Effect] {
    guard operation.isWellFormed else { return [] }
    var run = MergeRun(operation: operation, stamp: stamp, seq: seq, floor: state.floor)
    let known = try state.lendRecord(of: operation.object)
    let isNew = known == nil
    // The only reference to what it holds: it is changed where it stands.
    var record = (consume known) ?? ObjectRecord()
    let isChanged = try run.merge(into: &record, in: &state)
    try state.returnRecord(isNew && !isChanged ? nil : record, of: operation.object, isChanged: isChanged)
    return run.effects
  }

  /// Merges the operations of a changeset, in their order.
  public static func apply<State: MergeState>(
    _ changeset: Changeset, seq: Seq, to state: inout State
  ) throws(State.Failure) -> [Effect] {
    var effects: [Effect] = []
    for (index, operation) in changeset.operations.enumerated() {
      effects += try apply(operation, at: changeset.stamp(of: index), seq: seq, to: &state)
    }
    return effects
  }

  /// Whether a link leads to an object: one that is there, of the incarnation that the author of the link saw. Another one
  /// reads as null, and is left out in collections; it may come to lead somewhere when the target arrives.
  public static func resolves<State: MergeState>(_ link: LinkTarget, in state: State) throws(State.Failure) -> Bool {
    guard let record = try state.record(of: link.object), record.isAlive else { return false }
    return record.node.guarding.passage(of: link.epoch, floor: state.floor) == .current
  }

  /// Whether a link means the incarnation of an object that has a guard.
  package static func resolves(_ link: LinkTarget, _ guarding: EpochGuard, floor: Stamp) -> Bool {
    guarding.passage(of: link.epoch, floor: floor) == .current
  }
}
