import SyncModel
import SyncProtocol

/// Something that a server does otherwise than the protocol says, in a sentence.
struct Fault: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// One connection to the server under test, message by message.
actor RuleConnection {
  private let transport: any SyncTransport
  private var encoder = FrameEncoder()
  private var decoder = FrameDecoder()
  /// How long an answer may take.
  private let patience: Duration
  /// Entries that came before something else that was waited for.
  private var early: [LogEntry] = []

  init(_ connector: any SyncConnector, patience: Duration) async throws {
    transport = try await connector.connect()
    self.patience = patience
  }

  func send(_ messages: ClientMessage...) async throws {
    for message in messages { try await transport.send(try encoder.parts(of: message.frame)) }
  }

  func send(raw part: [UInt8]) async throws { try await transport.send([part]) }

  /// From now on messages are compressed where that makes them smaller.
  func compress() { encoder.compresses = true }

  /// In parts of so many bytes.
  func split(into bytes: Int) { encoder = FrameEncoder(FrameLimits(partBytes: bytes), compresses: encoder.compresses) }

  /// The next message; nil where the server has ended the connection.
  func next() async throws -> ServerMessage? {
    let (transport, patience) = (transport, patience)
    let timer = Task {
      try await Task.sleep(for: patience)
      await transport.close()
    }
    defer { timer.cancel() }
    while true {
      let part: [UInt8]?
      do { part = try await transport.receive() } catch { part = nil }
      guard let part else { return nil }
      guard let frame = try decoder.take(part) else { continue }
      return try ServerMessage(frame)
    }
  }

  /// The next message that passes; what comes before it is left out, but entries, which `entries` gives then: a server may send them
  /// before or after what it says of an upload.
  func next(_ what: String, where passes: @Sendable (ServerMessage) -> Bool) async throws -> ServerMessage {
    var seen: [String] = []
    while let message = try await next() {
      if passes(message) { return message }
      if case .changes(_, let entries) = message { early += entries }
      seen.append(String("\(message)".prefix(60)))
    }
    throw Fault("\(what) was expected, and the connection ended after \(seen.isEmpty ? "nothing" : seen.joined(separator: ", "))")
  }

  func close() async { await transport.close() }

  // MARK: what many rules begin with

  func welcome() async throws -> Welcome {
    guard case .welcome(let welcome)? = try await next() else { throw Fault("'welcome' was expected first") }
    return welcome
  }

  func bound(_ session: UInt32 = 1) async throws -> Bound {
    let message = try await next("'bound'") { if case .bound(session, _) = $0 { true } else { false } }
    guard case .bound(_, let bound) = message else { throw Fault("'bound' was expected") }
    return bound
  }

  /// The pages of objects, up to the last.
  func pages() async throws -> [StatePage] {
    var pages: [StatePage] = []
    while pages.last?.isLast != true {
      let message = try await next("a page of objects") { if case .state(1, _) = $0 { true } else { false } }
      if case .state(_, let page) = message { pages.append(page) }
    }
    return pages
  }

  /// An error with a code, or one of some.
  func error(_ codes: SyncErrorCode...) async throws {
    let message = try await next("error \(codes.map(\.rawValue))") { if case .error = $0 { true } else { false } }
    guard case .error(_, let code, _, _) = message, codes.contains(code) else {
      throw Fault("error \(codes.map(\.rawValue)) was expected, and \(message) came")
    }
  }

  /// Nothing but the end.
  func end() async throws {
    while let message = try await next() {
      if case .pong = message { throw Fault("the connection goes on, and should have ended") }
    }
  }

  /// What had come when the server answers: nothing that passes.
  func expectNone(_ what: String, number: UInt64, where passes: @Sendable (ServerMessage) -> Bool) async throws {
    try await send(.ping(number: number, roundTrip: 0))
    while let message = try await next() {
      if case .pong(number) = message { return }
      if passes(message) { throw Fault("\(what) came: \("\(message)".prefix(80))") }
    }
    throw Fault("'pong' was expected, and the connection ended")
  }

  /// An upload is in the log.
  func expectOwn(_ number: UInt64) async throws {
    guard try await entries(mark: number).contains(where: { $0.body == .own(clientSeq: number) }) else {
      throw Fault("the upload \(number) was not taken in")
    }
  }

  /// Entries up to the answer to a mark.
  func entries(_ session: UInt32 = 1, mark: UInt64) async throws -> [LogEntry] {
    try await send(.mark(session: session, number: mark))
    defer { early = [] }
    var all = early
    while let message = try await next() {
      switch message {
      case .changes(session, let entries): all += entries
      case .marked(session, mark): return all
      case .error(_, let code, _, let text): throw Fault("error \(code.rawValue) came: \(text)")
      default: break
      }
    }
    throw Fault("'marked' was expected, and the connection ended")
  }
}
