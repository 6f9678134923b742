import SyncModel
import SyncProtocol
import SyncServer
import Testing
import VivariumTestSupport

@Suite("A server's connection")
struct ServerConnectionTests {
  private let encoder = FrameEncoder()

  private func parts(_ message: ClientMessage) throws -> [[UInt8]] { try encoder.parts(of: message.frame) }

  /// What the effects send, decoded.
  private func sent(_ effects: [ServerConnectionEffect]) throws -> [ServerMessage] {
    var decoder = FrameDecoder()
    var messages: [ServerMessage] = []
    for case .send(let parts) in effects {
      for part in parts { if let frame = try decoder.take(part) { messages.append(try ServerMessage(frame)) } }
    }
    return messages
  }

  private func isClosed(_ effects: [ServerConnectionEffect]) -> Bool {
    effects.contains { if case .close = $0 { true } else { false } }
  }

  private func open(
    _ identity: SyncIdentity, _ features: SyncFeatures = [], at now: Int64 = 0
  ) throws -> (ServerConnection, [ServerConnectionEffect]) {
    var connection = ServerConnection()
    _ = connection.begin(at: now)
    for part in try parts(.hello(Hello(versions: [1], features: features, token: "t"))) { _ = connection.handle(.received(part), at: now) }
    let effects = connection.handle(.verified(.success(identity)), at: now)
    return (connection, effects)
  }

