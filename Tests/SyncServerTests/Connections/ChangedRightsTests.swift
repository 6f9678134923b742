import SyncModel
import SyncProtocol
import SyncServer
import Testing
import VivariumTestSupport

@Suite("Rights that change while they are being asked for", .timeLimit(.minutes(15)))
struct ChangedRightsTests {
  private let access = HeldAccess()

  private func host(recheckTime: Int64 = 1_000) -> SyncHost {
    var configuration = ServerConnectionConfiguration()
    configuration.recheckTime = recheckTime
    return SyncHost(stores: MemoryServerStore(), access: access, configuration: configuration, clock: { 1_000_000 })
  }

  /// Waits until the server ends the client's session or connection for a reason.
  private func isEnded(_ client: RawClient, _ reason: SyncErrorCode) async throws -> Bool {
    let messages = try await client.messages { if case .error(_, reason, _, _) = $0 { true } else { false } }
    return if case .error(_, reason, _, _)? = messages.last { true } else { false }
  }

  /// Connects, and begins to bind a store.
  private func binding(_ host: SyncHost, _ token: String) async throws -> RawClient {
    let client = RawClient(host)
    try await client.hello(token)
    try await client.bind(1)
    return client
  }

  @Test("count as they are at last, in whatever order the answers come")
  func order() async throws {
    let host = host()
    let (ann, _) = try await RawClient.bound(host, as: "ann", 1)
    let held = await access.holdNext(.grant)
    let first = Task { await host.recheck() }
    await held.begun.wait()
    await access.change { $0.rights = [.read] }
    let second = Task { await host.recheck() }
    // Long enough for it to end, if it did not wait for the first.
    for _ in 0..<1_000 { await Task.yield() }
    held.goesOn.fire()
    await first.value
    await second.value
    try await ann.send(.upload(session: 1, [changeset(1, 1)]))
    let messages = try await ann.messages { if case .changes = $0 { true } else { false } }
    guard case .changes(1, let entries)? = messages.last, case .refusal(1, .writeDenied, _, _)? = entries.first?.body else {
      Issue.record("the right that was withdrawn still counts: \(messages)")
      return
    }
  }

  @Test("count for a store that was being bound")
  func binding() async throws {
    let host = host()
    let held = await access.holdNext(.grant)
    let ann = try await binding(host, "ann")
    await held.begun.wait()
    await access.change { $0.rights = [] }
    await host.recheck()
    held.goesOn.fire()
    #expect(try await isEnded(ann, .unknownStore))
  }

  @Test("count for a user who was being let in", arguments: [false, true])
  func lettingIn(isExpelled: Bool) async throws {
    let host = host()
    let held = await access.holdNext(.identity)
    let ann = RawClient(host)
    try await ann.hello("ann")
    await held.begun.wait()
    await access.change { $0.refusal = SyncRefusal(.userSuspended) }
    if isExpelled { await host.expel("ann", SyncRefusal(.userSuspended)) } else { await host.recheck() }
    held.goesOn.fire()
    #expect(try await isEnded(ann, .userSuspended))
  }

  @Test("count once they can be determined")
  func afterFailures() async throws {
    let host = host(recheckTime: 1)
    let (ann, _) = try await RawClient.bound(host, as: "ann", 1)
    await access.change { state in
      state.refusal = SyncRefusal(.userSuspended)
      state.failures = 3
    }
    await host.recheck()
    #expect(try await isEnded(ann, .userSuspended))
  }

  @Test("count in the other stores where those of one cannot be determined")
  func otherStores() async throws {
    // No second check comes to help.
    let host = host(recheckTime: 86_400_000)
    let (ann, _) = try await RawClient.bound(host, as: "ann", 1)
    for session in 2...6 as ClosedRange<UInt32> {
      try await ann.bind(1, session: session, path: "/shared/\(session)")
      _ = try await ann.messages { if case .bound(session, _) = $0 { true } else { false } }
    }
    await access.change { state in
      state.rights = []
      state.unknownPath = "/shared/3"
    }
    await host.recheck()
    var ended: Set<UInt32> = []
    while ended.count < 5, let message = try await ann.next() {
      if case .error(let session, .unknownStore, _, _) = message { ended.insert(session) }
    }
    #expect(ended == [1, 2, 4, 5, 6])
  }

