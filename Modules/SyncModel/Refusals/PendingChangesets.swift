/// The changesets of a replica that have not come back from the log, in their order: what is to be uploaded, and what is
/// merged again when the server's state takes the place of the own one.
public struct PendingChangesets: Hashable, Sendable {
  /// A changeset that waits, and what is known of its fate.
  public struct Pending: Hashable, Sendable {
    /// What the transaction did.
    public let changeset: Changeset
    /// Builds on a refused one. It is not uploaded but reported, and its objects come back with the answer.
    public fileprivate(set) var isVoid: Bool
  }

  /// The changesets in the order of their transactions, void ones too.
  public private(set) var all: [Pending] = []

  /// None.
  public init() {}

  /// Whether nothing waits, not even what is void.
  public var isEmpty: Bool { all.isEmpty }

  /// Adds a changeset at the end: the newest, whose number is above all that wait.
  ///
  /// - Parameter isVoid: as it was stored.
  public mutating func append(_ changeset: Changeset, isVoid: Bool = false) {
    all.append(Pending(changeset: changeset, isVoid: isVoid))
  }

  /// What the replica reports with each acknowledgement: the base of the oldest changeset that is not acknowledged, or, with
  /// none, the last integrated entry. The lowest of all replicas is `Purge.stable`.
  public func baseSeq(integrated: Seq) -> Seq { all.reduce(integrated) { min($0, $1.changeset.baseSeq) } }

  /// Takes out a changeset that came back from the log. nil: it is not there, an answer given twice.
  public mutating func acknowledge(_ clientSeq: UInt64) -> Changeset? {
    guard let index = all.firstIndex(where: { $0.changeset.clientSeq == clientSeq }) else { return nil }
    return all.remove(at: index).changeset
  }

  /// Marks what builds on refused changesets, and takes those out.
  ///
  /// In order: what builds on something void is void itself.
  public mutating func refuse(_ clientSeqs: Set<UInt64>) {
    var refused = RefusedWork()
    for index in all.indices {
      let pending = all[index]
      guard pending.isVoid || clientSeqs.contains(pending.changeset.clientSeq) || refused.isNeeded(by: pending.changeset) else {
        continue
      }
      all[index].isVoid = true
      refused.add(pending.changeset)
    }
    all.removeAll { clientSeqs.contains($0.changeset.clientSeq) }
  }

  /// Takes out all up to a changeset: the server's state that was taken holds their outcome.
  public mutating func settle(upTo clientSeq: UInt64) { all.removeAll { $0.changeset.clientSeq <= clientSeq } }
}

/// The server's answer to a changeset that it does not take: an entry of the log for its author alone.
public struct Refusal: Hashable, Sendable {
  /// The number of the refused changeset.
  public let clientSeq: UInt64
  /// The place of the answer in the log. The states are as of here.
  public let seq: Seq
  /// Of every object that the changeset touched; nil for one that the server does not know.
  public let states: [ObjectIdentity: ObjectState?]

  /// An answer of its parts; `Merge.refusal` makes one from the server's state.
  public init(clientSeq: UInt64, seq: Seq, states: [ObjectIdentity: ObjectState?]) {
    self.clientSeq = clientSeq
    self.seq = seq
    self.states = states
  }
}

extension Merge {
  /// The server's refusal of a changeset, made at the end of the log. Also the answer to a void one that was reported.
  public static func refusal<State: MergeState>(
    of changeset: Changeset, at seq: Seq, in state: State
  ) throws(State.Failure) -> Refusal {
    var states: [ObjectIdentity: ObjectState?] = [:]
    for object in changeset.objects { states[object] = .some(try objectState(of: object, in: state)) }
    return Refusal(clientSeq: changeset.clientSeq, seq: seq, states: states)
  }

  /// Takes a refusal in at its place in the log: the touched objects become what the server says, later own changesets that
  /// build on the refused one become void, and the others are merged into those objects again.
  ///
  /// What a void changeset did to *other* objects stays visible until the answer to it comes.
  public static func integrate<State: MergeState>(
    _ refusal: Refusal, pending: inout PendingChangesets, in state: inout State
  ) throws(State.Failure) -> [Effect] {
    pending.refuse([refusal.clientSeq])
    return try take(refusal.states, under: pending, in: &state)
  }
}
