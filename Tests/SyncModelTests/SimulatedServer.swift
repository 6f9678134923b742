import SyncModel

struct SimulatedServer {
  enum Entry {
    case changes(Changeset)
    case refusal(ReplicaID, Refusal)
    case purge(Purge)
  }

  enum Answer {
    case accepted, duplicate, refused, void, behind
    case unknown(UnknownReference)
  }

  var state = MemoryState()
  /// The entries after `truncated`.
  private(set) var log: [Entry] = []
  private(set) var truncated = Seq.zero
  var head: Seq { Seq(truncated.rawValue + UInt64(log.count)) }
  private(set) var gates: [ReplicaID: UploadGate] = [:]
  var reported: [ReplicaID: Seq] = [:]
  private var refusedClientSeqs: [ReplicaID: Set<UInt64>] = [:]

  /// What tests know beside the system: each changeset's operations with epochs that no purge ever made forgotten.
  var truth: [Changeset: [Stamped]] = [:]
  private(set) var accepted: [(seq: Seq, operations: [Stamped], changeset: Changeset)] = []
  private var refusals: [(seq: Seq, author: ReplicaID, clientSeq: UInt64)] = []

  init(replicas: [ReplicaID]) {
    for replica in replicas {
      gates[replica] = UploadGate()
      reported[replica] = .zero
    }
  }

  mutating func take(_ changeset: Changeset, isVoid: Bool, refusalSeen: Seq, isRefused: Bool) throws -> Answer {
    switch gates[changeset.author]!.admit(changeset.clientSeq, refusalSeen: refusalSeen) {
    case .duplicate: return .duplicate
    case .behindRefusal: return .behind
    case .gap(let expected): throw Simulation.Fault(description: "a gap before \(changeset.clientSeq), expected \(expected)")
    case .next: break
    }
    let seq = Seq(head.rawValue + 1)
    var trial = state
    if !isVoid, !isRefused {
      for (index, operation) in changeset.operations.enumerated() {
        if let reference = Merge.unknownReference(in: operation, to: trial) { return .unknown(reference) }
        _ = Merge.apply(operation, at: changeset.stamp(of: index), seq: seq, to: &trial)
      }
      state = trial
      gates[changeset.author]!.accept(changeset.clientSeq)
      log.append(.changes(changeset))
      accepted.append((seq, truth[changeset] ?? [], changeset))
      return .accepted
    }
    gates[changeset.author]!.refuse(changeset.clientSeq, at: seq)
    refusedClientSeqs[changeset.author, default: []].insert(changeset.clientSeq)
    log.append(.refusal(changeset.author, Merge.refusal(of: changeset, at: seq, in: state)))
    refusals.append((seq, changeset.author, changeset.clientSeq))
    return isVoid ? .void : .refused
  }

  mutating func truncate(_ count: Int) {
    truncated = Seq(truncated.rawValue + UInt64(min(count, log.count)))
    log.removeFirst(min(count, log.count))
  }

  mutating func purge() -> Bool {
    let stable = reported.values.min() ?? .zero
    if stable == .zero { return false }
    let floor = accepted.filter { $0.seq <= stable }.map(\.changeset.last).max() ?? .zero
    let purge = Purge(stable: stable, floor: floor)
    Merge.purge(purge, in: &state)
    log.append(.purge(purge))
    return true
  }

  func refusedSeqs(of replica: ReplicaID) -> Set<UInt64> { refusedClientSeqs[replica] ?? [] }

  /// The highest stamp that anybody's accepted change has.
  var lastStamp: Stamp { accepted.map(\.changeset.last).max() ?? .zero }

  /// All that a replica has integrated, and what it waits for, as it was meant.
  func trueOperations(for replica: SimulatedReplica) -> [Stamped] {
    var answered = Set(refusals.filter { $0.author == replica.id && $0.seq <= replica.cursor }.map(\.clientSeq))
    var all: [Stamped] = []
    for entry in accepted where entry.seq <= replica.cursor {
      all += entry.operations
      if entry.changeset.author == replica.id { answered.insert(entry.changeset.clientSeq) }
    }
    for pending in replica.pending.all where !pending.isVoid && !answered.contains(pending.changeset.clientSeq) {
      all += truth[pending.changeset] ?? []
    }
    return all
  }
}
