#if Sync
import SyncModel
import SyncProtocol

/// Makes the messages of a client, of every kind: whole ones, most of which say what a client would say.
struct FuzzClient {
  /// Whether it has offered to compress.
  private(set) var compresses = false
  var random: SplitMix
  /// The last number that each session has uploaded since it began or learned of refusals.
  private var sent: [UInt32: UInt64] = [:]
  /// The sessions with a transaction whose rest is still to come.
  private var unfinished: Set<UInt32> = []

  init(random: SplitMix) { self.random = random }

  /// The first message.
  mutating func hello() -> ClientMessage {
    let features = SyncFeatures(rawValue: UInt64(random.below(8)))
    compresses = features.contains(.compression)
    return .hello(Hello(versions: [1], features: features, token: FuzzHost.user, device: random.isOne(of: 2) ? "a phone" : ""))
  }

  /// What comes next: a message, or a few that belong together.
  ///
  /// - Parameter sessions: those that have begun and have not ended.
  mutating func messages(_ sessions: [FuzzLink.Session], _ host: FuzzHost) -> [ClientMessage] {
    guard let session = sessions.randomElement(using: &random), !random.isOne(of: 8) else { return ofConnection(sessions, host) }
    // A number that was never bound ends the connection; one that has ended is passed over.
    let strange: [UInt32] = [0, 1, 2, 3, 4, 9, .max]
    let number = random.isOne(of: 32) ? strange[random.below(strange.count)] : session.number
    // Nothing but the rest of a transaction may come behind its beginning.
    if unfinished.contains(session.number), !random.isOne(of: 16) { return [upload(number, session, host)] }
    switch random.below(16) {
    case 0...6: return [upload(number, session, host)]
    case 7: return [void(number, session, host)]
    case 8...10: return [acknowledgement(number, session, host)]
    case 11: return [.credit(session: number, bytes: random.number())]
    // So little that objects and entries come in pages.
    case 12: return [.credit(session: number, bytes: UInt64(random.below(400)))]
    case 13: return [.mark(session: number, number: random.number())]
    case 14: return [.schema(session: number, declaration())]
    default: return [random.isOne(of: 4) ? .unbind(session: number) : .credit(session: number, bytes: 1 << 16)]
    }
  }

  // MARK: messages of the connection

  private mutating func ofConnection(_ sessions: [FuzzLink.Session], _ host: FuzzHost) -> [ClientMessage] {
    // Who has no session has little else to do than to begin one.
    switch random.below(sessions.isEmpty ? 32 : 12) {
    case 0:
      let tokens = [FuzzHost.user, FuzzHost.user, "bob", ""]
      return [.authenticate(token: tokens[random.below(tokens.count)])]
    case 1, 2: return [.ping(number: random.number(), roundTrip: random.number())]
    case 3: return [.unknown(type: UInt8.random(in: SyncFrame.optionalTypes...UInt8.max, using: &random))]
    case 4: return [random.isOne(of: 4) ? hello() : .ping(number: 1, roundTrip: 0)]
    default: return begin(sessions, host)
    }
  }

  /// Begins a session, and grants the server something for it, as clients do at once.
  private mutating func begin(_ sessions: [FuzzLink.Session], _ host: FuzzHost) -> [ClientMessage] {
    let numbers: [UInt32] = [1, 2, 3, 4]
    let free = numbers.filter { number in !sessions.contains { $0.number == number } }
    guard let next = free.randomElement(using: &random) else { return [.ping(number: 2, roundTrip: 0)] }
    let number = random.isOne(of: 32) ? UInt32(random.below(6)) : next
    let bind = wish(number, host)
    sent[number] = nil
    unfinished.remove(number)
    return [.bind(session: number, bind), .credit(session: number, bytes: UInt64(random.below(1 << 16)))]
  }

