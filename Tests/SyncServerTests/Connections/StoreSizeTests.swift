import SyncModel
import SyncProtocol
import SyncServer
import Synchronization
import Testing

@Suite("The number of bytes that a store may have")
struct StoreSizeTests {
  private let stores = MemoryServerStore()

  private func host(_ limit: Int?, devices: Int = 10) -> SyncHost {
    var configuration = ServerConnectionConfiguration()
    (configuration.bytesOfStore, configuration.replicasOfUser, configuration.roomTime) = (limit, devices, 0)
    return SyncHost(stores: stores, access: OpenAccess(), configuration: configuration, clock: { 1_000_000 })
  }

  /// The answer to uploads: why the session ended, or the last number that was taken.
  private func answer(
    _ host: SyncHost, _ changesets: [Changeset], cursor: Seq = .zero, history: [UInt8] = []
  ) async throws -> ServerMessage? {
    let (client, _) = try await RawClient.bound(host, as: "ann", 1, cursor: cursor, history: history)
    try await client.send(.upload(session: 1, changesets))
    let last = changesets.last?.clientSeq
    let messages = try await client.messages { message in
      switch message {
      case .error: true
      case .acknowledged(_, let number): number == last
      default: false
      }
    }
    await client.close()
    return messages.last
  }

  @Test("is kept: what would be more is not taken, and nothing of it is judged")
  func limit() async throws {
    let path = try #require(StorePath("/shared/shop"))
    let all = (1...40).map { changeset(1, UInt64($0), of: Int64($0)) }
    let few = host(1_000)
    guard case .error(1, .quotaExceeded, _, let text)? = try await answer(few, all) else { return #expect(Bool(false), "no reason") }
    #expect(text.contains("may have 1000"))
    #expect(few.counts.numbers.refusals == [.quotaExceeded: 1])
    #expect(await stores.heads([path]) == [path: .zero])
    #expect(try await stores.bind(path, ReplicaID(1), secret: [1], user: "ann", at: 0).judged == 0)
    // The same, where it may be more.
    #expect(try await answer(host(1 << 20), all) == .acknowledged(session: 1, clientSeq: 40))
    // Now it is full: what only takes away is taken.
    let history = try await stores.bind(path, ReplicaID(1), secret: [1], user: "ann", at: 0).history
    func change(_ action: SyncModel.Operation.Action) -> Changeset {
      let first = Stamp(milliseconds: 5_000, counter: 0, replica: ReplicaID(1))
      let operation = SyncModel.Operation(ObjectIdentity("Thing", .int(1)), epoch: .zero, action)
      return Changeset(clientSeq: 41, baseSeq: Seq(40), first: first, operations: [operation])
    }
    let set = change(.set("name", .string("x"), isDefault: false))
    guard case .error(1, .quotaExceeded, _, _)? = try await answer(host(1_000), [set], cursor: Seq(40), history: history) else {
      return #expect(Bool(false), "no reason")
    }
    #expect(try await answer(host(2_000), [change(.delete)], cursor: Seq(40), history: history) == .acknowledged(session: 1, clientSeq: 41))
  }

  @Test("goes with one of devices: one more of a user is told so, and those that are there go on")
  func devices() async throws {
    let host = host(nil, devices: 2)
    for replica in [1, 2, 1] as [UInt64] { #expect(try await RawClient.bound(host, as: "ann", replica).1 != nil) }
    let third = RawClient(host)
    try await third.hello("ann")
    try await third.bind(3)
    let last = try await third.messages { if case .error = $0 { true } else { false } }.last
    guard case .error(1, .quotaExceeded, _, let text)? = last else { return #expect(Bool(false), "\(String(describing: last))") }
    #expect(text.contains("2 devices"))
    #expect(try await RawClient.bound(host, as: "bob", 4).1 != nil)
  }

  @Test("goes with one of devices: for one more the one that was away for longest is forgotten, and none that is connected")
  func absentDevices() async throws {
    let path = try #require(StorePath("/shared/shop"))
    let (connected, bound) = try await RawClient.bound(host(nil), as: "ann", 1)
    #expect(bound != nil)
    await connected.close()
    _ = try await stores.bind(path, ReplicaID(2), secret: [2], user: "ann", at: 1_000_001)
    let now = Mutex<Int64>(1_000_000)
    var configuration = ServerConnectionConfiguration()
    // The clock goes on by hours before anybody can ping.
    (configuration.replicasOfUser, configuration.pingSeconds) = (2, 1 << 20)
    let host = SyncHost(stores: stores, access: OpenAccess(), configuration: configuration, clock: { now.withLock { $0 } })
    let (first, _) = try await RawClient.bound(host, as: "ann", 1)
    now.withLock { $0 += 25 * 3_600_000 }
    #expect(try await RawClient.bound(host, as: "ann", 3).1 != nil)
    #expect(try await stores.bind(path, ReplicaID(1), secret: [1], user: "ann", at: 1_000_000).judged == 0)
    await #expect { try await stores.bind(path, ReplicaID(2), secret: [2], user: "ann", at: 1_000_000) } throws: {
      ($0 as? ServerStoreError)?.code == .replicaExpired
    }
    await first.close()
  }

  @Test("goes with one of devices: who is connected to another server of the stores, and only pings, keeps its place")
  func devicesElsewhere() async throws {
    let now = Mutex<Int64>(1_000_000)
    var configuration = ServerConnectionConfiguration()
    (configuration.replicasOfUser, configuration.pingSeconds) = (1, 1 << 20)
    let hosts = (0..<2).map { _ in
      SyncHost(stores: stores, access: OpenAccess(), configuration: configuration, clock: { now.withLock { $0 } })
    }
    let (first, bound) = try await RawClient.bound(hosts[0], as: "ann", 1)
    #expect(bound != nil)
    for hour in 1...25 as ClosedRange<UInt64> {
      now.withLock { $0 += 3_600_000 }
      try await first.send(.ping(number: hour, roundTrip: 0))
      // Its answer comes after what the ping has caused.
      try await first.send(.mark(session: 1, number: hour))
      let last = try await first.messages { message in
        switch message {
        case .marked, .error: true
        default: false
        }
      }.last
      guard case .marked(1, hour)? = last else { return #expect(Bool(false), "\(String(describing: last))") }
    }
    let other = RawClient(hosts[1])
    try await other.hello("ann")
    try await other.bind(2)
    let refused = try await other.messages { message in
      switch message {
      case .bound, .error: true
      default: false
      }
    }.last
    guard case .error(1, .quotaExceeded, _, _)? = refused else { return #expect(Bool(false), "\(String(describing: refused))") }
    try await first.send(.upload(session: 1, [changeset(1, 1)]))
    let answer = try await first.messages { message in
      switch message {
      case .acknowledged, .error: true
      default: false
      }
    }.last
    guard case .acknowledged(1, 1)? = answer else { return #expect(Bool(false), "\(String(describing: answer))") }
    await first.close()
    await other.close()
  }
}
