import SyncModel
import SyncProtocol
import SyncServer
import Testing

/// A client that is not this library's, at a server with rules.
@Suite struct RulesTests {
  private let object = ObjectIdentity("Thing", .int(1))

  private func upload(_ replica: UInt64, _ number: UInt64, _ actions: [SyncModel.Operation.Action]) -> Changeset {
    Changeset(
      clientSeq: number, baseSeq: .zero, first: Stamp(milliseconds: 1_000 + number * 10, counter: 0, replica: ReplicaID(replica)),
      operations: actions.map { SyncModel.Operation(object, epoch: .zero, $0) })
  }

  /// The codes of refusals among the answers to uploads, each sent once the last refusal was seen; nil for one that was accepted.
  private func answers(_ client: RawClient, _ uploads: [Changeset]) async throws -> [SyncErrorCode?] {
    var codes: [SyncErrorCode?] = []
    for upload in uploads {
      try await client.send(.upload(session: 1, [upload]))
      var entry: LogEntry?
      while entry == nil {
        guard let message = try await client.next() else { return codes }
        if case .changes(1, let entries) = message { entry = entries.first }
      }
      if let entry, case .refusal(_, let code, _, _) = entry.body {
        codes.append(code)
        try await client.send(.acknowledge(session: 1, Acknowledgement(cursor: entry.seq, pendingBase: .zero, refusalSeen: entry.seq)))
      } else {
        codes.append(nil)
      }
    }
    return codes
  }

  @Test(.timeLimit(.minutes(5))) func `nothing is written into an object that does not exist, behind the back of the rules`() async throws {
    let paid = SyncModel.Operation.Action.set("isPaid", .int(1), isDefault: false)
    let host = SyncHost(stores: MemoryServerStore(), access: OpenAccess(), rules: { _, _ in nil }, clock: { 1_000_000 })
    let (mallory, _) = try await RawClient.bound(host, as: "mallory", 1)
    let refused = try await answers(mallory, [upload(1, 1, [paid]), upload(1, 2, [.delete]), upload(1, 3, [.create, .delete, paid])])
    #expect(refused == [.invalidChange, .invalidChange, .invalidChange])
    // What an app writes: a new object, its deletion, that again, and a change of what was there before.
    let (ann, _) = try await RawClient.bound(host, as: "ann", 2)
    let written = [upload(2, 1, [.create, paid]), upload(2, 2, [.delete]), upload(2, 3, [.delete]), upload(2, 4, [paid])]
    #expect(try await answers(ann, written) == [nil, nil, nil, nil])
  }

  @Test(.timeLimit(.minutes(5))) func `nothing is written into an embedded object that does not exist either`() async throws {
    let host = SyncHost(stores: MemoryServerStore(), access: OpenAccess(), rules: { _, _ in nil }, clock: { 1_000_000 })
    let paid = SyncModel.Operation.Action.set("isPaid", .int(1), isDefault: false)
    let bill = PathStep(.embedded("bill"), epoch: .zero)
    func upload(_ replica: UInt64, _ number: UInt64, _ parts: [([PathStep], SyncModel.Operation.Action)]) -> Changeset {
      Changeset(
        clientSeq: number, baseSeq: .zero, first: Stamp(milliseconds: 1_000 + number * 10, counter: 0, replica: ReplicaID(replica)),
        operations: parts.map { SyncModel.Operation(object, epoch: .zero, path: $0.0, $0.1) })
    }
    let (ann, _) = try await RawClient.bound(host, as: "ann", 2)
    #expect(try await answers(ann, [upload(2, 1, [([], .create)])]) == [nil])
    let (mallory, _) = try await RawClient.bound(host, as: "mallory", 1)
    #expect(try await answers(mallory, [upload(1, 1, [([bill], paid)])]) == [.invalidChange])
    // What an app writes: it makes the embedded object first, and may take it away again.
    let made = upload(2, 2, [([bill], .make), ([bill], paid)])
    #expect(try await answers(ann, [made, upload(2, 3, [([bill], .remove)])]) == [nil, nil])
  }
}
