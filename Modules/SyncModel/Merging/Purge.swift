/// A marker in the log at which every replica forgets the same things: those that exist only so that operations that can no longer arrive
/// lose against them.
///
/// Why it is safe. The server takes as `stable` the lowest *base of the oldest unacknowledged changeset* over all replicas
/// (`PendingChangesets.baseSeq`), so the author of any entry after the marker had integrated all entries up to `stable` when stamping it.
/// Hence
/// - the entry's stamp is above `floor`, and wins against every stamp at or below `floor` whether that is remembered or not;
/// - it names no element that an entry up to `stable` erased;
/// - it names, for a node whose epoch came with an entry up to `stable`, that epoch or a later one: an epoch at or below the floor that
///   it names *is* the forgotten one. (The floor rule, `EpochGuard.passage`.)
///
/// The state is stable in the sense of causal stability (Baquero, Almeida, Shoker: *Pure Operation-Based Replicated Data Types*, 2017);
/// markers in the one log replace their matrix clocks.
public struct Purge: Hashable, Sendable {
  /// Every replica has integrated the log up to this entry, and stamped everything it has not uploaded after that.
  public let stable: Seq
  /// The highest stamp of the entries up to `stable`.
  public let floor: Stamp

  /// Creates a marker. The server determines its parts; every replica takes them from the log.
  public init(stable: Seq, floor: Stamp) {
    self.stable = stable
    self.floor = floor
  }

  /// Whether a tombstone may be forgotten. A low stamp is not enough: an entry after `stable` can have a stamp below the floor, made
  /// offline long ago, and some replica may still act without having seen it.
  func covers(_ stamp: Stamp, _ seq: Seq) -> Bool { seq <= stable && stamp <= floor }
}

extension Merge {
  /// Forgets what a marker of the log covers. Every replica must do this at the marker's place, before the entries after it.
  ///
  /// Nothing visible changes: links that lead nowhere because of an epoch that is now forgotten are severed, since without the epoch they
  /// would lead somewhere again.
  ///
  /// - Returns: the objects whose epoch was forgotten, with that epoch. A caller that keeps links to earlier incarnations of them outside
  ///   the records must now drop those.
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
    for object in linkers { try run.sever(object, in: &state) }  // the order does not matter: links are independent of each other
    return run.forgotten
  }

  /// Severs the links of some objects to incarnations that a purge has forgotten: for a caller that has more linkers than it loads at once.
  ///
  /// - Parameter forgotten: what `purge` returned.
  package static func sever<State: MergeState>(
    linksOf objects: [ObjectIdentity], to forgotten: [ObjectIdentity: Stamp], in state: inout State
  ) throws(State.Failure) {
    let run = PurgeRun(purge: Purge(stable: .zero, floor: .zero), forgotten: forgotten)
    for object in objects { try run.sever(object, in: &state) }
  }
}
