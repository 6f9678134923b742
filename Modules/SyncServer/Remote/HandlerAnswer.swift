import SyncModel
import SyncProtocol

/// What a server answers to a call of a program with handlers.
package enum HandlerAnswer: Sendable {
  /// It is done; what the call returns, encoded, or the last piece of that.
  case done([UInt8])
  case failed(ServerStoreError)
  /// A piece of what the call returns; others follow.
  case piece([UInt8])

  /// The bytes of what the call returns.
  var size: Int {
    switch self {
    case .done(let content), .piece(let content): content.count
    case .failed: 0
    }
  }

  /// What is longer goes in several messages.
  private static let pieceBytes = 64 << 20

  /// The answer as messages. O(size).
  package func frames(number: UInt32) -> [SyncFrame] {
    guard case .done(let content) = self, content.count > HandlerAnswer.pieceBytes else { return [frame(number: number)] }
    return stride(from: 0, to: content.count, by: HandlerAnswer.pieceBytes).map { start in
      let end = min(content.count, start + HandlerAnswer.pieceBytes)
      let piece = Array(content[start..<end])
      return (end < content.count ? HandlerAnswer.piece(piece) : .done(piece)).frame(number: number)
    }
  }

  private func frame(number: UInt32) -> SyncFrame {
    var body = ByteWriter()
    switch self {
    case .done(let content):
      body.put(byte: 0)
      body.put(raw: content)
    case .failed(let error):
      body.put(byte: 1)
      body.put(error.code.rawValue)
      body.put(error.message)
    case .piece(let content):
      body.put(byte: 2)
      body.put(raw: content)
    }
    return SyncFrame(type: HandlerMessage.answer, session: number, body: body.bytes)
  }

  /// Decodes an answer, but not yet what the call returns. Safe for arbitrary bytes.
  package init(_ frame: SyncFrame) throws(FrameError) {
    self = try HandlerMessage.decoded(frame, as: HandlerMessage.answer) { body throws(CodingError) in
      let start = body.position
      switch try body.byte() {
      case 0: return .done(try body.bytes(body.left))
      case 1:
        let (name, message) = (try body.text(), try body.text())
        // A later server may know more reasons.
        return .failed(ServerStoreError(ServerStoreError.Code(rawValue: name) ?? .unavailable, message))
      case 2: return .piece(try body.bytes(body.left))
      case let code: throw CodingError(.code(code), at: start)
      }
    }
  }
}

extension HandlerCall {
  /// Does what the call asks for, but for `follow` and `unfollow`, which are the connection's, and returns the answer's content.
  ///
  /// - Parameter time: milliseconds since 1970 by the server's clock.
  func perform(on stores: any EventStores, at time: Int64) async throws(ServerStoreError) -> [UInt8] {
    if let handler, HandlerNames.isOfServer(handler) {
      throw ServerStoreError(.unavailable, "The server itself runs the handler '\(handler)'.")
    }
    var body = ByteWriter()
    switch self {
    case .follow, .unfollow: break
    case .makeHandlerNames: try await stores.makeHandlerNames()
    case .stores: body.put(try await stores.stores())
    case .changes(let path, let replica, let seq, let limit):
      body.put(try await stores.changes(path, for: replica, after: seq, limitBytes: limit))
    case .objects(let path, let history, let seq, let last, let limit):
      body.put(try await stores.objects(path, of: history, changedAfter: seq, behind: last, limitBytes: limit))
    case .claim(let path, let handler, let history, let fromStart, let milliseconds):
      let end = HandlerCall.end(time, milliseconds)
      let lease = try await stores.claim(path, handler: handler, heldIn: history, fromStart: fromStart, until: end, at: time)
      body.put(byte: lease == nil ? 0 : 1)
      if let lease { body.put(lease) }
    case .renew(let path, let lease, let milliseconds):
      try await stores.renew(path, lease, until: HandlerCall.end(time, milliseconds), at: time)
    case .past(let path, let seq):
      let past = try await stores.past(path, at: seq)
      body.put(seq: past.asOf)
      body.put(past.states)
    case .handlers(let path): body.put(try await stores.handlers(path), at: time)
    case .removeHandler(let path, let name): try await stores.removeHandler(path, name)
    case .advance(let path, let lease, let seq, let changesets):
      let written = try await stores.advance(path, lease, to: seq, writing: changesets, at: time)
      body.put(written.count)
      for seq in written { body.put(seq: seq) }
    case .heads(let paths):
      let heads = try await stores.heads(paths)
      body.put(heads.count)
      for (path, head) in heads.sorted(by: { $0.key < $1.key }) {
        body.put(path.text)
        body.put(seq: head)
      }
    }
    return body.bytes
  }

  /// When a lease ends that lasts for so long, at most a day: a program that asks for more and dies would keep others away.
  private static func end(_ time: Int64, _ milliseconds: Int64) -> Int64 { time + min(max(milliseconds, -1), 86_400_000) }
}

// MARK: what calls return

extension ByteWriter {
  package mutating func put(_ page: LogPage) {
    put(page.entries)
    put(seq: page.cursor)
    put(seq: page.head)
    put(page.history)
  }

  /// Of a lease how long it lasts, or how long ago it ended.
  package mutating func put(_ handlers: [String: HandlerStanding], at time: Int64) {
    put(handlers.count)
    for (name, standing) in handlers.sorted(by: { $0.key < $1.key }) {
      put(name)
      put(seq: standing.cursor)
      let (rest, isTooFar) = standing.leaseEnd.subtractingReportingOverflow(time)
      put(byte: standing.leaseEnd == .min ? 0 : 1)
      if standing.leaseEnd != .min { put(signed: isTooFar ? .max : rest) }
    }
  }
}

extension ByteReader {
  package mutating func logPage() throws(CodingError) -> LogPage {
    let entries = try entries()
    let (cursor, head) = (try logSeq(), try logSeq())
    return LogPage(entries: entries, cursor: cursor, head: head, history: try bytes())
  }

  package mutating func handlers(at time: Int64) throws(CodingError) -> [String: HandlerStanding] {
    var handlers: [String: HandlerStanding] = [:]
    for _ in 0..<(try count(of: 3)) {
      let (name, cursor) = (try text(), try logSeq())
      let (end, isTooFar) = try flag() ? time.addingReportingOverflow(try signed()) : (.min, false)
      handlers[name] = HandlerStanding(cursor: cursor, leaseEnd: isTooFar ? .max : end)
    }
    return handlers
  }

  package mutating func seqs() throws(CodingError) -> [Seq] {
    var seqs: [Seq] = []
    for _ in 0..<(try count(of: 1)) { seqs.append(try logSeq()) }
    return seqs
  }

  package mutating func heads() throws(CodingError) -> [StorePath: Seq] {
    var heads: [StorePath: Seq] = [:]
    for _ in 0..<(try count(of: 4)) {
      let path = try path()
      heads[path] = try logSeq()
    }
    return heads
  }
}
