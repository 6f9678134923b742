import SyncModel

/// What the server took in, and what it made everybody forget, in the order of its log.
struct AcceptedLog {
  enum Entry {
    case changeset(Changeset)
    case purge(Purge)
  }

  private struct Number: Hashable {
    let author: ReplicaID
    let clientSeq: UInt64
  }

  private(set) var entries: [(seq: Seq, entry: Entry)] = []
  private var places: [Number: Seq] = [:]

  /// How many changesets were taken in.
  var changesets: Int { places.count }

  mutating func append(_ changeset: Changeset, at seq: Seq) {
    entries.append((seq, .changeset(changeset)))
    places[Number(author: changeset.author, clientSeq: changeset.clientSeq)] = seq
  }

  mutating func append(_ purge: Purge, at seq: Seq) { entries.append((seq, .purge(purge))) }

  /// Where a changeset is; nil where it was not taken in.
  func place(of changeset: Changeset) -> Seq? { places[Number(author: changeset.author, clientSeq: changeset.clientSeq)] }
}

/// What a log gives up to a place, merged from its first entry on, without anything that a replica does.
struct FoldedLog {
  private var folded = MemoryState()
  private var next = 0
  private var cursor = Seq.zero

  /// Merges what is new up to there.
  mutating func advance(to cursor: Seq, _ log: AcceptedLog) {
    self.cursor = cursor
    while next < log.entries.count, log.entries[next].seq <= cursor {
      switch log.entries[next].entry {
      case .changeset(let changeset): Merge.apply(changeset, seq: log.entries[next].seq, to: &folded)
      // Who comes after a marker names epochs as they are once it was taken in.
      case .purge(let purge): Merge.purge(purge, in: &folded)
      }
      next += 1
    }
  }

  /// With what waits for the server on top.
  func state(with pending: PendingChangesets, _ log: AcceptedLog) -> MemoryState {
    var state = folded
    for pending in pending.all {
      if let place = log.place(of: pending.changeset), place <= cursor { continue }
      Merge.apply(pending.changeset, seq: .pending, to: &state)
    }
    return state
  }
}