  @Test("that says nothing is ended, before and after it has said who it is")
  func silence() throws {
    var silent = ServerConnection()
    let begun = silent.begin(at: 0)
    guard case .wake(.silence, let time)? = begun.first else { return #expect(Bool(false), "no timer") }
    // Timers of a machine and the clock of a server may differ.
    #expect(!isClosed(silent.handle(.timer(.silence), at: time - 1)))
    #expect(isClosed(silent.handle(.timer(.silence), at: time)))
    var (connection, _) = try open(SyncIdentity(user: "ann"))
    for part in try parts(.ping(number: 1, roundTrip: 0)) { _ = connection.handle(.received(part), at: 60_000) }
    #expect(!isClosed(connection.handle(.timer(.silence), at: 90_000)))
    #expect(isClosed(connection.handle(.timer(.silence), at: 150_000)))
  }

  /// The bytes that the effects send.
  private func bytes(_ effects: [ServerConnectionEffect]) -> Int {
    effects.reduce(0) { if case .send(let parts) = $1 { parts.reduce($0) { $0 + $1.count } } else { $0 } }
  }

  @Test("is not ended while its client takes part after part of what waits for it, though nothing is heard of it")
  func slowClient() throws {
    var (connection, effects) = try open(SyncIdentity(user: "ann"))
    var waiting = bytes(effects)
    for part in try parts(.ping(number: 1, roundTrip: 0)) { effects = connection.handle(.received(part), at: 0) }
    waiting += bytes(effects)
    for time in [80_000, 160_000, 240_000] as [Int64] {
      #expect(connection.handle(.taken(1), at: time).isEmpty)
      let rung = connection.handle(.timer(.silence), at: time + 10_000)
      let times = rung.compactMap { if case .wake(.silence, let time) = $0 { time } else { nil } }
      #expect(!isClosed(rung) && times == [time + 90_000])
      waiting -= 1
    }
    // The last of it may lie in buffers, whoever is there.
    _ = connection.handle(.taken(waiting), at: 300_000)
    #expect(isClosed(connection.handle(.timer(.silence), at: 330_000)))
  }

  @Test("is told that its token ends, goes on with a fresh one, and ends without")
  func expiry() throws {
    var (connection, effects) = try open(SyncIdentity(user: "ann", expires: 900_000))
    #expect(effects.contains { if case .wake(.expiry, 840_000) = $0 { true } else { false } })
    // The clock of the server was set back meanwhile.
    effects = connection.handle(.timer(.expiry), at: 839_000)
    let times = effects.compactMap { if case .wake(.expiry, let time) = $0 { time } else { nil } }
    #expect(try sent(effects).isEmpty && times == [840_000])
    #expect(try sent(connection.handle(.timer(.expiry), at: 840_000)) == [.expiring(seconds: 60)])
    var renewed = connection
    for part in try parts(.authenticate(token: "u")) { effects = renewed.handle(.received(part), at: 850_000) }
    effects = renewed.handle(.verified(.success(SyncIdentity(user: "ann", expires: 1_800_000))), at: 850_000)
    #expect(try sent(effects) == [.authenticated])
    #expect(!isClosed(renewed.handle(.timer(.expiry), at: 900_000)))
    let ended = connection.handle(.timer(.expiry), at: 900_000)
    #expect(try sent(ended) == [.error(session: 0, code: .tokenExpired, retryAfterSeconds: 0, text: "")])
    #expect(isClosed(ended))
  }

  @Test("is told once that its token ends, also where it sends that one again, and ends with it")
  func sameToken() throws {
    var (connection, _) = try open(SyncIdentity(user: "ann", expires: 900_000))
    #expect(try sent(connection.handle(.timer(.expiry), at: 840_000)) == [.expiring(seconds: 60)])
    for part in try parts(.authenticate(token: "t")) { _ = connection.handle(.received(part), at: 840_100) }
    let again = connection.handle(.verified(.success(SyncIdentity(user: "ann", expires: 900_000))), at: 840_100)
    #expect(try sent(again) == [.authenticated])
    let times = again.compactMap { if case .wake(.expiry, let time) = $0 { time } else { nil } }
    #expect(times == [900_000])
    // A timer that rings early says nothing either.
    #expect(try sent(connection.handle(.timer(.expiry), at: 850_000)).isEmpty)
    var other = connection
    for part in try parts(.authenticate(token: "u")) { _ = other.handle(.received(part), at: 850_000) }
    _ = other.handle(.verified(.success(SyncIdentity(user: "ann", expires: 905_000))), at: 850_000)
    #expect(try sent(other.handle(.timer(.expiry), at: 850_000)) == [.expiring(seconds: 55)])
    #expect(isClosed(connection.handle(.timer(.expiry), at: 900_000)))
  }

  @Test("cannot become another user's with a fresh token")
  func otherUser() throws {
    var (connection, _) = try open(SyncIdentity(user: "ann"))
    for part in try parts(.authenticate(token: "u")) { _ = connection.handle(.received(part), at: 1) }
    #expect(isClosed(connection.handle(.verified(.success(SyncIdentity(user: "bob"))), at: 1)))
  }

  @Test("that begins with anything but hello, or has no version in common, is told so and ended")
  func beginnings() throws {
    for message in [ClientMessage.ping(number: 1, roundTrip: 0), .hello(Hello(versions: [7], features: [], token: ""))] {
      var connection = ServerConnection()
      var effects = connection.begin(at: 0)
      for part in try parts(message) { effects = connection.handle(.received(part), at: 0) }
      #expect(isClosed(effects))
      guard case .error(0, let code, _, _)? = try sent(effects).first else { return #expect(Bool(false), "no reason") }
      #expect(code == .outOfOrder || code == .unknownVersion)
    }
  }

  @Test("cannot fill the memory before it is known who speaks")
  func early() throws {
    var connection = ServerConnection()
    _ = connection.begin(at: 0)
    for part in try parts(.hello(Hello(versions: [1], features: [], token: "t"))) { _ = connection.handle(.received(part), at: 0) }
    let blob = [UInt8](repeating: 0, count: 100_000)
    var effects: [ServerConnectionEffect] = []
    for _ in 0..<3 { for part in try parts(.schema(session: 1, blob)) { effects = connection.handle(.received(part), at: 0) } }
    #expect(isClosed(effects))
    guard case .error(0, .limitExceeded, _, _)? = try sent(effects).first else { return #expect(Bool(false), "no reason") }
  }

  @Test("joins no long message before it is known who speaks, and inflates nothing that was not agreed")
  func greeting() throws {
    let large = SyncFrame(type: 0x01, body: [UInt8](repeating: 0, count: 1 << 20))
    var connection = ServerConnection()
    _ = connection.begin(at: 0)
    var effects: [ServerConnectionEffect] = []
    var taken = 0
    for part in try encoder.parts(of: large) where !isClosed(effects) {
      effects = connection.handle(.received(part), at: 0)
      taken += 1
    }
    #expect(taken == 2)
    guard case .error(0, .limitExceeded, _, _)? = try sent(effects).first else { return #expect(Bool(false), "no reason") }
    // Within its limits, a message in parts is taken once the connection is open.
    (connection, _) = try open(SyncIdentity(user: "ann"))
    let schema = ClientMessage.schema(session: 1, [UInt8](repeating: 0, count: 1 << 20))
    for part in try parts(schema).dropLast() {
      effects = connection.handle(.received(part), at: 0)
      #expect(effects.isEmpty)
    }

    let packing = FrameEncoder(compresses: true)
    let wordy = Hello(versions: [1], features: .compression, token: "t", device: String(repeating: "phone", count: 200))
    connection = ServerConnection()
    _ = connection.begin(at: 0)
    for part in try packing.parts(of: ClientMessage.hello(wordy).frame) { effects = connection.handle(.received(part), at: 0) }
    guard case .error(0, .badFrame, _, _)? = try sent(effects).first else { return #expect(Bool(false), "no reason") }
    // The optional message means nothing to this server, and is passed over.
    let unknown = SyncFrame(type: SyncFrame.optionalTypes, body: [UInt8](repeating: 0, count: 1_000))
    let known: [SyncFeatures] = [.compression, []]
    for features in known {
      (connection, _) = try open(SyncIdentity(user: "ann"), features)
      for part in try packing.parts(of: unknown) { effects = connection.handle(.received(part), at: 0) }
      #expect(isClosed(effects) == features.isEmpty)
    }
  }

  @Test("hears of a mark when what it had sent before was judged, and of one within a transaction before its rest comes")
  func marks() async throws {
    let stores = MemoryServerStore()
    let path = try #require(StorePath("/ann/notes"))
    try await stores.makeStore(path)
    let standing = try await stores.bind(path, ReplicaID(1), secret: [1], user: "ann", at: 0)
    var (connection, _) = try open(SyncIdentity(user: "ann"))
    func say(_ messages: ClientMessage...) throws -> [ServerConnectionEffect] {
      try messages.flatMap { try parts($0) }.flatMap { connection.handle(.received($0), at: 0) }
    }
    func asked(_ effects: [ServerConnectionEffect]) -> [String] {
      effects.compactMap { effect in
        switch effect {
        case .readHead(_, _, let mark): "mark \(mark)"
        case .commit(_, _, let uploads, _, _): "commit \(uploads.count)"
        case .acknowledge: "acknowledge"
        default: nil
        }
      }
    }
    let bind = Bind(
      path: path.text, replica: ReplicaID(1), secret: [1], cursor: .zero, history: [], refusalSeen: .zero, pendingBase: .zero,
      schemaHash: 0)
    guard case .bind(let key, _, _, _)? = try say(.bind(session: 1, bind)).last else { return #expect(Bool(false), "not bound") }
    _ = connection.handle(.bound(key, .success((.all, standing))), at: 0)
    let seen = Acknowledgement(cursor: .zero, pendingBase: .zero, refusalSeen: .zero)
    let all = try say(.acknowledge(session: 1, seen), .upload(session: 1, [changeset(1, 1)]), .mark(session: 1, number: 1))
    #expect(asked(all) == ["acknowledge"])
    #expect(asked(connection.handle(.acknowledged(key, .success(())), at: 0)) == ["commit 1"])
    let first = UploadOutcome.accepted(Seq(1))
    #expect(asked(connection.handle(.committed(key, .success([first])), at: 0)) == ["mark 1"])
    let whole = changeset(1, 2, of: 2)
    let half = Changeset(clientSeq: 2, baseSeq: whole.baseSeq, isContinued: true, first: whole.first, operations: whole.operations)
    #expect(asked(try say(.upload(session: 1, [half]), .mark(session: 1, number: 2))) == ["mark 2"])
    #expect(asked(try say(.upload(session: 1, [changeset(1, 3, of: 3)]))) == ["commit 2"])
  }

  @Test("takes any bytes whatever: it answers, passes them over or ends")
  func anyBytes() throws {
    var random = SeededGenerator.forTest()
    for _ in 0..<2_000 {
      var (connection, _) = try open(SyncIdentity(user: "ann"), random.oneIn(2) ? .rest : [])
      var isOver = false
      for _ in 0..<random.below(20) where !isOver {
        var part = try parts(RandomMessage.client(&random)).randomElement(using: &random) ?? []
        if random.oneIn(2), !part.isEmpty { part[random.below(part.count)] = UInt8(random.below(256)) }
        if random.oneIn(8) { part = (0..<random.below(40)).map { _ in UInt8(random.below(256)) } }
        isOver = isClosed(connection.handle(.received(part), at: 0))
      }
      #expect(connection.handle(.disconnected, at: 0).isEmpty == isOver)
    }
  }
}

/// Messages of every kind.
enum RandomMessage {
  static func client(_ random: inout SeededGenerator) -> ClientMessage {
    let session = UInt32(random.below(3))
    switch random.below(11) {
    case 0: return .hello(Hello(versions: [1], features: [], token: "t"))
    case 1: return .authenticate(token: "u")
    case 2, 3:
      return .bind(
        session: session,
        Bind(
          path: ["/~/a", "/b/c", "", "/../x"][random.below(4)], replica: ReplicaID(1), secret: [1], cursor: .zero, history: [],
          refusalSeen: .zero, pendingBase: .zero, schemaHash: 0))
    case 4: return .upload(session: session, [changeset(1, UInt64(random.below(4)))])
    case 5: return .void(session: session, clientSeq: 2, objects: [ObjectIdentity("Thing", .int(1))])
    case 6: return .acknowledge(session: session, Acknowledgement(cursor: .zero, pendingBase: .zero, refusalSeen: .zero))
    case 7: return .credit(session: session, bytes: UInt64(random.below(1000)))
    case 8: return .mark(session: session, number: 1)
    case 9:
      let history = [UInt8](repeating: 1, count: 16)
      return .rest(
        session: session,
        BegunPages(mode: .delta, history: history, asOf: .zero, stable: .zero, judged: 0, refusal: .zero, next: [1]))
    default: return .unbind(session: session)
    }
  }
}
