import SyncClient
import SyncEvents
import SyncModel
import SyncProtocol
import SyncServer
import Synchronization
import Testing
import VivariumTestSupport

/// Who may run handlers over a connection, and for how long.
@Suite(.timeLimit(.minutes(5))) struct RemoteAccessTests {
  private func remote(_ gate: Gate, _ token: String) -> RemoteEventStores { remote(gate, FixedToken(token)) }

  private func remote(_ gate: Gate, _ credentials: any SyncCredentials) -> RemoteEventStores {
    remote(SyncHost(stores: MemoryServerStore(), access: gate, clock: { gate.now }), credentials)
  }

  private func remote(_ host: SyncHost, _ credentials: any SyncCredentials) -> RemoteEventStores {
    var options = RemoteEventStores.Options()
    (options.firstDelay, options.longestDelay) = (.milliseconds(1), .milliseconds(4))
    return RemoteEventStores(HostConnector(host: host), credentials: credentials, options: options)
  }

  private func expectRefused(_ remote: RemoteEventStores, _ part: String) async {
    let error = await #expect(throws: ServerStoreError.self) { _ = try await remote.stores() }
    #expect(error?.code == .unavailable)
    #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
  }

  @Test func anAdministratorMay() async throws {
    let gate = Gate(SyncIdentity(user: "root", isAdministrator: true))
    #expect(try await remote(gate, "root").stores().isEmpty)
  }

  @Test func whoWasGrantedTheHandlersMay() async throws {
    let gate = Gate(SyncIdentity(user: "billing"))
    gate.grants.withLock { $0["billing"] = [.manage] }
    #expect(try await remote(gate, "billing").stores().isEmpty)
  }

  @Test func anybodyElseMayNotAndIsToldWhy() async {
    let gate = Gate(SyncIdentity(user: "ann"), SyncIdentity(user: "bob"))
    gate.grants.withLock { $0["bob"] = [.read, .write] }
    await expectRefused(remote(gate, "ann"), "'/__server/handlers'")
    await expectRefused(remote(gate, "bob"), "'bob'")
  }

  @Test func whatATokenClaimsIsNoRightToAllStores() async {
    let gate = Gate(SyncIdentity(user: "ann", claims: ["/__server/handlers": [.read, .write, .manage]]))
    await expectRefused(remote(gate, "ann"), "'ann'")
  }

  @Test func whomAnotherIssuerNamesIsNotWhoWasGrantedIt() async {
    var identity = SyncIdentity(user: "billing")
    identity.isOutside = true
    let gate = Gate(identity)
    gate.grants.withLock { $0["billing"] = [.manage] }
    await expectRefused(remote(gate, "billing"), "'billing'")
  }

  @Test func aRightThatCannotBeReadNowIsLookedAtAgain() async throws {
    let gate = Gate(SyncIdentity(user: "billing"))
    gate.grants.withLock { $0["billing"] = [.manage] }
    var configuration = ServerConnectionConfiguration()
    configuration.recheckTime = 5
    let host = SyncHost(stores: MemoryServerStore(), access: gate, configuration: configuration, clock: { gate.now })
    let remote = remote(host, FixedToken("billing"))
    _ = try await remote.stores()
    gate.isAway.store(true, ordering: .relaxed)
    await host.recheck()
    // Its right is gone, and nobody says so again.
    gate.grants.withLock { $0 = [:] }
    gate.isAway.store(false, ordering: .relaxed)
    while (try? await remote.stores()) != nil {}
    await expectRefused(remote, "'billing'")
  }

  @Test func aTokenThatNobodyKnowsIsRefused() async {
    await expectRefused(remote(Gate(), "nobody"), SyncErrorCode.tokenInvalid.message)
  }

  @Test func whoIsNotLoggedInAsksNobody() async {
    struct None: SyncCredentials {
      func token(isNew: Bool) async -> String? { nil }
    }
    await expectRefused(remote(Gate(), None()), "nobody is logged in")
  }

  @Test func aTokenIsRenewedWhenItHasExpired() async throws {
    let gate = Gate(
      SyncIdentity(user: "old", expires: 2_000, isAdministrator: true), SyncIdentity(user: "new", expires: 9_000, isAdministrator: true))
    let login = Login(["old", "new"])
    let remote = remote(gate, login)
    #expect(try await remote.stores().isEmpty)
    #expect(login.asked == [false])
    gate.time.store(3_000, ordering: .relaxed)
    #expect(try await remote.stores().isEmpty)
    #expect(login.asked.contains(true))
  }

  @Test func whoIsSuspendedIsSentAway() async throws {
    let gate = Gate(SyncIdentity(user: "root", isAdministrator: true))
    let host = SyncHost(stores: MemoryServerStore(), access: gate, clock: { gate.now })
    let remote = remote(host, FixedToken("root"))
    let news = await remote.wakeups()
    _ = try await remote.stores()
    gate.suspended.withLock { _ = $0.insert("root") }
    await host.recheck()
    await expectRefused(remote, SyncErrorCode.userSuspended.message)
    gate.suspended.withLock { $0 = [] }
    #expect(try await remote.stores().isEmpty)
    _ = news
  }

  @Test func aRightThatIsTakenAwayEndsTheConnection() async throws {
    let gate = Gate(SyncIdentity(user: "billing"))
    gate.grants.withLock { $0["billing"] = [.manage] }
    let host = SyncHost(stores: MemoryServerStore(), access: gate, clock: { gate.now })
    let remote = remote(host, FixedToken("billing"))
    _ = try await remote.stores()
    gate.grants.withLock { $0 = [:] }
    await host.recheck()
    await expectRefused(remote, "'billing'")
  }

  @Test func whoIsExpelledIsSentAway() async throws {
    let gate = Gate(SyncIdentity(user: "root", isAdministrator: true))
    let host = SyncHost(stores: MemoryServerStore(), access: gate, clock: { gate.now })
    let remote = remote(host, FixedToken("root"))
    _ = try await remote.stores()
    #expect(await host.connectionCount == 1)
    gate.identities.withLock { $0 = [:] }
    await host.expel("root", SyncRefusal(.userSuspended))
    // It is told of its end, or not let in again.
    await expectRefused(remote, "The server")
    await expectRefused(remote, SyncErrorCode.tokenInvalid.message)
  }
}

