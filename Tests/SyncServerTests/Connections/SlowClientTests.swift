import SyncModel
import SyncProtocol
import Synchronization
import Testing
import VivariumTestSupport

@testable import SyncServer

/// A transport whose other side takes nothing, once it was told to.
private actor StuckTransport: SyncTransport {
  private let inner: any SyncTransport
  private var isStuck = false
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private(set) var isClosed = false
  let closed = AsyncSignal()

  init(_ inner: any SyncTransport) { self.inner = inner }

  func stick() { isStuck = true }

  func send(_ parts: [[UInt8]]) async throws(TransportError) {
    while isStuck, !isClosed { await withCheckedContinuation { waiting.append($0) } }
    if isClosed { throw TransportError(.closed, "It was closed.") }
    try await inner.send(parts)
  }

  /// How many parts were read of it.
  private(set) var received = 0

  func receive() async throws(TransportError) -> [UInt8]? {
    received += 1
    return try await inner.receive()
  }

  func close() async {
    isClosed = true
    for waiter in waiting { waiter.resume() }
    waiting = []
    await inner.close()
    closed.fire()
  }
}

/// A transport that takes one part, and is lost with the next.
private actor LostTransport: SyncTransport {
  private let inner: any SyncTransport
  private var hasTaken = false

  init(_ inner: any SyncTransport) { self.inner = inner }

  func send(_ parts: [[UInt8]]) async throws(TransportError) {
    if hasTaken { throw TransportError(.closed, "It was lost.") }
    hasTaken = true
    try await inner.send(parts)
  }

  func receive() async throws(TransportError) -> [UInt8]? { try await inner.receive() }

  func close() async { await inner.close() }
}

@Suite("A client that does not read")
struct SlowClientTests {
  private func client(_ host: SyncHost, _ encoder: FrameEncoder = FrameEncoder()) async throws -> (any SyncTransport, StuckTransport) {
    let (here, there) = MemoryTransport.pair(capacity: 1 << 16)
    let stuck = StuckTransport(there)
    Task { await host.serve(stuck) }
    for part in try encoder.parts(of: ClientMessage.hello(Hello(versions: [1], features: [], token: "slow")).frame) {
      try await here.send([part])
    }
    return (here, stuck)
  }

  @Test("keeps no place once its connection has ended")
  func farewell() async throws {
    var configuration = ServerConnectionConfiguration()
    configuration.farewellTime = 1
    let host = SyncHost(stores: MemoryServerStore(), access: OpenAccess(), configuration: configuration, clock: { 1_000_000 })
    let (here, stuck) = try await client(host)
    _ = try await here.receive()
    await stuck.stick()
    await host.expel("slow", SyncRefusal(.tokenInvalid))
    await stuck.closed.wait()
    #expect(await stuck.isClosed)
  }

  @Test("is not waited for once nothing can be sent to it", .timeLimit(.minutes(15)))
  func lost() async throws {
    var configuration = ServerConnectionConfiguration()
    // One answer that waits is too much already: the connection is not read until it is taken.
    configuration.outgoingBytes = 0
    // No timer ends the connection, as the clock stands still.
    let host = SyncHost(stores: MemoryServerStore(), access: OpenAccess(), configuration: configuration, clock: { 1_000_000 })
    let (here, there) = MemoryTransport.pair()
    let (encoder, ended) = (FrameEncoder(), AsyncSignal())
    Task {
      await host.serve(LostTransport(there))
      ended.fire()
    }
    for part in try encoder.parts(of: ClientMessage.hello(Hello(versions: [1], features: [], token: "slow")).frame) {
      try await here.send([part])
    }
    _ = try await here.receive()
    for part in try encoder.parts(of: ClientMessage.ping(number: 1, roundTrip: 0).frame) { try await here.send([part]) }
    await ended.wait()
    #expect(await host.connectionCount == 0)
  }

