/// The changesets of a replica that have not returned from the log, in order. They are to be uploaded, and are merged again when the
/// server's state replaces the own one.
public struct PendingChangesets: Hashable, Sendable {
  /// A pending changeset and its fate so far.
  public struct Pending: Hashable, Sendable {
    /// The operations of the transaction.
    public let changeset: Changeset
    /// Whether it builds on a refused changeset. It is then reported instead of uploaded; the answer restores its objects. Also whether it
    /// was refused itself, and the rest of that answer is still to come.
    public fileprivate(set) var isVoid: Bool
  }

  /// The changesets in the order of their transactions, including void ones.
  public private(set) var all: [Pending] = []

  /// Creates an empty list.
  public init() {}

  /// Whether nothing is pending, not even a void changeset.
  public var isEmpty: Bool { all.isEmpty }

  /// Appends the newest changeset; its number is above those of all others.
  ///
  /// - Parameter isVoid: the stored flag.
  public mutating func append(_ changeset: Changeset, isVoid: Bool = false) {
    all.append(Pending(changeset: changeset, isVoid: isVoid))
  }

  /// What the replica reports with each acknowledgement: the base of the oldest unacknowledged changeset or, if there is none, the last
  /// integrated entry. The lowest over all replicas is `Purge.stable`.
  public func baseSeq(integrated: Seq) -> Seq { all.reduce(integrated) { min($0, $1.changeset.baseSeq) } }

  /// Removes a changeset that returned from the log. Returns nil if it is not there: the answer was repeated.
  public mutating func acknowledge(_ clientSeq: UInt64) -> Changeset? {
    guard let index = all.firstIndex(where: { $0.changeset.clientSeq == clientSeq }) else { return nil }
    return all.remove(at: index).changeset
  }

  /// Marks the changesets that build on refused ones as void, and removes the refused ones, whose answer is there as a whole.
  ///
  /// Works in order, because what builds on a void changeset is void itself; and by transactions, because a transaction whose first part
  /// cannot stand must not be committed by its rest.
  public mutating func refuse(_ clientSeqs: Set<UInt64>) {
    void(clientSeqs)
    all.removeAll { clientSeqs.contains($0.changeset.clientSeq) }
  }

  /// The same for an entry of a refusal, which may be one of several: they have the states of the changeset's objects in their order, but
  /// for those that came with an earlier changeset of its transaction. Until the last entry of the transaction its changesets stay, as
  /// void: what is written meanwhile may build on what they made, and a later entry takes away.
  ///
  /// - Parameter states: the states in the entry.
  public mutating func refuse(_ clientSeq: UInt64, with states: [ObjectIdentity: ObjectState?]) {
    void([clientSeq])
    // Answers come in order.
    let index = all.firstIndex { $0.changeset.clientSeq >= clientSeq } ?? all.endIndex
    guard index < all.endIndex, all[index].changeset.clientSeq == clientSeq else {
      return all.removeAll { $0.isVoid && $0.changeset.clientSeq < clientSeq }
    }
    let first = all[..<index].lastIndex { !$0.changeset.isContinued }.map { $0 + 1 } ?? 0
    let isWhole = !all[index].changeset.isContinued && isLast(states, of: index, in: first...index)
    let kept = isWhole ? index + 1 : first
    all = all[..<kept].filter { !$0.isVoid } + all[kept...]
  }

  /// Whether an entry with these states is the last one for a changeset.
  private func isLast(_ states: [ObjectIdentity: ObjectState?], of index: Int, in transaction: ClosedRange<Int>) -> Bool {
    var own = all[index].changeset.objects
    // `objects` is made of all operations of a changeset: once for each, and not at all once nothing is left.
    for pending in all[transaction.lowerBound..<index] where !own.isEmpty { own.subtract(pending.changeset.objects) }
    return own.max().map { states.keys.contains($0) } ?? true
  }

  /// Marks the changesets with these numbers, and those that build on them.
  private mutating func void(_ clientSeqs: Set<UInt64>) {
    var refused = RefusedWork()
    var start = all.startIndex
    while start < all.endIndex {
      let last = all[start...].firstIndex { !$0.changeset.isContinued } ?? all.endIndex - 1
      let transaction = start...last
      start = last + 1
      let stands = transaction.allSatisfy { index in
        let pending = all[index]
        return !pending.isVoid && !clientSeqs.contains(pending.changeset.clientSeq) && !refused.isNeeded(by: pending.changeset)
      }
      if stands { continue }
      for index in transaction {
        all[index].isVoid = true
        refused.add(all[index].changeset)
      }
    }
  }

  /// Removes all changesets up to a number: the server's state that was taken includes their outcome.
  public mutating func settle(upTo clientSeq: UInt64) { all.removeAll { $0.changeset.clientSeq <= clientSeq } }
}

/// The server's refusal of a changeset: an entry of the log for its author only.
public struct Refusal: Hashable, Sendable {
  /// The number of the refused changeset.
  public let clientSeq: UInt64
  /// The place of the refusal in the log. The states are as of this entry.
  public let seq: Seq
  /// The state of every object that the changeset touched; nil for one that the server does not know.
  public let states: [ObjectIdentity: ObjectState?]

  /// Creates a refusal from its parts; `Merge.refusal` makes one from the server's state.
  public init(clientSeq: UInt64, seq: Seq, states: [ObjectIdentity: ObjectState?]) {
    self.clientSeq = clientSeq
    self.seq = seq
    self.states = states
  }
}

extension Merge {
  /// Makes the server's refusal of a changeset, at the end of the log. Also the answer to a reported void one.
  public static func refusal<State: MergeState>(
    of changeset: Changeset, at seq: Seq, in state: State
  ) throws(State.Failure) -> Refusal {
    var states: [ObjectIdentity: ObjectState?] = [:]
    for object in changeset.objects { states[object] = .some(try objectState(of: object, in: state)) }
    return Refusal(clientSeq: changeset.clientSeq, seq: seq, states: states)
  }

  /// Integrates a refusal at its place in the log: the touched objects become what the server says, later own changesets that build on
  /// the refused one become void, and the others are merged into those objects again.
  ///
  /// What a void changeset did to *other* objects stays visible until its own answer arrives.
  public static func integrate<State: MergeState>(
    _ refusal: Refusal, pending: inout PendingChangesets, in state: inout State
  ) throws(State.Failure) -> [Effect] {
    pending.refuse(refusal.clientSeq, with: refusal.states)
    return try take(refusal.states, under: pending, in: &state)
  }
}