/// Users by token, their rights to run handlers, and a clock.
private final class Gate: SyncAccess {
  let identities: Mutex<[String: SyncIdentity]>
  let grants = Mutex<[String: Bound.Rights]>([:])
  let suspended = Mutex<Set<String>>([])
  let time = Atomic<Int64>(1_000)
  /// Whether rights cannot be read now.
  let isAway = Atomic(false)

  init(_ identities: SyncIdentity...) {
    self.identities = Mutex(Dictionary(uniqueKeysWithValues: identities.map { ($0.user, $0) }))
  }

  var now: Int64 { time.load(ordering: .relaxed) }

  func identity(ofToken token: String, at time: Int64) async throws(SyncRefusal) -> SyncIdentity {
    guard let identity = identities.withLock({ $0[token] }) else { throw SyncRefusal(.tokenInvalid) }
    if let expires = identity.expires, expires <= time { throw SyncRefusal(.tokenExpired) }
    return identity
  }

  func grant(to identity: SyncIdentity, on path: StorePath) async throws(SyncRefusal) -> StoreGrant {
    if isAway.load(ordering: .relaxed) { throw SyncRefusal(.storageUnavailable) }
    if identity.isAdministrator { return .all }
    guard path.text == "/__server/handlers" else { return .none }
    return StoreGrant((grants.withLock { $0[identity.user] } ?? []).union(identity.claims[path.text] ?? []))
  }

  func refusal(of identity: SyncIdentity) async throws(SyncRefusal) -> SyncRefusal? {
    suspended.withLock { $0.contains(identity.user) } ? SyncRefusal(.userSuspended) : nil
  }
}

/// A log-in whose token is renewed.
private final class Login: SyncCredentials {
  private let tokens: Mutex<[String]>
  private let calls = Mutex<[Bool]>([])

  init(_ tokens: [String]) { self.tokens = Mutex(tokens) }

  var asked: [Bool] { calls.withLock { $0 } }

  func token(isNew: Bool) async -> String? {
    calls.withLock { $0.append(isNew) }
    return tokens.withLock { tokens in
      if isNew, tokens.count > 1 { tokens.removeFirst() }
      return tokens.first
    }
  }
}
