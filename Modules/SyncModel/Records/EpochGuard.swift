/// What stands before the contents of everything that can be deleted, cleared or replaced as a whole: the stamp of the last
/// time that happened. This one rule is "delete wins", "clear wins" and "a new embedded object starts empty".
///
/// Every operation carries the epoch of each node on its path as its author saw it:
/// - lower than the node's: the author had not seen the last delete. The operation is dropped.
/// - the same: it acts on this incarnation.
/// - higher: the node's delete has not arrived yet. The contents are dropped, the epoch is taken, and it acts.
///
/// A node is thus a pair (epoch, contents) ordered lexicographically, contents only ever joined within one epoch: a
/// lattice, so the order of arrival does not matter. An epoch is a stamp and not a count of deletes: with counts, whoever
/// deletes more often wins against a later delete.
public struct EpochGuard: Hashable, Sendable {
  /// The stamp of the last delete, removal, clear or write; `.zero` if there was none, or a purge has forgotten it.
  public private(set) var epoch: Stamp
  /// The entry of the log that brought the epoch. A tombstone may be forgotten once everybody has integrated that.
  public private(set) var seq: Seq

  /// The guard of an epoch and of the entry that brought it; by default of what was never deleted, cleared or written.
  public init(epoch: Stamp = .zero, seq: Seq = .zero) {
    self.epoch = epoch
    self.seq = seq
  }

  enum Passage { case behind, current, ahead }

  /// Lets an operation through, or not.
  ///
  /// - Parameter floor: `MergeState.floor`. A node that has forgotten its epoch takes every epoch up to there as its own:
  ///   it cannot tell them apart, and whoever still acts on an earlier incarnation does not exist any more (`Purge`).
  func passage(of seen: Stamp, floor: Stamp) -> Passage {
    if seen == epoch || epoch == .zero && seen <= floor { return .current }
    return seen < epoch ? .behind : .ahead
  }

  /// Takes an epoch that has a higher stamp: the caller drops the contents if it says true. The same epoch again brings its
  /// place in the log with it: so an own change that comes back from the log gets the place it has there.
  mutating func raise(to stamp: Stamp, seq new: Seq) -> Bool {
    if stamp > epoch {
      epoch = stamp
      seq = new
      return true
    }
    if stamp == epoch { seq = min(seq, new) }
    return false
  }

  /// Forgets an epoch that nobody can act below any more. Returns it, or nil if it stays.
  mutating func forget(_ purge: Purge) -> Stamp? {
    guard epoch != .zero, purge.covers(epoch, seq) else { return nil }
    defer { self = EpochGuard() }
    return epoch
  }
}
