/// A marker in the log at which every replica forgets the same things: what exists only so that operations which can no
/// longer come lose to it.
///
/// Why it is safe. The server takes as `stable` the lowest *base of the oldest unacknowledged changeset* over all replicas
/// (`PendingChangesets.baseSeq`), so whoever makes an entry after the marker had integrated all entries up to `stable`
/// when he stamped it. Hence
/// - its stamp is above `floor`, and it wins against every stamp at or below `floor` whether that is remembered or not;
/// - it names no element that an entry up to `stable` erased;
/// - the epochs it names, of nodes whose epoch came with such an entry, are that epoch or later: an epoch at or below the
///   floor that it names *is* the forgotten one. (The floor rule, `EpochGuard.passage`.)
///
/// The state is stable in the sense of causal stability (Baquero, Almeida, Shoker: *Pure Operation-Based Replicated Data Types*,
/// 2017); markers in the one log take the place of their matrix clocks.
public struct Purge: Hashable, Sendable {
  /// Every replica has integrated the log up to here, and stamped all that it has not uploaded after that.
  public let stable: Seq
  /// The highest stamp of the entries up to `stable`.
  public let floor: Stamp

  /// A marker of its parts, which the server determines and every replica takes from the log.
  public init(stable: Seq, floor: Stamp) {
    self.stable = stable
    self.floor = floor
  }

  /// Whether a tombstone may be forgotten. Its stamp being low is not enough: an entry after `stable` can have a stamp below
  /// the floor, made offline long ago, and some replica may still act without having seen it.
  func covers(_ stamp: Stamp, _ seq: Seq) -> Bool { seq <= stable && stamp <= floor }
}

extension Merge {
  /// Forgets at a marker of the log. To be done by every replica at the marker's place, before the entries after it.
  ///
  /// What is shown does not change: links that lead nowhere because of an epoch that is forgotten now are severed, since
  /// without the epoch they would lead somewhere again.
  ///
  /// - Returns: the objects whose epoch was forgotten, with that epoch. Who keeps links to earlier incarnations of them outside
  ///   the records drops those now.
  /// - Complexity: O(the objects that the state names, and those that link to forgotten incarnations).
  @discardableResult
  public static func purge<State: MergeState>(
    _ purge: Purge, in state: inout State
  ) throws(State.Failure) -> [ObjectIdentity: Stamp] {
    var run = PurgeRun(purge: Purge(stable: purge.stable, floor: max(state.floor, purge.floor)))
    try state.setFloor(run.purge.floor)
    for object in try state.objectsToPurge(upTo: purge.stable) { try run.forget(object, in: &state) }
    var linkers: Set<ObjectIdentity> = []
    for target in run.forgotten.keys { linkers.formUnion(try state.linkers(of: target)) }
    for object in linkers { try run.sever(object, in: &state) }  // the order does not matter: each link stands for itself
    return run.forgotten
  }
}
