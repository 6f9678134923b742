import SyncModel
import SyncProtocol
import SyncServer

/// One connection of `RemoteEventStores`, from when the server has let it in to its end.
actor RemoteLink {
  /// What the server answers, or why there is no answer.
  typealias Answer = Result<Result<[UInt8], ServerStoreError>, RemoteFailure>

  private let transport: any SyncTransport
  private let answerTime: Duration
  private var decoder = FrameDecoder(.ofClient)
  private var encoder = FrameEncoder(HandlerMessage.limits)
  private var lastNumber: UInt32 = 0
  private var waiting: [UInt32: CheckedContinuation<Answer, Never>] = [:]
  /// What came of answers in several pieces.
  private var pieces: [UInt32: [UInt8]] = [:]
  private var sender: PartSender?
  /// When something came of the server, or it took something.
  private var lastMoved = ContinuousClock.now
  private var failure: RemoteFailure?
  private var keeping: [Task<Void, Never>] = []

  private init(_ transport: any SyncTransport, answerTime: Duration) {
    (self.transport, self.answerTime) = (transport, answerTime)
  }

  /// Connects, and waits until the server has let the program in.
  ///
  /// - Parameters:
  ///   - answerTime: the server counts as gone if nothing moves for so long while an answer is waited for.
  ///   - news: called with the paths of followed stores that have news.
  ///   - ended: called once the connection has ended.
  static func open(
    _ connector: any SyncConnector, _ hello: Hello, answerTime: Duration,
    news: @escaping @Sendable ([StorePath]) async -> Void, ended: @escaping @Sendable (RemoteLink) async -> Void
  ) async throws(RemoteFailure) -> RemoteLink {
    let transport: any SyncTransport
    do throws(TransportError) { transport = try await connector.connect() } catch { throw RemoteFailure(error) }
    let link = RemoteLink(transport, answerTime: answerTime)
    let timer = Task {
      do { try await Task.sleep(for: answerTime) } catch { return }
      await transport.close()
    }
    defer { timer.cancel() }
    do throws(RemoteFailure) { try await link.begin(hello) } catch {
      await transport.close()
      throw error
    }
    Task {
      await link.read(news)
      await ended(link)
    }
    return link
  }

  private func begin(_ hello: Hello) async throws(RemoteFailure) {
    await deliver(try decoded { () throws(FrameError) in try encoder.parts(of: HandlerMessage.hello(hello)) })
    guard let frame = try await frame() else { throw RemoteFailure("The connection ended before the server answered.") }
    if frame.type != HandlerMessage.begun { throw RemoteFailure(frame, isAtTheDoor: true) }
    do throws(FrameError) {
      let (features, seconds) = try HandlerMessage.decoded(frame, as: HandlerMessage.begun) { body throws(CodingError) in
        _ = try body.small(UInt16.self)
        return (SyncFeatures(rawValue: try body.number()), try body.number())
      }
      encoder.compresses = features.contains(.compression)
      keep(Int64(clamping: max(1, min(seconds, 3_600))))
    } catch { throw RemoteFailure(error.description) }
  }

  // MARK: calls

  /// Asks the server, and waits for its answer or the connection's end.
  func ask(_ call: HandlerCall) async -> Answer {
    if let failure { return .failure(failure) }
    lastNumber &+= 1
    let number = lastNumber
    let parts: [[UInt8]]
    do throws(FrameError) { parts = try encoder.parts(of: call.frame(number: number)) } catch {
      // It can never be sent, on no connection.
      return .success(.failure(ServerStoreError(.writesRefused, "What the handler wrote is too much for one message: \(error.detail)")))
    }
    if waiting.isEmpty { lastMoved = .now }
    return await withCheckedContinuation { continuation in
      waiting[number] = continuation
      Task { await deliver(parts) }
    }
  }

  func close() async { await end(RemoteFailure("The connection was closed.")) }

  // MARK: the connection

  private func deliver(_ parts: [[UInt8]]) async {
    let sender = sender ?? PartSender(transport) { [weak self] in await self?.noteMove() }
    self.sender = sender
    await sender.send(parts)
  }

  private func noteMove() { lastMoved = .now }

  private func read(_ news: @Sendable ([StorePath]) async -> Void) async {
    do throws(RemoteFailure) {
      while let frame = try await frame() {
        switch frame.type {
        case HandlerMessage.answer:
          try take(try decoded { () throws(FrameError) in try HandlerAnswer(frame) }, frame.session)
        case HandlerMessage.news:
          await news(
            try decoded { () throws(FrameError) in
              try HandlerMessage.decoded(frame, as: HandlerMessage.news) { body throws(CodingError) in try body.paths() }
            })
        case SyncFrame.optionalTypes...: continue
        default: throw RemoteFailure(frame, isAtTheDoor: false)
        }
      }
      throw RemoteFailure("The connection to the server was lost.")
    } catch { await end(error) }
  }

  private func take(_ answer: HandlerAnswer, _ number: UInt32) throws(RemoteFailure) {
    switch answer {
    case .piece(let piece):
      guard waiting[number] != nil else { throw RemoteFailure("The server answers what nobody has asked.") }
      pieces[number, default: []] += piece
    case .done(let last):
      let content = pieces.removeValue(forKey: number).map { $0 + last } ?? last
      waiting.removeValue(forKey: number)?.resume(returning: .success(.success(content)))
    case .failed(let error):
      pieces[number] = nil
      waiting.removeValue(forKey: number)?.resume(returning: .success(.failure(error)))
    }
  }

  /// The next message; nil at the connection's end.
  private func frame() async throws(RemoteFailure) -> SyncFrame? {
    while true {
      let part: [UInt8]?
      do throws(TransportError) { part = try await transport.receive() } catch { throw RemoteFailure(error) }
      guard let part else { return nil }
      lastMoved = .now
      if let frame = try decoded({ () throws(FrameError) in try decoder.take(part) }) { return frame }
    }
  }

  private func decoded<R>(_ body: () throws(FrameError) -> R) throws(RemoteFailure) -> R {
    do throws(FrameError) { return try body() } catch { throw RemoteFailure(error.description) }
  }

  /// Lets the server know that the program is there, and looks whether the server is.
  private func keep(_ seconds: Int64) {
    let pinging = Task { [weak self] in
      while true {
        do { try await Task.sleep(for: .seconds(seconds)) } catch { return }
        guard let self, case .success = await self.ask(.heads([])) else { return }
      }
    }
    let watching = Task { [weak self, answerTime] in
      var left = answerTime
      while true {
        do { try await Task.sleep(for: left) } catch { return }
        guard let self else { return }
        left = await self.patienceLeft
        if left <= .zero { return await self.end(RemoteFailure("The server does not answer.")) }
      }
    }
    keeping = [pinging, watching]
  }

  private var patienceLeft: Duration { waiting.isEmpty ? answerTime : lastMoved + answerTime - .now }

  private func end(_ reason: RemoteFailure) async {
    if failure != nil { return }
    failure = reason
    for task in keeping { task.cancel() }
    for continuation in waiting.values { continuation.resume(returning: .failure(reason)) }
    (waiting, pieces) = ([:], [:])
    await transport.close()
  }
}
