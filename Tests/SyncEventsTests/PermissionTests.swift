import Foundation
import StorageMemory
import StoreMessages
import SyncClient
import SyncEvents
import SyncManagement
import SyncProtocol
import SyncServer
import Testing
import Vivarium

/// Tokens are names of users; rights are those of a directory.
private struct NamedAccess: SyncAccess {
  let directory: any UserDirectory

  func identity(ofToken token: String, at time: Int64) async throws(SyncRefusal) -> SyncIdentity { SyncIdentity(user: token) }

  func grant(to identity: SyncIdentity, on path: StorePath) async throws(SyncRefusal) -> StoreGrant {
    do throws(ServerStoreError) { return try await directory.grant(to: identity, on: path) } catch { throw SyncRefusal(error) }
  }
}

/// A server that deals with permissions, and its users.
@MainActor private struct Office {
  let directory = MemoryUserDirectory()
  let host: SyncHost
  let running: RunningEvents

  init() async throws {
    let stores = MemoryServerStore()
    let host = SyncHost(stores: stores, access: NamedAccess(directory: directory))
    self.host = host
    for name in ["ann", "bob", "cleo"] { try await directory.update(name) { _ in UserRecord(name: name) } }
    let events = ServerEvents(stores)
    var options = ServerEvents.PermissionOptions(hash: { "hash of \($0)" })
    options.changed = { await host.recheck() }
    try await events.handlePermissions(of: directory, options)
    running = RunningEvents(events)
  }

  func management(_ user: String) throws -> Store {
    try Store(
      ManagementStore.configuration(.memory(UUID().uuidString), user: FixedToken(user), connector: HostConnector(host: host)))
  }

  func device(_ user: String, _ path: String) throws -> Store {
    var configuration = Store.Configuration.memory(UUID().uuidString)
    configuration.models = [Customer.self]
    configuration.sync = SyncConfiguration(user: FixedToken(user), path: path, connector: HostConnector(host: host))
    return try Store(configuration)
  }

  /// Drops a message into a user's management store, and returns when it has its answer.
  func ask<M: Message>(_ user: String, _ message: M) async throws -> (status: MessageStatus, text: String, Store) {
    let store = try management(user)
    try store.write { try store.add(message) }
    let answers = AsyncStream<MessageStatus> { continuation in
      let token = message.observe { _ in if message.status != .notProcessed { continuation.yield(message.status) } }
      continuation.onTermination = { _ in token.stop() }
    }
    for await status in answers { return (status, message.statusMessage ?? "", store) }
    return (message.status, "", store)
  }
}

