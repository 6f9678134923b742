import SyncModel
import SyncProtocol

/// A server's side of a connection to a program with handlers of events: performs its calls on the host's stores, several at a time, and
/// tells it of news of the stores that it follows.
///
/// Such a program sees and changes all stores. So its user has to be an administrator, or to have the right to manage the store with the
/// handlers' names by a grant of the server (`DirectoryAccess`); what another issuer says does not count.
actor HandlerConnection {
  /// Calls that are under way at a time, and bytes of them and of their answers. With more, nothing is read.
  private static let (callsMax, callBytesMax) = (64, 32 << 20)

  private let host: SyncHost
  private let transport: any SyncTransport
  private var decoder: FrameDecoder
  private var encoder = FrameEncoder(FrameLimits.ofClient)
  private var identity: SyncIdentity?
  private var isVerifying = false
  private var isOver = false
  /// How often users, rights or the token may have changed.
  private var changes = 0
  /// The check of rights after one that could not determine everything.
  private var laterCheck: Task<Void, Never>?
  private var calls = 0
  private var callBytes = 0
  /// The calls that the stores are at, while others' answers may be on their way.
  private var performing = 0
  /// Who reads, while too much is under way.
  private var reader: CheckedContinuation<Void, Never>?
  private var sender: PartSender?
  private var ending: Task<Void, Never>?
  /// The stores whose news the program hears of, and how often it follows each.
  private var followed: [StorePath: Int] = [:]
  private var claimed: Set<StorePath> = []
  private var untold: Set<StorePath> = []
  private var isTelling = false
  private var listening: Task<Void, Never>?
  /// When something came of the program, or it took something.
  private var lastMoved = ContinuousClock.now

  init(_ host: SyncHost, _ transport: any SyncTransport) {
    (self.host, self.transport) = (host, transport)
    var first = host.configuration.limits
    first.messageBytes = min(first.messageBytes, first.partBytes)
    decoder = FrameDecoder(first)
    decoder.inflates = false
  }

  /// Runs until the connection has ended, from its first part on.
  func run(_ first: [UInt8]) async {
    let watching = Task { await watchSilence() }
    var part: [UInt8]? = first
    while let received = part, !isOver {
      lastMoved = .now
      host.counts.received(received)
      do throws(FrameError) {
        if let frame = try decoder.take(received) { try await take(frame) }
      } catch { refuse(SyncRefusal(error.code, error.detail)) }
      while !isOver, calls >= HandlerConnection.callsMax || callBytes > HandlerConnection.callBytesMax {
        await withCheckedContinuation { reader = $0 }
      }
      do throws(TransportError) { part = try await transport.receive() } catch { part = nil }
    }
    isOver = true
    for task in [watching, listening, laterCheck] { task?.cancel() }
    await ending?.value
    await sender?.finish()
    await transport.close()
    // Nothing is followed any more once it is over, so each is let go once.
    while let (path, count) = followed.first {
      followed[path] = nil
      for _ in 0..<count { await host.stores.unfollow(path) }
    }
  }

  // MARK: who it is

  private func take(_ frame: SyncFrame) async throws(FrameError) {
    if identity != nil { return begin(try HandlerCall(frame), number: frame.session, bytes: frame.body.count) }
    let hello = try HandlerMessage.decoded(frame, as: HandlerMessage.begin) { body throws(CodingError) in try body.hello() }
    guard hello.versions.contains(HandlerMessage.version) else {
      throw FrameError(.unknownVersion, "Version \(HandlerMessage.version) of it is spoken here.")
    }
    let identity: SyncIdentity
    let before = changes
    // That takes the server's time, not the program's.
    isVerifying = true
    defer {
      isVerifying = false
      lastMoved = .now
    }
    do throws(SyncRefusal) {
      identity = try await host.access.identity(ofToken: hello.token, at: host.clock())
      if let refusal = try await refusal(of: identity) { return refuse(refusal) }
    } catch { return refuse(error) }
    if isOver { return }
    self.identity = identity
    // What was read for it may be what was before.
    if changes != before { await recheck() }
    // Before the first store is followed, so that no news is missed.
    let news = await host.stores.wakeups()
    if isOver { return }
    listening = Task { for await path in news { hear(path) } }
    decoder.limits = HandlerMessage.limits
    decoder.inflates = hello.features.contains(.compression)
    encoder.compresses = decoder.inflates
    host.noteHandlers(of: identity, hello.device)
    var body = ByteWriter()
    body.put(UInt64(HandlerMessage.version))
    body.put((decoder.inflates ? SyncFeatures.compression : []).rawValue)
    body.put(host.configuration.pingSeconds)
    await send(SyncFrame(type: HandlerMessage.begun, body: body.bytes))
  }

  /// Why a user may not run handlers; nil if he may.
  private func refusal(of identity: SyncIdentity) async throws(SyncRefusal) -> SyncRefusal? {
    if let refusal = try await host.access.refusal(of: identity) { return refusal }
    if identity.isAdministrator { return nil }
    var granted = identity
    granted.claims = [:]
    if !identity.isOutside, try await host.access.grant(to: granted, on: HandlerNames.path).rights.contains(.manage) { return nil }
    return SyncRefusal(
      .readDenied,
      """
      Handlers of events are for administrators, and for users with the right to manage '\(HandlerNames.path)': '\(identity.user)' is \
      neither.
      """)
  }

  /// Checks again whether the user may go on. What cannot be determined stays as it is, and is checked again later.
  func recheck() async {
    changes += 1
    guard let identity, !isOver else { return }
    do throws(SyncRefusal) { if let refusal = try await refusal(of: identity) { refuse(refusal) } } catch {
      laterCheck?.cancel()
      let delay = host.configuration.recheckTime
      laterCheck = Task { [weak self] in
        do { try await Task.sleep(for: .milliseconds(delay)) } catch { return }
        await self?.recheck()
      }
    }
  }

  /// Ends the connection if its user is meant.
  func expel(_ refusal: SyncRefusal, if isMeant: @Sendable (SyncIdentity) -> Bool) {
    changes += 1
    if let identity, isMeant(identity) { refuse(refusal) }
  }

  // MARK: calls

  private func begin(_ call: HandlerCall, number: UInt32, bytes: Int) {
    if let expires = identity?.expires, expires <= host.clock() { return refuse(SyncRefusal(.tokenExpired)) }
    calls += 1
    callBytes += bytes
    performing += 1
    if case .claim(let path, _, _, _, _) = call { claimed.insert(path) }
    Task {
      let answer = await self.answer(to: call)
      performing -= 1
      lastMoved = .now
      let size = answer.size
      callBytes += size
      for frame in answer.frames(number: number) { await send(frame) }
      calls -= 1
      callBytes -= bytes + size
      wakeReader()
    }
  }

  private func answer(to call: HandlerCall) async -> HandlerAnswer {
    switch call {
    case .follow(let paths):
      for path in paths where !isOver {
        followed[path, default: 0] += 1
        await host.stores.follow(path)
      }
      return .done([])
    case .unfollow(let paths):
      for path in paths where !isOver {
        guard let count = followed[path] else { continue }
        followed[path] = count > 1 ? count - 1 : nil
        await host.stores.unfollow(path)
      }
      return .done([])
    default:
      do throws(ServerStoreError) { return .done(try await call.perform(on: host.stores, at: host.clock())) } catch {
        return .failed(error)
      }
    }
  }

  private func wakeReader() {
    reader?.resume()
    reader = nil
  }

  // MARK: news

  private func hear(_ path: StorePath) {
    guard followed[path] != nil || claimed.contains(path) else { return }
    untold.insert(path)
    if isTelling { return }
    isTelling = true
    Task { await tell() }
  }

  /// Tells all that there is at once, so that a slow program falls behind by one message.
  private func tell() async {
    while !untold.isEmpty, !isOver {
      var body = ByteWriter()
      body.put(untold.sorted())
      untold = []
      await send(SyncFrame(type: HandlerMessage.news, body: body.bytes))
    }
    isTelling = false
  }

  // MARK: sending, and the end

  /// Returns once the connection has taken the message.
  private func send(_ frame: SyncFrame) async {
    // Nothing that is sent here is too long: what calls return goes in pieces.
    guard let parts = try? encoder.parts(of: frame) else { return await transport.close() }
    host.counts.sent(parts)
    let sender = sender ?? PartSender(transport) { [weak self] in await self?.noteMove() }
    self.sender = sender
    await sender.send(parts)
  }

  private func noteMove() { lastMoved = .now }

  /// Ends the connection, with a message that says why.
  private func refuse(_ refusal: SyncRefusal) {
    if isOver { return }
    host.noteEnd(refusal)
    end(with: .error(session: 0, code: refusal.code, retryAfterSeconds: refusal.retryAfterSeconds, text: refusal.text))
  }

  /// Tells the program that the server ends.
  func leave(seconds: UInt64) { end(with: .goAway(seconds: seconds)) }

  /// Returns at once: nobody waits for a program that does not read.
  private func end(with message: ServerMessage) {
    if isOver { return }
    isOver = true
    wakeReader()
    let (time, transport) = (host.configuration.farewellTime, transport)
    ending = Task {
      let farewell = Task {
        do { try await Task.sleep(for: .milliseconds(time)) } catch { return }
        await transport.close()
      }
      await send(message.frame)
      farewell.cancel()
      await transport.close()
    }
  }

  /// Ends a connection on which nothing has moved for three times as long as programs are to be silent at most, or no greeting came.
  private func watchSilence() async {
    let begun = ContinuousClock.now
    while !Task.isCancelled, !isOver {
      let isGreeting = identity == nil
      let limit = isGreeting ? Duration.milliseconds(host.configuration.greetingTime) : .seconds(3 * host.configuration.pingSeconds)
      let left = (isGreeting ? begun : lastMoved) + limit - .now
      if left <= .zero, performing == 0, !isVerifying { return refuse(SyncRefusal(.outOfOrder, "Nothing has come for too long.")) }
      do { try await Task.sleep(for: max(left, .milliseconds(100))) } catch { return }
    }
  }
}
