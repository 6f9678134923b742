import ServerStoreForwarding
import SyncModel
import SyncProtocol
import Synchronization
import Testing
import VivariumTestSupport

@testable import SyncServer

@Suite("The room in a store that may have no more bytes", .timeLimit(.minutes(15)))
struct StoreRoomTests {
  private let stores = MemoryServerStore()

  private func host(_ limit: Int?, roomTime: Int64 = 0, access: any SyncAccess = OpenAccess()) -> SyncHost {
    var configuration = ServerConnectionConfiguration()
    (configuration.bytesOfStore, configuration.roomTime) = (limit, roomTime)
    return SyncHost(stores: stores, access: access, configuration: configuration, clock: { 1_000_000 })
  }

  /// A changeset that deletes objects.
  private func deletion(_ number: UInt64, of objects: some Sequence<Int64>) -> Changeset {
    Changeset(
      clientSeq: number, baseSeq: .zero, first: Stamp(milliseconds: 1_000 + number * 10, counter: 0, replica: ReplicaID(1)),
      operations: objects.map { SyncModel.Operation(ObjectIdentity("Thing", .int($0)), epoch: .zero, .delete) })
  }

  /// A changeset that creates an object with a text.
  private func creation(_ replica: UInt64, _ number: UInt64, _ bytes: Int) -> Changeset {
    let object = ObjectIdentity("Thing", .int(Int64(replica * 1_000 + number)))
    return Changeset(
      clientSeq: number, baseSeq: .zero, first: Stamp(milliseconds: 1_000 + number * 10, counter: 0, replica: ReplicaID(replica)),
      operations: [
        SyncModel.Operation(object, epoch: .zero, .create),
        SyncModel.Operation(object, epoch: .zero, .set("name", .string(String(repeating: "x", count: bytes)), isDefault: false)),
      ])
  }

  /// The last upload that was taken, and why the session has ended, if it has.
  private func outcome(_ client: RawClient, last: UInt64) async throws -> (taken: UInt64, why: SyncErrorCode?) {
    var (taken, why): (UInt64, SyncErrorCode?) = (0, nil)
    while taken < last, why == nil, let message = try await client.next() {
      switch message {
      case .acknowledged(_, let number): taken = max(taken, number)
      case .error(_, let code, _, _): why = code
      default: break
      }
    }
    return (taken, why)
  }

