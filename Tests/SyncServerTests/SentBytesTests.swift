import SyncModel
import SyncProtocol
import SyncServer
import Testing

/// A change is encoded once, however many sessions it is sent to.
@Suite struct SentBytesTests {
  @Test func `every session is given the bytes that were made when the change was committed`() async throws {
    let (stores, path) = (MemoryServerStore(), try #require(StorePath("/shared/shop")))
    try await stores.makeStore(path)
    for id: UInt64 in 1...3 { _ = try await stores.bind(path, ReplicaID(id), secret: [1], user: "ann", at: 1) }
    let changeset = Changeset(
      clientSeq: 1, baseSeq: .zero, first: Stamp(milliseconds: 1, counter: 0, replica: ReplicaID(1)),
      operations: [SyncModel.Operation(ObjectIdentity("Thing", .int(1)), epoch: .zero, .create)])
    _ = try await stores.commit(path, ReplicaID(1), [.changeset(changeset)], refusalSeen: .zero, at: 1) { _ in nil }
    var addresses: Set<UnsafeRawPointer?> = []
    for id: UInt64 in 2...3 {
      let page = try await stores.changes(path, for: ReplicaID(id), after: .zero, limitBytes: 1_000)
      guard case .changeset(_, let sent)? = page.entries.first?.body else { throw CodingError(.value, at: 0) }
      #expect(sent == changeset)
      sent.encoded().withUnsafeBytes { _ = addresses.insert($0.baseAddress) }
    }
    #expect(addresses.count == 1)
  }
}
