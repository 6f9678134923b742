/// Guards the contents of everything that can be deleted, cleared or replaced as a whole, by the stamp of the last time that happened.
/// This one rule implements "delete wins", "clear wins" and "a new embedded object starts empty".
///
/// Every operation carries the epoch of each node on its path as its author saw it. Compared with the node's epoch it is
/// - lower: the author had not seen the last delete. The operation is dropped.
/// - equal: the operation acts on this incarnation.
/// - higher: the node's delete has not arrived yet. The contents are dropped, the node takes the epoch, and the operation acts.
///
/// A node is thus a pair (epoch, contents) ordered lexicographically, whose contents are joined only within one epoch: a lattice, so the
/// order of arrival does not matter. An epoch is a stamp and not a count of deletes: with counts, the replica that deletes more often
/// would win against a later delete.
public struct EpochGuard: Hashable, Sendable {
  /// The stamp of the last delete, removal, clear or write; `.zero` if there was none, or a purge has forgotten it.
  public private(set) var epoch: Stamp
  /// The entry of the log that brought the epoch. The tombstone may be forgotten once every replica has integrated that entry.
  public private(set) var seq: Seq

  /// Creates a guard from an epoch and the entry that brought it; by default for a node never deleted, cleared or written.
  public init(epoch: Stamp = .zero, seq: Seq = .zero) {
    self.epoch = epoch
    self.seq = seq
  }

  enum Passage { case behind, current, ahead }

  /// Decides whether an operation may act.
  ///
  /// - Parameter floor: `MergeState.floor`. A node that has forgotten its epoch accepts every epoch up to the floor as its own: it cannot
  ///   tell them apart, and no replica acts on an earlier incarnation any more (`Purge`).
  func passage(of seen: Stamp, floor: Stamp) -> Passage {
    if seen == epoch || epoch == .zero && seen <= floor { return .current }
    return seen < epoch ? .behind : .ahead
  }

  /// Takes a higher epoch and returns true; the caller then drops the contents. For the same epoch it takes the lower entry, so an own
  /// change that returns from the log gets its place there.
  mutating func raise(to stamp: Stamp, seq new: Seq) -> Bool {
    if stamp > epoch {
      epoch = stamp
      seq = new
      return true
    }
    if stamp == epoch { seq = min(seq, new) }
    return false
  }

  /// Forgets an epoch if no operation below it can arrive any more. Returns the epoch, or nil if it stays.
  mutating func forget(_ purge: Purge) -> Stamp? {
    guard epoch != .zero, purge.covers(epoch, seq) else { return nil }
    defer { self = EpochGuard() }
    return epoch
  }
}
