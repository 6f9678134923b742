import SyncModel
import SyncProtocol
import SyncServer
import VivariumTestSupport

/// A replica that does anything that a server may see, sensible or not.
public struct RandomAuthor {
  /// Of the replica.
  public let id: ReplicaID
  private var clientSeq: UInt64 = 0
  private var refusal = Seq.zero
  private var head = Seq.zero

  /// One that has done nothing yet.
  public init(_ id: ReplicaID) { self.id = id }

  /// One call of a server's store.
  public struct Action: Sendable, CustomStringConvertible {
    public let description: String
    let run: @Sendable (any SyncServerStore) async throws -> String

    /// What it answers, as a text that is the same where the answers are.
    public func outcome(on store: any SyncServerStore) async -> String {
      do { return try await run(store) } catch { return "threw \((error as? ServerStoreError)?.code.rawValue ?? "\(error)")" }
    }
  }

  /// Of the store that is called.
  public static let path = Bench.path

  /// The next call.
  public mutating func next(_ step: Int, _ random: inout SeededGenerator) -> Action {
    let (id, path, time) = (id, RandomAuthor.path, Int64(1_000_000 + step * 1000))
    switch random.below(13) {
    case 0: return Action(description: "bind") { store in
      let standing = try await store.bind(path, id, secret: [1], user: "u", at: time)
      return "\(standing.judged) \(standing.refusal) \(standing.refused) \(standing.head) \(standing.logStart) \(standing.stable)"
    }
    case 1:
      let state = Acknowledgement(cursor: Seq(UInt64(random.below(40))), pendingBase: Seq(UInt64(random.below(40))), refusalSeen: refusal)
      return Action(description: "acknowledge") { store in
        try await store.acknowledge(path, id, state, at: time)
        return "done"
      }
    case 2:
      let expiry = random.oneIn(3) ? time - 20_000 : 0
      return Action(description: "purge") { store in "\(String(describing: try await store.purge(path, expiry: expiry)))" }
    case 3:
      let seq = Seq(UInt64(random.below(30)))
      return Action(description: "truncate") { store in
        try await store.truncateLog(path, through: seq)
        return "done"
      }
    case 4:
      let isDealt = random.oneIn(2)
      return Action(description: "claim") { store in
        let lease = try await store.claim(path, handler: "h", fromStart: true, until: time + 1500, at: time)
        if isDealt, let lease, let head = try await store.heads([path])[path] {
          _ = try await store.advance(path, lease, to: head, writing: [], at: time)
        }
        // Each store has a history of its own.
        return lease.map { "\($0.cursor) \($0.fence) \($0.isNew)" } ?? "none"
      }
    case 5:
      let seq = Seq(UInt64(random.below(40)))
      return Action(description: "as of \(seq)") { store in
        let past = try await store.past(path, at: seq)
        let states = past.states.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value?.encoded() ?? [])" }
        return "\(past.asOf) " + states.joined(separator: "; ")
      }
    default:
      clientSeq += random.oneIn(10) ? 0 : 1
      let upload = upload(time, &random)
      let (seen, isRefused) = (refusal, random.oneIn(8))
      return Action(description: "commit \(clientSeq)") { store in
        _ = try await store.bind(path, id, secret: [1], user: "u", at: time)
        let judge: UploadJudge = { _ in isRefused ? Verdict(.invalidChange, "no") : nil }
        return "\(try await store.commit(path, id, [upload], refusalSeen: seen, at: time, judge: judge))"
      }
    }
  }

  private func upload(_ time: Int64, _ random: inout SeededGenerator) -> Upload {
    let object = ObjectIdentity("Thing", .int(Int64(random.below(4))))
    if random.oneIn(12) { return .void(clientSeq: clientSeq, objects: [object]) }
    let first = Stamp(milliseconds: UInt64(time), counter: 0, replica: id)
    var operations = [SyncModel.Operation(object, epoch: .zero, .create)]
    switch random.below(4) {
    case 0: operations = [SyncModel.Operation(object, epoch: .zero, .delete)]
    case 1:
      let position = ListPosition([ListPosition.Step(gap: 0, bunch: first.advanced(by: 1))])
      let list = [PathStep(.list("tags"), epoch: .zero)]
      operations.append(
        SyncModel.Operation(object, epoch: .zero, path: list, .insert(ElementID(id, clientSeq), at: position, .string("t"))))
    case 2: operations.append(SyncModel.Operation(object, epoch: .zero, .add("n", 3)))
    default: operations.append(SyncModel.Operation(object, epoch: .zero, .set("name", .string("\(id) \(time)"), isDefault: false)))
    }
    let base = Seq(UInt64(random.below(40)))
    return .changeset(Changeset(clientSeq: clientSeq, baseSeq: base, first: first, operations: operations))
  }

  /// Learns of a refusal, mostly; and that a number was not taken.
  public mutating func note(_ outcome: String) {
    if let range = outcome.firstRange(of: /refused\((\d+)/) {
      let digits = outcome[range].drop { !$0.isNumber }
      refusal = Seq(UInt64(digits) ?? 0)
    }
    if let range = outcome.firstRange(of: /expected: (\d+)/) {
      let digits = outcome[range].drop { !$0.isNumber }
      clientSeq = (UInt64(digits) ?? 1) - 1
    }
  }
}