@MainActor @Suite(.timeLimit(.minutes(15))) struct PermissionTests {
  private func isSuspended(_ store: Store) async -> SyncError? {
    guard let sync = store.sync else { return nil }
    for await notice in await sync.notices() { if case .state(.suspended(let error)) = notice { return error } }
    return nil
  }

  @Test func whoOwnsAStoreGivesRightsOnItAndIsTold() async throws {
    let office = try await Office()
    let tasks = try office.device("ann", "/~/tasks")
    try tasks.write { _ = try tasks.create(Customer.self, value: ["id": "1", "name": "tea"]) }
    try await tasks.sync?.uploaded()
    let change = SyncPermissionChange(storeURL: "wss://sync.example.org/~/tasks", userID: "bob", mayRead: true, mayWrite: true)
    let answer = try await office.ask("ann", change)
    #expect(answer.status == .success && answer.text == "'bob' has rw at /ann/tasks.")
    let other = try office.device("bob", "/ann/tasks")
    try await other.received()
    #expect(other.objects(Customer.self).map(\.name) == ["tea"])

    // Writing is taken away: what is there may be read.
    _ = try await office.ask("ann", SyncPermissionChange(storeURL: "/~/tasks", userID: "bob", mayWrite: false))
    try other.write { other.objects(Customer.self).first?.name = "coffee" }
    try await other.sync?.uploaded()
    try await other.received()
    #expect(other.objects(Customer.self).map(\.name) == ["tea"])

    // So is reading, and the session ends.
    _ = try await office.ask("ann", SyncPermissionChange(storeURL: "/~/tasks", userID: "bob", mayRead: false))
    let error = await isSuspended(other)
    #expect(error?.code == .readDenied || error?.code == .unknownStore)
    #expect(other.objects(Customer.self).map(\.name) == ["tea"])
    await office.running.end()
  }

  @Test func whoMayNoLongerReadMayNoLongerWriteAndNobodyWritesUnread() async throws {
    let office = try await Office()
    try await office.directory.put(GrantRecord(user: "bob", path: "/ann/tasks", mayRead: true, mayWrite: true, mayManage: true))
    let both = try await office.ask("ann", SyncPermissionChange(storeURL: "/~/tasks", userID: "bob", mayRead: false, mayWrite: true))
    #expect(both.status == .error && both.text.contains("Who writes also reads."), "\(both.text)")
    #expect(try await office.directory.grants().map(\.rights.short) == ["rwm"])
    let unread = try await office.ask("ann", SyncPermissionChange(storeURL: "/~/tasks", userID: "bob", mayRead: false))
    #expect(unread.text == "'bob' has m at /ann/tasks.")
    let written = try await office.ask("ann", SyncPermissionChange(storeURL: "/~/tasks", userID: "bob", mayWrite: true))
    #expect(written.text == "'bob' has rwm at /ann/tasks.")
    // What writing included stays without it.
    let read = try await office.ask("ann", SyncPermissionChange(storeURL: "/~/tasks", userID: "bob", mayWrite: false))
    #expect(read.text == "'bob' has rm at /ann/tasks.")
    await office.running.end()
  }

  @Test(arguments: [
    ("bob", "/ann/tasks", "cleo", "may not say"), ("ann", "/~/tasks", "nobody", "no user"), ("ann", "tasks", "bob", "no path"),
    ("ann", "/~/__management", "bob", "Nobody gives"), ("ann", "/shared/shop", "bob", "may not say"), ("ann", "/~/tasks", "a/b", "no name"),
  ])
  func whatMayNotBeIsRefusedWithAReason(user: String, path: String, whom: String, reason: String) async throws {
    let office = try await Office()
    let answer = try await office.ask(user, SyncPermissionChange(storeURL: path, userID: whom, mayRead: true))
    #expect(answer.status == .error && answer.text.contains(reason), "\(answer.text)")
    #expect(try await office.directory.grants().isEmpty)
    await office.running.end()
  }

  @Test func whoMayManageAStoreGivesRightsAndNobodyGivesMoreThanWhatIsBelow() async throws {
    let office = try await Office()
    try await office.directory.put(GrantRecord(user: "bob", path: "/shared/a/*", mayRead: true, mayManage: true))
    let answer = try await office.ask("bob", SyncPermissionChange(storeURL: "/shared/a/b", userID: "cleo", mayRead: true))
    #expect(answer.status == .success)
    let more = try await office.ask("bob", SyncPermissionChange(storeURL: "/shared/*", userID: "cleo", mayRead: true))
    #expect(more.status == .error)
    await office.running.end()
  }

  @Test func anOfferIsGoodForWhoHasItsTokenUntilItEnds() async throws {
    let office = try await Office()
    let offer = SyncPermissionOffer(storeURL: "/~/tasks", mayWrite: true)
    let made = try await office.ask("ann", offer)
    let token = try #require(offer.token)
    #expect(made.status == .success)
    let response = SyncPermissionOfferResponse(token: token)
    let taken = try await office.ask("bob", response)
    #expect(taken.status == .success && response.storeURL == "/ann/tasks")
    let path = try #require(StorePath("/ann/tasks"))
    let rights = try await office.directory.grant(to: SyncIdentity(user: "bob"), on: path).rights
    #expect(rights == [.read, .write])
    #expect(try await office.ask("cleo", SyncPermissionOfferResponse(token: token + "x")).status == .error)

    let ended = SyncPermissionOffer(storeURL: "/~/tasks", expiresAt: Date(timeIntervalSinceNow: -1))
    let late = try await office.ask("ann", ended)
    let accepted = try await office.ask("cleo", SyncPermissionOfferResponse(token: ended.token ?? ""))
    #expect(late.status == .success && accepted.status == .error)
    await office.running.end()
  }
}
