import SyncModel

extension ClientMessage {
  private enum Code {
    static let hello: UInt8 = 0x01, authenticate: UInt8 = 0x02, bind: UInt8 = 0x03, upload: UInt8 = 0x04, void: UInt8 = 0x05
    static let acknowledge: UInt8 = 0x06, credit: UInt8 = 0x07, mark: UInt8 = 0x08, unbind: UInt8 = 0x09, schema: UInt8 = 0x0A
    static let ping: UInt8 = 0x0B, rest: UInt8 = 0x0C
  }

  /// The message as a frame. O(size).
  public var frame: SyncFrame {
    var body = ByteWriter()
    switch self {
    case .hello(let hello):
      body.put(hello)
      return SyncFrame(type: Code.hello, body: body.bytes)
    case .authenticate(let token):
      body.put(token)
      return SyncFrame(type: Code.authenticate, body: body.bytes)
    case .bind(let session, let bind):
      body.put(bind)
      return SyncFrame(type: Code.bind, session: session, body: body.bytes)
    case .rest(let session, let begun):
      body.put(begun)
      return SyncFrame(type: Code.rest, session: session, body: body.bytes)
    case .upload(let session, let changesets):
      body.put(changesets)
      return SyncFrame(type: Code.upload, session: session, body: body.bytes)
    case .void(let session, let clientSeq, let objects):
      body.put(clientSeq)
      body.put(ObjectIdentity.encode(objects))
      return SyncFrame(type: Code.void, session: session, body: body.bytes)
    case .acknowledge(let session, let state):
      for seq in [state.cursor, state.pendingBase, state.refusalSeen] { body.put(seq: seq) }
      return SyncFrame(type: Code.acknowledge, session: session, body: body.bytes)
    case .credit(let session, let bytes):
      body.put(bytes)
      return SyncFrame(type: Code.credit, session: session, body: body.bytes)
    case .mark(let session, let number):
      body.put(number)
      return SyncFrame(type: Code.mark, session: session, body: body.bytes)
    case .unbind(let session): return SyncFrame(type: Code.unbind, session: session)
    case .schema(let session, let schema): return SyncFrame(type: Code.schema, session: session, body: schema)
    case .ping(let number, let roundTrip):
      body.put(number)
      body.put(roundTrip)
      return SyncFrame(type: Code.ping, body: body.bytes)
    case .unknown(let type): return SyncFrame(type: type)
    }
  }

  /// Decodes the message of a frame. Safe for arbitrary bytes. Throws `.badFrame` with the position, or `.unknownVersion` for an unknown
  /// type that may not be ignored.
  public init(_ frame: SyncFrame) throws(FrameError) {
    self = try frame.message(unknown: ClientMessage.unknown(type:), ClientMessage.read)
  }

  /// Returns nil for an unknown type.
  private static func read(_ frame: SyncFrame, _ body: inout ByteReader) throws(CodingError) -> ClientMessage? {
    let session = frame.session
    switch frame.type {
    case Code.hello: return .hello(try body.hello())
    case Code.authenticate: return .authenticate(token: try body.text())
    case Code.bind: return .bind(session: session, try body.bind())
    case Code.rest: return .rest(session: session, try body.begunPages())
    case Code.upload: return .upload(session: session, try body.changesets())
    case Code.void:
      let clientSeq = try body.number()
      return .void(
        session: session, clientSeq: clientSeq,
        objects: try body.nested { bytes throws(CodingError) in try ObjectIdentity.decode(bytes) })
    case Code.acknowledge:
      let (cursor, base) = (try body.logSeq(), try body.logSeq())
      return .acknowledge(
        session: session, Acknowledgement(cursor: cursor, pendingBase: base, refusalSeen: try body.logSeq()))
    case Code.credit: return .credit(session: session, bytes: try body.number())
    case Code.mark: return .mark(session: session, number: try body.number())
    case Code.unbind: return .unbind(session: session)
    case Code.schema: return .schema(session: session, try body.bytes(body.left))
    case Code.ping:
      let number = try body.number()
      return .ping(number: number, roundTrip: try body.number())
    default: return nil
    }
  }
}

extension ByteWriter {
  package mutating func put(_ hello: Hello) {
    put(hello.versions.count)
    for version in hello.versions { put(UInt64(version)) }
    put(hello.features.rawValue)
    put(hello.token)
    put(hello.device)
  }

  package mutating func put(_ changesets: [Changeset]) {
    put(changesets.count)
    for changeset in changesets { put(changeset.encoded()) }
  }

  fileprivate mutating func put(_ bind: Bind) {
    put(bind.path)
    put(fixed: bind.replica.rawValue)
    put(bind.secret)
    put(seq: bind.cursor)
    put(bind.history)
    put(seq: bind.refusalSeen)
    put(seq: bind.pendingBase)
    put(fixed: bind.schemaHash)
  }
}

extension ByteReader {
  package mutating func changesets() throws(CodingError) -> [Changeset] {
    var changesets: [Changeset] = []
    for _ in 0..<(try count(of: 2)) {
      changesets.append(try nested { bytes throws(CodingError) in try Changeset(decoding: bytes) })
    }
    return changesets
  }

  package mutating func hello() throws(CodingError) -> Hello {
    var versions: [UInt16] = []
    for _ in 0..<(try count(of: 1)) { versions.append(try small(UInt16.self)) }
    let features = SyncFeatures(rawValue: try number())
    let token = try text()
    return Hello(versions: versions, features: features, token: token, device: try text())
  }

  fileprivate mutating func bind() throws(CodingError) -> Bind {
    let path = try text()
    let replica = ReplicaID(try fixed(UInt64.self))
    let secret = try bytes()
    // A server keeps it for as long as it knows the replica.
    guard secret.count <= Bind.secretBytes else { throw error(.value) }
    let cursor = try logSeq()
    let history = try bytes()
    guard history.isEmpty || history.count == Bind.historyBytes else { throw error(.value) }
    let refusal = try logSeq()
    let base = try logSeq()
    return Bind(
      path: path, replica: replica, secret: secret, cursor: cursor, history: history, refusalSeen: refusal, pendingBase: base,
      schemaHash: try fixed(UInt64.self))
  }
}