  @Test("is not listened to, and nothing is read for it: what waits for it is bounded")
  func bounded() async throws {
    var configuration = ServerConnectionConfiguration()
    configuration.outgoingBytes = 4 << 10
    let host = SyncHost(stores: MemoryServerStore(), access: OpenAccess(), configuration: configuration, clock: { 1_000_000 })
    let (here, stuck) = try await client(host)
    _ = try await here.receive()
    await stuck.stick()
    // Pings ask for answers, and nobody takes these. What comes after the bound stays where it is.
    let encoder = FrameEncoder()
    let sending = Task {
      for number in 0..<20_000 as Range<UInt64> {
        try await here.send(try encoder.parts(of: ClientMessage.ping(number: number, roundTrip: 0).frame))
      }
    }
    try await sending.value
    // One client does not hold up another.
    let isChanges = { (message: ServerMessage) in if case .changes = message { true } else { false } }
    let (ann, _) = try await RawClient.bound(host, as: "ann", 1)
    for number in 1...100 as ClosedRange<UInt64> {
      try await ann.send(.upload(session: 1, [changeset(1, number, creates: number == 1)]))
      // The log may show the entry before the upload is answered, or after.
      var answers: [ServerMessage] = []
      repeat {
        answers.append(try #require(try await ann.next()))
      } while !(answers.contains(.acknowledged(session: 1, clientSeq: number)) && answers.contains(where: isChanges))
    }
    #expect(await stuck.received < 5_000)
    await stuck.close()
  }
}

@Suite("Transactions that are never whole")
struct OpenTransactionsTests {
  @Test("send their client away where all connections have too much of them, and others go on")
  func allConnections() async throws {
    var configuration = ServerConnectionConfiguration()
    (configuration.uploadWindow, configuration.allUploadBytes) = (64, 8_192)
    let host = SyncHost(stores: MemoryServerStore(), access: OpenAccess(), configuration: configuration, clock: { 1_000_000 })
    let (ann, _) = try await RawClient.bound(host, as: "ann", 1)
    let (bob, _) = try await RawClient.bound(host, as: "bob", 2)
    /// Sends a part, and returns what the server says to the ping behind it, or why it does not.
    func part(_ number: UInt64, of client: RawClient, _ replica: UInt64) async throws -> ServerMessage? {
      try await client.send(.upload(session: 1, [continued(changeset(replica, number, of: Int64(number)))]))
      // Whoever was sent away by the part may be gone before it asks; what was said to it is there.
      try? await client.send(.ping(number: number, roundTrip: 0))
      let isAnswer = { @Sendable (message: ServerMessage) in
        if case .error = message { true } else { message == .pong(number: number) }
      }
      return try await client.messages(until: isAnswer).last
    }
    var number: UInt64 = 0
    repeat {
      number += 1
      _ = try await part(number, of: ann, 1)
    } while host.uploadBytes.load(ordering: .relaxed) < 5_000
    var answer: ServerMessage?
    for other in 1...1_000 as ClosedRange<UInt64> where answer == nil {
      let said = try await part(other, of: bob, 2)
      if case .error(_, .overloaded, let seconds, _) = said {
        #expect(seconds > 0)
        answer = said
      }
    }
    #expect(answer != nil)
    try await ann.send(.upload(session: 1, [changeset(1, number + 1, of: Int64(number + 1))]))
    let last = number + 1
    let isWhole = { @Sendable (message: ServerMessage) in message == .acknowledged(session: 1, clientSeq: last) }
    #expect(try await ann.messages(until: isWhole).last.map(isWhole) == true)
  }
}

@Suite("A connection with much under way")
struct ConnectionBoundTests {
  private let encoder = FrameEncoder()

  private func open(_ configuration: ServerConnectionConfiguration) throws -> ServerConnection {
    var connection = ServerConnection(configuration)
    _ = connection.begin(at: 0)
    _ = try take(.hello(Hello(versions: [1], features: [], token: "t")), &connection)
    _ = connection.handle(.verified(.success(SyncIdentity(user: "ann"))), at: 0)
    return connection
  }

  private func take(_ message: ClientMessage, _ connection: inout ServerConnection) throws -> [ServerConnectionEffect] {
    try encoder.parts(of: message.frame).flatMap { connection.handle(.received($0), at: 0) }
  }

  private func bind(_ number: UInt32, _ connection: inout ServerConnection) throws -> SessionKey? {
    let bind = Bind(
      path: "/shared/\(number)", replica: ReplicaID(UInt64(number)), secret: [1], cursor: .zero, history: [], refusalSeen: .zero,
      pendingBase: .zero, schemaHash: 0)
    for case .bind(let key, _, _, _) in try self.take(.bind(session: number, bind), &connection) { return key }
    return nil
  }

  private func isClosed(_ effects: [ServerConnectionEffect]) -> Bool {
    effects.contains { if case .close = $0 { true } else { false } }
  }

  @Test("ends where the open transactions of all its stores together are too large")
  func allStores() throws {
    var configuration = ServerConnectionConfiguration()
    configuration.transactionBytes = 1_024
    var connection = try open(configuration)
    let standing = Standing(
      judged: 0, judgedStamp: .zero, refusal: .zero, refused: [], history: [1], head: .zero, logStart: .zero, stable: .zero,
      pendingBase: .zero)
    var isOver = false
    for number in 1...20 as ClosedRange<UInt32> where !isOver {
      let key = try #require(try bind(number, &connection))
      _ = connection.handle(.bound(key, .success((.all, standing))), at: 0)
      let part = continued(changeset(UInt64(number), 1))
      isOver = isClosed(try take(.upload(session: number, [part]), &connection))
    }
    #expect(isOver)
  }

  @Test("reads nothing for a client that does not take what it was sent, and goes on where it does")
  func room() throws {
    var configuration = ServerConnectionConfiguration()
    configuration.outgoingBytes = 1_000
    var connection = try open(configuration)
    let key = try #require(try bind(1, &connection))
    _ = connection.handle(
      .bound(
        key,
        .success(
          (
            .all,
            Standing(
              judged: 0, judgedStamp: .zero, refusal: .zero, refused: [], history: [1], head: Seq(5), logStart: .zero, stable: .zero,
              pendingBase: .zero)
          ))), at: 0)
    func reads(_ effects: [ServerConnectionEffect]) -> Bool {
      effects.contains { if case .readObjects = $0 { true } else { false } }
    }
    while !connection.isFull { _ = try take(.ping(number: 1, roundTrip: 0), &connection) }
    #expect(!reads(try take(.credit(session: 1, bytes: 1_000), &connection)))
    let effects = connection.handle(.taken(1), at: 0) + connection.handle(.taken(500), at: 0)
    #expect(reads(effects))
    #expect(!reads(connection.handle(.taken(100), at: 0)))
  }

  @Test("takes little before a store is bound")
  func early() throws {
    var connection = try open(ServerConnectionConfiguration())
    _ = try bind(1, &connection)
    let small = changeset(1, 1)
    let text = SyncModel.Operation.Action.set("text", .string(String(repeating: "x", count: 400_000)), isDefault: false)
    let large = Changeset(
      clientSeq: 1, baseSeq: .zero, first: small.first,
      operations: small.operations + [SyncModel.Operation(ObjectIdentity("Thing", .int(1)), epoch: .zero, text)])
    #expect(isClosed(try take(.upload(session: 1, [large]), &connection)))
  }
}
