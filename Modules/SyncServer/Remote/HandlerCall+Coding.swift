import SyncModel
import SyncProtocol

extension HandlerCall {
  private enum Method {
    static let makeHandlerNames: UInt8 = 1, stores: UInt8 = 2, changes: UInt8 = 3, objects: UInt8 = 4, claim: UInt8 = 5
    static let renew: UInt8 = 6, past: UInt8 = 7, handlers: UInt8 = 8, removeHandler: UInt8 = 9, advance: UInt8 = 10
    static let heads: UInt8 = 11, follow: UInt8 = 12, unfollow: UInt8 = 13
  }

  /// The call as a message. O(size).
  package func frame(number: UInt32) -> SyncFrame {
    var body = ByteWriter()
    switch self {
    case .makeHandlerNames: body.put(byte: Method.makeHandlerNames)
    case .stores: body.put(byte: Method.stores)
    case .changes(let path, let replica, let seq, let limit):
      body.put(Method.changes, path)
      body.put(fixed: replica.rawValue)
      body.put(seq: seq)
      body.put(UInt64(clamping: limit))
    case .objects(let path, let history, let seq, let last, let limit):
      body.put(Method.objects, path)
      body.put(history ?? [])
      body.put(seq: seq)
      body.put(ObjectIdentity.encode(last.map { [$0] } ?? []))
      body.put(UInt64(clamping: limit))
    case .claim(let path, let handler, let history, let fromStart, let milliseconds):
      body.put(Method.claim, path)
      body.put(handler)
      body.put(history ?? [])
      body.put(byte: fromStart ? 1 : 0)
      body.put(signed: milliseconds)
    case .renew(let path, let lease, let milliseconds):
      body.put(Method.renew, path)
      body.put(lease)
      body.put(signed: milliseconds)
    case .past(let path, let seq):
      body.put(Method.past, path)
      body.put(seq: seq)
    case .handlers(let path): body.put(Method.handlers, path)
    case .removeHandler(let path, let name):
      body.put(Method.removeHandler, path)
      body.put(name)
    case .advance(let path, let lease, let seq, let changesets):
      body.put(Method.advance, path)
      body.put(lease)
      body.put(seq: seq)
      body.put(changesets)
    case .heads(let paths):
      body.put(byte: Method.heads)
      body.put(paths)
    case .follow(let paths):
      body.put(byte: Method.follow)
      body.put(paths)
    case .unfollow(let paths):
      body.put(byte: Method.unfollow)
      body.put(paths)
    }
    return SyncFrame(type: HandlerMessage.call, session: number, body: body.bytes)
  }

  /// Decodes a call. Safe for arbitrary bytes.
  package init(_ frame: SyncFrame) throws(FrameError) {
    self = try HandlerMessage.decoded(frame, as: HandlerMessage.call, HandlerCall.read)
  }

  private static func read(_ body: inout ByteReader) throws(CodingError) -> HandlerCall {
    let start = body.position
    let method = try body.byte()
    switch method {
    case Method.makeHandlerNames: return .makeHandlerNames
    case Method.stores: return .stores
    case Method.heads: return .heads(try body.paths())
    case Method.follow: return .follow(try body.paths())
    case Method.unfollow: return .unfollow(try body.paths())
    case Method.changes, Method.objects, Method.claim, Method.renew, Method.past, Method.handlers, Method.removeHandler, Method.advance:
      return try read(method, try body.path(), &body)
    default: throw CodingError(.code(method), at: start)
    }
  }

  private static func read(_ method: UInt8, _ path: StorePath, _ body: inout ByteReader) throws(CodingError) -> HandlerCall {
    switch method {
    case Method.changes:
      let (replica, seq) = (ReplicaID(try body.fixed(UInt64.self)), try body.logSeq())
      return .changes(path, replica: replica, after: seq, limitBytes: try body.limit())
    case Method.objects:
      let (history, seq) = (try body.history(), try body.logSeq())
      let last = try body.nested { bytes throws(CodingError) in try ObjectIdentity.decode(bytes) }
      guard last.count <= 1 else { throw body.error(.count) }
      return .objects(path, history: history, changedAfter: seq, behind: last.first, limitBytes: try body.limit())
    case Method.claim:
      let (handler, history, fromStart) = (try body.text(), try body.history(), try body.flag())
      return .claim(path, handler: handler, history: history, fromStart: fromStart, milliseconds: try body.signed())
    case Method.renew:
      let lease = try body.lease()
      return .renew(path, lease, milliseconds: try body.signed())
    case Method.past: return .past(path, at: try body.logSeq())
    case Method.handlers: return .handlers(path)
    case Method.removeHandler: return .removeHandler(path, name: try body.text())
    default:
      let (lease, seq) = (try body.lease(), try body.logSeq())
      return .advance(path, lease, to: seq, writing: try body.changesets())
    }
  }
}

// MARK: the parts of calls and answers

extension ByteWriter {
  fileprivate mutating func put(_ method: UInt8, _ path: StorePath) {
    put(byte: method)
    put(path.text)
  }

  package mutating func put(_ paths: [StorePath]) {
    put(paths.count)
    for path in paths { put(path.text) }
  }

  package mutating func put(_ lease: HandlerLease) {
    put(lease.handler)
    put(seq: lease.cursor)
    put(lease.fence)
    put(lease.history)
    put(byte: lease.isNew ? 1 : 0)
  }
}

extension ByteReader {
  package mutating func path() throws(CodingError) -> StorePath {
    let start = position
    guard let path = StorePath(try text()) else { throw CodingError(.value, at: start) }
    return path
  }

  package mutating func paths() throws(CodingError) -> [StorePath] {
    var paths: [StorePath] = []
    for _ in 0..<(try count(of: 3)) { paths.append(try path()) }
    return paths
  }

  package mutating func lease() throws(CodingError) -> HandlerLease {
    let (handler, cursor, fence) = (try text(), try logSeq(), try number())
    let history = try bytes()
    return HandlerLease(handler: handler, cursor: cursor, fence: fence, history: history, isNew: try flag())
  }

  fileprivate mutating func history() throws(CodingError) -> [UInt8]? {
    let history = try bytes()
    return history.isEmpty ? nil : history
  }

  /// A number of bytes to read: more than one message takes is not asked for.
  fileprivate mutating func limit() throws(CodingError) -> Int { Int(min(try number(), 16 << 20)) }
}
