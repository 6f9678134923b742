import SyncModel

extension ServerMessage {
  private enum Code {
    static let welcome: UInt8 = 0x81, authenticated: UInt8 = 0x82, bound: UInt8 = 0x83, acknowledged: UInt8 = 0x84
    static let credit: UInt8 = 0x87, marked: UInt8 = 0x88, unbound: UInt8 = 0x89, schema: UInt8 = 0x8A, pong: UInt8 = 0x8B
    static let goAway: UInt8 = 0x8C, progress: UInt8 = 0x8D, expiring: UInt8 = 0x8E, error: UInt8 = 0x8F
    static let state: UInt8 = 0x90, changes: UInt8 = 0x91
  }

  /// The message as a frame. O(size).
  public var frame: SyncFrame {
    var body = ByteWriter()
    switch self {
    case .welcome(let welcome):
      body.put(UInt64(welcome.version))
      body.put(welcome.features.rawValue)
      for number in [welcome.serverTime, welcome.pingSeconds, welcome.messageBytes] { body.put(number) }
      return SyncFrame(type: Code.welcome, body: body.bytes)
    case .authenticated: return SyncFrame(type: Code.authenticated)
    case .expiring(let seconds):
      body.put(seconds)
      return SyncFrame(type: Code.expiring, body: body.bytes)
    case .bound(let session, let bound):
      body.put(bound)
      return SyncFrame(type: Code.bound, session: session, body: body.bytes)
    case .acknowledged(let session, let clientSeq):
      body.put(clientSeq)
      return SyncFrame(type: Code.acknowledged, session: session, body: body.bytes)
    case .changes(let session, let entries):
      body.put(entries)
      return SyncFrame(type: Code.changes, session: session, body: body.bytes)
    case .state(let session, let page):
      body.put(page)
      return SyncFrame(type: Code.state, session: session, body: body.bytes)
    case .credit(let session, let bytes):
      body.put(bytes)
      return SyncFrame(type: Code.credit, session: session, body: body.bytes)
    case .marked(let session, let number):
      body.put(number)
      return SyncFrame(type: Code.marked, session: session, body: body.bytes)
    case .unbound(let session): return SyncFrame(type: Code.unbound, session: session)
    case .schema(let session, let schema): return SyncFrame(type: Code.schema, session: session, body: schema)
    case .progress(let session, let head, let left):
      body.put(seq: head)
      body.put(left)
      return SyncFrame(type: Code.progress, session: session, body: body.bytes)
    case .pong(let number):
      body.put(number)
      return SyncFrame(type: Code.pong, body: body.bytes)
    case .goAway(let seconds):
      body.put(seconds)
      return SyncFrame(type: Code.goAway, body: body.bytes)
    case .error(let session, let code, let retryAfter, let text):
      body.put(UInt64(code.rawValue))
      body.put(retryAfter)
      body.put(text)
      return SyncFrame(type: Code.error, session: session, body: body.bytes)
    case .unknown(let type): return SyncFrame(type: type)
    }
  }

  /// Decodes the message of a frame. Safe for arbitrary bytes. Throws `.badFrame` with the position, or `.unknownVersion` for an unknown
  /// type that may not be ignored.
  public init(_ frame: SyncFrame) throws(FrameError) {
    self = try frame.message(unknown: ServerMessage.unknown(type:), ServerMessage.read)
  }

  /// Returns nil for an unknown type.
  private static func read(_ frame: SyncFrame, _ body: inout ByteReader) throws(CodingError) -> ServerMessage? {
    let session = frame.session
    switch frame.type {
    case Code.welcome: return .welcome(try body.welcome())
    case Code.authenticated: return .authenticated
    case Code.expiring: return .expiring(seconds: try body.number())
    case Code.bound: return .bound(session: session, try body.bound())
    case Code.acknowledged: return .acknowledged(session: session, clientSeq: try body.number())
    case Code.changes: return .changes(session: session, try body.entries())
    case Code.state: return .state(session: session, try body.page())
    case Code.credit: return .credit(session: session, bytes: try body.number())
    case Code.marked: return .marked(session: session, number: try body.number())
    case Code.unbound: return .unbound(session: session)
    case Code.schema: return .schema(session: session, try body.bytes(body.left))
    case Code.progress:
      let head = try body.logSeq()
      return .progress(session: session, head: head, bytesLeft: try body.number())
    case Code.pong: return .pong(number: try body.number())
    case Code.goAway: return .goAway(seconds: try body.number())
    case Code.error:
      let code = try body.errorCode()
      let seconds = try body.number()
      return .error(session: session, code: code, retryAfterSeconds: seconds, text: try body.text())
    default: return nil
    }
  }
}

extension ByteWriter {
  fileprivate mutating func put(_ bound: Bound) {
    put(byte: bound.mode.rawValue)
    put(byte: bound.rights.rawValue)
    put(bound.history)
    put(seq: bound.head)
    put(seq: bound.stable)
    put(bound.judged)
    put(bound.judgedStamp)
    put(seq: bound.refusal)
    put(bound.refused.count)
    for clientSeq in bound.refused { put(clientSeq) }
    put(fixed: bound.schemaHash)
    put(bound.credit)
  }
}

extension ByteReader {
  fileprivate mutating func welcome() throws(CodingError) -> Welcome {
    let version = try small(UInt16.self)
    let features = SyncFeatures(rawValue: try number())
    let (time, ping) = (try number(), try number())
    return Welcome(version: version, features: features, serverTime: time, pingSeconds: ping, messageBytes: try number())
  }

  fileprivate mutating func bound() throws(CodingError) -> Bound {
    let start = position
    let code = try byte()
    guard let mode = Bound.Mode(rawValue: code) else { throw CodingError(.code(code), at: start) }
    let rights = Bound.Rights(rawValue: try byte())
    let history = try bytes()
    let (head, stable) = (try logSeq(), try logSeq())
    let (judged, stamp) = (try number(), try stamp())
    let refusal = try logSeq()
    var refused: [UInt64] = []
    for _ in 0..<(try count(of: 1)) { refused.append(try number()) }
    let hash = try fixed(UInt64.self)
    return Bound(
      mode: mode, rights: rights, history: history, head: head, stable: stable, judged: judged, judgedStamp: stamp, refusal: refusal,
      refused: refused, schemaHash: hash, credit: try number())
  }

  mutating func errorCode() throws(CodingError) -> SyncErrorCode {
    let start = position
    guard let code = SyncErrorCode(rawValue: try small(UInt16.self)) else { throw CodingError(.value, at: start) }
    return code
  }
}