  private mutating func wish(_ number: UInt32, _ host: FuzzHost) -> Bind {
    let strange = ["", "/../x", "/shared", "/b/c"]
    let path = random.isOne(of: 16) ? strange[random.below(strange.count)] : FuzzHost.paths[random.below(FuzzHost.paths.count)]
    let (head, history) = host.store(path)
    let cursor = seq(upTo: head)
    var bind = Bind(
      path: path, replica: ReplicaID(UInt64(number)), secret: [1], cursor: cursor, history: history,
      refusalSeen: random.isOne(of: 4) ? seq(upTo: head) : head, pendingBase: cursor, schemaHash: UInt64(number))
    switch random.below(12) {
    // It has nothing yet.
    case 0...2: (bind.cursor, bind.history, bind.pendingBase) = (.zero, [], .zero)
    case 3: bind.pendingBase = seq(upTo: cursor)
    case 4: bind.cursor = Seq(random.number())
    case 5: if random.isOne(of: 2) { bind.history = random.bytes(random.isOne(of: 8) ? 15 : 16) }
    case 6: if random.isOne(of: 2) { bind.secret = random.bytes(random.isOne(of: 8) ? 17 : 16) }
    // Another one's replica, or a handler's.
    case 7: bind.replica = ReplicaID(random.isOne(of: 8) ? UInt64(1) << 63 : UInt64(random.below(8)))
    default: break
    }
    return bind
  }

  // MARK: messages of a session

  /// The number of a session's next upload, and now and then one that it is not.
  private mutating func nextNumber(_ session: FuzzLink.Session, _ host: FuzzHost) -> (number: UInt64, isStrange: Bool) {
    let next = max(sent[session.number] ?? 0, host.lastJudged(of: session.replica, in: session.path)) &+ 1
    guard random.isOne(of: 16) else { return (next, false) }
    let strange = [0, 1, next &- 1, next &- 2, next &+ 1, random.number(), UInt64.max]
    return (strange[random.below(strange.count)], true)
  }

  private mutating func upload(_ number: UInt32, _ session: FuzzLink.Session, _ host: FuzzHost) -> ClientMessage {
    var (clientSeq, isStrange) = nextNumber(session, host)
    var changesets: [Changeset] = []
    let count = random.below(4)
    for index in 0..<count {
      // The last one may claim that more of its transaction follows.
      let isContinued = random.isOne(of: index + 1 < count ? 2 : 12)
      changesets.append(changeset(clientSeq, isContinued: isContinued, of: session, host))
      clientSeq &+= 1
      if random.isOne(of: 64) {
        clientSeq &+= 1
        isStrange = true
      }
    }
    if !isStrange { sent[session.number] = clientSeq &- 1 }
    if let last = changesets.last {
      if last.isContinued { unfinished.insert(session.number) } else { unfinished.remove(session.number) }
    }
    return .upload(session: number, changesets)
  }

  private mutating func void(_ number: UInt32, _ session: FuzzLink.Session, _ host: FuzzHost) -> ClientMessage {
    let (clientSeq, isStrange) = nextNumber(session, host)
    if !isStrange { sent[session.number] = clientSeq }
    unfinished.remove(session.number)
    var objects: [ObjectIdentity] = []
    for _ in 0..<random.below(3) { objects.append(object()) }
    return .void(session: number, clientSeq: clientSeq, objects: objects)
  }

  private mutating func acknowledgement(_ number: UInt32, _ session: FuzzLink.Session, _ host: FuzzHost) -> ClientMessage {
    let head = host.head(session.path)
    // What was ignored because of a refusal is uploaded again.
    sent[session.number] = nil
    if random.isOne(of: 16) {
      let state = Acknowledgement(cursor: Seq(random.number()), pendingBase: Seq(random.number()), refusalSeen: Seq(random.number()))
      return .acknowledge(session: number, state)
    }
    let cursor = random.isOne(of: 2) ? head : seq(upTo: head)
    let base = seq(upTo: cursor)
    return .acknowledge(
      session: number,
      Acknowledgement(cursor: cursor, pendingBase: base, refusalSeen: random.isOne(of: 8) ? seq(upTo: head) : head))
  }

  private mutating func declaration() -> [UInt8] {
    if random.isOne(of: 16) { return random.bytes(20) }
    return SyncSchema(["Thing": ["text": random.isOne(of: 16) ? "int" : "string"]]).encoded
  }

  /// An entry up to another.
  mutating func seq(upTo last: Seq) -> Seq { Seq(UInt64.random(in: 0...last.rawValue, using: &random)) }
}
#endif
