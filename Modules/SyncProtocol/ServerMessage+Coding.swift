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

  /// The message of a frame. Safe for any bytes whatever. Throws `.badFrame` with the place, `.unknownVersion` for a type that
  /// has to be known and is not.
  public init(_ frame: SyncFrame) throws(FrameError) {
    do { self = try ServerMessage.read(frame) } catch { throw error.inMessage(frame.type) }
  }

  private static func read(_ frame: SyncFrame) throws(MessageFault) -> ServerMessage {
    var body = ByteReader(frame.body)
    let session = frame.session
    do {
      let message: ServerMessage
      switch frame.type {
      case Code.welcome: message = .welcome(try body.welcome())
      case Code.authenticated: message = .authenticated
      case Code.expiring: message = .expiring(seconds: try body.number())
      case Code.bound: message = .bound(session: session, try body.bound())
      case Code.acknowledged: message = .acknowledged(session: session, clientSeq: try body.number())
      case Code.changes: message = .changes(session: session, try body.entries())
      case Code.state: message = .state(session: session, try body.page())
      case Code.credit: message = .credit(session: session, bytes: try body.number())
      case Code.marked: message = .marked(session: session, number: try body.number())
      case Code.unbound: message = .unbound(session: session)
      case Code.schema: message = .schema(session: session, try body.bytes(body.left))
      case Code.progress:
        let head = try body.logSeq()
        message = .progress(session: session, head: head, bytesLeft: try body.number())
      case Code.pong: message = .pong(number: try body.number())
      case Code.goAway: message = .goAway(seconds: try body.number())
      case Code.error:
        let code = try body.errorCode()
        let seconds = try body.number()
        message = .error(session: session, code: code, retryAfterSeconds: seconds, text: try body.text())
      case SyncFrame.optionalTypes...: return .unknown(type: frame.type)
      default: throw MessageFault.unknownType
      }
      try body.end()
      return message
    } catch let error as CodingError { throw .coding(error) } catch { throw .unknownType }
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
