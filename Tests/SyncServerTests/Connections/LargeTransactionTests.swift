import SyncModel
import SyncProtocol
import Testing
import VivariumTestSupport

@testable import SyncServer

/// Changesets of about 1,000 bytes each that are one transaction.
private func transaction(_ replica: UInt64, _ count: UInt64) -> [Changeset] {
  (1...count).map { number in
    let small = changeset(replica, number, of: Int64(number))
    let text = SyncModel.Operation.Action.set("text", .string(String(repeating: "x", count: 1_000)), isDefault: false)
    return Changeset(
      clientSeq: number, baseSeq: .zero, isContinued: number < count, first: small.first,
      operations: small.operations + [SyncModel.Operation(ObjectIdentity("Thing", .int(Int64(number))), epoch: .zero, text)])
  }
}

private func entries(_ message: ServerMessage) -> [LogEntry] { if case .changes(_, let entries) = message { entries } else { [] } }

/// A connection's machine, and what it sends; nobody takes it before that is asked for.
private struct Side {
  static let history = [UInt8](repeating: 1, count: 16)

  private(set) var connection: ServerConnection
  private(set) var key: SessionKey?
  private(set) var waiting: [[UInt8]] = []
  private(set) var most = 0
  private(set) var received: [ServerMessage] = []
  private var decoder = FrameDecoder()

  init(_ configuration: ServerConnectionConfiguration) throws {
    connection = ServerConnection(configuration)
    _ = connection.begin(at: 0)
    try say(.hello(Hello(versions: [1], features: [], token: "t")))
    handle(.verified(.success(SyncIdentity(user: "ann"))))
  }

  mutating func handle(_ event: ServerConnectionEvent) {
    for effect in connection.handle(event, at: 0) {
      switch effect {
      case .send(let parts): waiting += parts
      case .bind(let key, _, _, _): self.key = key
      default: break
      }
    }
    most = max(most, waiting.reduce(0) { $0 + $1.count })
  }

  mutating func say(_ message: ClientMessage) throws {
    for part in try FrameEncoder().parts(of: message.frame) { handle(.received(part)) }
  }

  /// Binds a store whose log the client has up to its beginning, and grants less than a transaction takes.
  mutating func bind() throws -> SessionKey {
    let bind = Bind(
      path: "/shared/shop", replica: ReplicaID(1), secret: [1], cursor: .zero, history: Side.history, refusalSeen: .zero,
      pendingBase: .zero, schemaHash: 0)
    try say(.bind(session: 1, bind))
    let key = try #require(key)
    let standing = Standing(
      judged: 0, judgedStamp: .zero, refusal: .zero, refused: [], history: Side.history, head: .zero, logStart: .zero, stable: .zero,
      pendingBase: .zero)
    handle(.bound(key, .success((.all, standing))))
    try say(.credit(session: 1, bytes: 1_000))
    return key
  }

  /// Takes everything that waits, and what comes for that.
  mutating func takeAll() throws {
    while !waiting.isEmpty {
      let part = waiting.removeFirst()
      if let frame = try decoder.take(part) { received.append(try ServerMessage(frame)) }
      handle(.taken(part.count))
    }
  }
}

@Suite("A transaction of which more is read than may wait for a client", .timeLimit(.minutes(15)))
struct LargeTransactionTests {
  private let all = transaction(9, 100).map { LogEntry(Seq($0.clientSeq), .changeset(author: "bob", $0)) }
  private var page: LogPage { LogPage(entries: all, cursor: Seq(100), head: Seq(100), history: Side.history) }

  private var configuration: ServerConnectionConfiguration {
    var configuration = ServerConnectionConfiguration()
    (configuration.outgoingBytes, configuration.pageBytes) = (8_000, 3_000)
    return configuration
  }

  @Test("comes as it is taken, and a mark comes behind it")
  func bounded() throws {
    var side = try Side(configuration)
    let key = try side.bind()
    try side.takeAll()
    side.handle(.entries(key, .success(page)))
    // What the server knows already is said of a mark, but not between parts of a transaction.
    side.handle(.head(key, mark: 7, .success(.zero)))
    try side.say(.ping(number: 5, roundTrip: 0))
    #expect(side.connection.isFull && side.most < 8_000 + 3_000 + 200)
    try side.takeAll()
    #expect(side.most < 8_000 + 3_000 + 200)
    let changes = side.received.compactMap { entries($0).isEmpty ? nil : entries($0) }
    #expect(changes.flatMap { $0 } == all && changes.count > 30)
    #expect(side.received.contains(.pong(number: 5)) && side.received.last == .marked(session: 1, number: 7))
  }

  @Test("is left where its session ends, and its rest does not come into another one of the number", arguments: [false, true])
  func ended(isDenied: Bool) throws {
    var side = try Side(configuration)
    let key = try side.bind()
    side.handle(.entries(key, .success(page)))
    if isDenied { side.handle(.granted(key, .none)) } else { try side.say(.unbind(session: 1)) }
    let again = try side.bind()
    #expect(again != key)
    try side.takeAll()
    let end = try #require(
      side.received.firstIndex {
        switch $0 {
        case .unbound, .error(1, .unknownStore, _, _): true
        default: false
        }
      })
    #expect(!side.received[..<end].flatMap(entries).isEmpty && side.received[end...].flatMap(entries).isEmpty)
    side.handle(.entries(again, .success(page)))
    try side.takeAll()
    #expect(side.received[end...].flatMap(entries) == all)
  }

  @Test("waits once for all clients that do not read, and all of it comes as they do")
  func hosted() async throws {
    var configuration = ServerConnectionConfiguration()
    (configuration.outgoingBytes, configuration.pageBytes) = (4 << 10, 1 << 10)
    let host = SyncHost(stores: MemoryServerStore(), access: OpenAccess(), configuration: configuration, clock: { 1_000_000 })
    let (ann, _) = try await RawClient.bound(host, as: "ann", 1)
    var slow: [RawClient] = []
    for replica in 2...4 as ClosedRange<UInt64> { slow.append(try await RawClient.bound(host, as: "bob", replica).0) }
    let changesets = transaction(1, 400)
    for changeset in changesets { try await ann.send(.upload(session: 1, [changeset])) }
    var first: [[LogEntry]] = []
    for client in slow { first.append(entries(try #require(try await client.messages { !entries($0).isEmpty }.last))) }
    // All of it for each of them would be 1.2 MB. Between each of them and the server there is room for 64 parts.
    #expect(host.counts.numbers.bytesOut < 500_000)
    for (client, first) in zip(slow, first) {
      var got = first
      while got.count < changesets.count { got += entries(try #require(try await client.next())) }
      #expect(got == changesets.map { LogEntry(Seq($0.clientSeq), .changeset(author: "ann", $0)) })
    }
  }
}