  @Test("are those of the token that a user sends in place of another, also for a store that was being bound", arguments: [false, true])
  func renewal(isBinding: Bool) async throws {
    let host = host()
    let held = await access.holdNext(.grant)
    let ann = try await binding(host, "ann.1")
    await held.begun.wait()
    if !isBinding {
      held.goesOn.fire()
      _ = try await ann.messages { if case .bound = $0 { true } else { false } }
    }
    await access.change { $0.rightsOfTokens["ann.2"] = [] }
    try await ann.send(.authenticate(token: "ann.2"))
    if isBinding {
      _ = try await ann.messages { if case .authenticated = $0 { true } else { false } }
      held.goesOn.fire()
    }
    #expect(try await isEnded(ann, .unknownStore))
  }

  @Test("are no longer those of the token before, even if they were asked for already")
  func tokenBefore() async throws {
    let host = host()
    let (ann, _) = try await RawClient.bound(host, as: "ann.1", 1)
    await access.change { $0.rightsOfTokens["ann.1"] = [] }
    let held = await access.holdNext(.grant)
    let check = Task { await host.recheck() }
    await held.begun.wait()
    try await ann.send(.authenticate(token: "ann.2"))
    _ = try await ann.messages { if case .authenticated = $0 { true } else { false } }
    held.goesOn.fire()
    await check.value
    try await ann.send(.upload(session: 1, [changeset(1, 1)]))
    let messages = try await ann.messages {
      switch $0 {
      case .acknowledged, .error: true
      default: false
      }
    }
    guard case .acknowledged(1, 1)? = messages.last else {
      Issue.record("the right of the token before still counts: \(messages)")
      return
    }
  }
}

/// Gives answers late that were right when they were asked for.
private actor HeldAccess: SyncAccess {
  enum Call { case identity, grant }

  struct State {
    var rights: Bound.Rights = [.read, .write]
    /// Those that a token has instead.
    var rightsOfTokens: [String: Bound.Rights] = [:]
    var refusal: SyncRefusal?
    /// How many of the next questions whether a user may continue fail.
    var failures = 0
    /// The path of the store for which nobody can say who may do what.
    var unknownPath: String?
  }

  /// One answer that waits.
  struct Held {
    let begun = AsyncSignal()
    let goesOn = AsyncSignal()
  }

  private var state = State()
  private var held: (call: Call, Held)?

  func change(_ body: (inout State) -> Void) { body(&state) }

  func holdNext(_ call: Call) -> Held {
    let new = Held()
    held = (call, new)
    return new
  }

  private func wait(_ call: Call) async {
    guard let (heldCall, one) = held, heldCall == call else { return }
    held = nil
    one.begun.fire()
    await one.goesOn.wait()
  }

  func identity(ofToken token: String, at time: Int64) async throws(SyncRefusal) -> SyncIdentity {
    if let refusal = state.refusal { throw refusal }
    await wait(.identity)
    // "ann.2" is another token of "ann".
    return SyncIdentity(user: String(token.prefix(while: { $0 != "." })), login: token)
  }

  func grant(to identity: SyncIdentity, on path: StorePath) async throws(SyncRefusal) -> StoreGrant {
    if path.text == state.unknownPath { throw SyncRefusal(.storageUnavailable) }
    let rights = identity.login.flatMap { state.rightsOfTokens[$0] } ?? state.rights
    await wait(.grant)
    return StoreGrant(rights, mayCreate: true)
  }

  func refusal(of identity: SyncIdentity) async throws(SyncRefusal) -> SyncRefusal? {
    if state.failures > 0 {
      state.failures -= 1
      throw SyncRefusal(.storageUnavailable)
    }
    return state.refusal
  }
}