  /// A full store, which a device has filled with four hundred things; the device binds to a server where it may have hardly more.
  private func full(_ room: Int, roomTime: Int64 = 0) async throws -> RawClient {
    let path = try #require(StorePath("/shared/shop"))
    let (author, bound) = try await RawClient.bound(host(nil), as: "ann", 1)
    try await author.send(.upload(session: 1, (1...400).map { changeset(1, UInt64($0), of: Int64($0)) }))
    #expect(try await outcome(author, last: 400).taken == 400)
    let limited = host(try await stores.size(of: path) + room, roomTime: roomTime)
    return try await RawClient.bound(limited, as: "ann", 1, cursor: Seq(400), history: try #require(bound).history).0
  }

  @Test("is made by what only takes away, though something is added behind it")
  func leadingDeletions() async throws {
    let client = try await full(0)
    try await client.send(.upload(session: 1, [deletion(401, of: 1...20), creation(1, 402, 5_000)]))
    let outcome = try await outcome(client, last: 402)
    #expect(outcome.taken == 401 && outcome.why == .quotaExceeded)
  }

  @Test("is made by what only takes away, though a little is added before it")
  func trailingDeletions() async throws {
    let client = try await full(0)
    try await client.send(.upload(session: 1, [creation(1, 401, 300), deletion(402, of: 1...5)]))
    let outcome = try await outcome(client, last: 402)
    #expect(outcome.taken == 402 && outcome.why == nil)
  }

  @Test("is waited for while a device may go on with what takes away")
  func laterDeletions() async throws {
    let client = try await full(0, roomTime: 3_600_000)
    try await client.send(.upload(session: 1, [creation(1, 401, 300)]))
    try await client.send(.upload(session: 1, [creation(1, 402, 300)]))
    try await client.send(.upload(session: 1, [deletion(403, of: 1...5)]))
    let outcome = try await outcome(client, last: 403)
    #expect(outcome.taken == 403 && outcome.why == nil)
  }

  @Test("does not come from deleting what never was")
  func unknownDeletions() async throws {
    let (client, _) = try await RawClient.bound(host(20_000), as: "ann", 1)
    var (taken, why): (UInt64, SyncErrorCode?) = (0, nil)
    while taken < 2_000, why == nil {
      try await client.send(.upload(session: 1, (taken + 1...taken + 50).map { deletion($0, of: [Int64($0)]) }))
      let outcome = try await outcome(client, last: taken + 50)
      (taken, why) = (max(taken, outcome.taken), outcome.why)
    }
    #expect(why == .quotaExceeded)
    #expect(taken > 100 && taken < 1_000)
  }

  @Test("is not taken up by what was refused")
  func refused() async throws {
    let host = host(1 << 20, access: TestAccess(rights: ["ann": [.read, .write], "bob": [.read]]))
    // Two readers, with as much together as there is room for.
    for replica in [2, 3] as [UInt64] {
      let (reader, _) = try await RawClient.bound(host, as: "bob", replica)
      try await reader.send(.upload(session: 1, [creation(replica, 1, 524_000)]))
      let last = try await reader.messages { message in
        guard case .changes(_, let entries) = message else { return false }
        return entries.contains { if case .refusal(_, .writeDenied, _, _) = $0.body { true } else { false } }
      }.last
      #expect(last != nil)
    }
    let (writer, _) = try await RawClient.bound(host, as: "ann", 1)
    try await writer.send(.upload(session: 1, [creation(1, 1, 1_000)]))
    #expect(try await outcome(writer, last: 1).taken == 1)
  }

  @Test("is as much as the rules say")
  func rules() {
    let (adding, taking) = (StoreDemand(count: 2, bytes: 100, adds: true), StoreDemand(count: 1, bytes: 100, adds: false))
    func uploads(_ bytes: Int, _ limit: Int, _ parts: [StoreDemand], behind: [StoreDemand] = [], lowest: Int = 0) -> Int {
      StoreSize(bytes: bytes, lowest: lowest, at: 0).room(for: parts, behind: behind, limit: limit).count
    }
    #expect(uploads(6_300, 6_400, [adding]) == 2)
    #expect(uploads(6_400, 6_400, [adding]) == 0)
    #expect(uploads(6_400, 6_400, [adding, taking]) == 3)
    #expect(uploads(6_400, 6_400, [adding], behind: [taking]) == 2)
    #expect(uploads(6_401, 6_400, [adding, taking]) == 0)
    #expect(uploads(6_400, 6_400, [taking, adding, adding, taking]) == 1)
    #expect(uploads(6_400, 6_400, [taking, taking, taking, taking, taking]) == 4)
    // A store that had more when it was counted first.
    #expect(uploads(9_000, 1_600, [taking, taking, adding], lowest: 9_000) == 1)
    #expect(uploads(9_000, 1_600, [adding, taking], lowest: 9_000) == 0)
    #expect(uploads(9_000, .max, [adding]) == 2)
    #expect(uploads(.max - 1, .max - 1, [adding, taking]) == 3)
  }

  @Test("is looked for again after a second where something is refused, and later where to count takes long")
  func age() {
    let size = StoreSize(bytes: 0, lowest: 0, at: 0)
    #expect(!size.isOld(999, isUrgent: true) && size.isOld(1_000, isUrgent: true))
    #expect(!size.isOld(59_999, isUrgent: false) && size.isOld(60_000, isUrgent: false))
    #expect(StoreSize(bytes: 0, lowest: 0, at: 0, isUnsure: true).isOld(1_000, isUrgent: false))
    let slow = StoreSize(bytes: 0, lowest: 0, at: 0, took: 500)
    #expect(!slow.isOld(4_999, isUrgent: true) && slow.isOld(5_000, isUrgent: true))
  }

  @Test("is counted once at a time, and nothing that fits waits for that")
  func counting() async throws {
    let front = CountedStores()
    let now = Mutex<Int64>(1_000_000)
    var configuration = ServerConnectionConfiguration()
    configuration.bytesOfStore = 1 << 20
    let host = SyncHost(stores: front, access: OpenAccess(), configuration: configuration, clock: { now.withLock { $0 } })
    let (client, _) = try await RawClient.bound(host, as: "ann", 1)
    try await client.send(.upload(session: 1, [creation(1, 1, 100)]))
    #expect(try await outcome(client, last: 1).taken == 1)
    // The number is old by now, and the next one does not come.
    front.isHeld.withLock { $0 = true }
    now.withLock { $0 += 60_000 }
    for number in 2...21 as ClosedRange<UInt64> {
      try await client.send(.upload(session: 1, [creation(1, number, 100)]))
      #expect(try await outcome(client, last: number).taken == number)
    }
    await front.entered.wait(count: 2)
    front.opened.fire()
    #expect(front.calls.withLock { $0 } == 2)
  }
}

/// Stores that count how often their size is asked, and may hold the answer back.
private final class CountedStores: ServerStoreInFront {
  let base: any SyncServerStore = MemoryServerStore()
  let calls = Mutex(0)
  let isHeld = Mutex(false)
  let (entered, opened) = (AsyncSignal(), AsyncSignal())

  func size(of path: StorePath) async throws(ServerStoreError) -> Int {
    calls.withLock { $0 += 1 }
    entered.fire()
    if isHeld.withLock({ $0 }) { await opened.wait() }
    return try await base.size(of: path)
  }
}
