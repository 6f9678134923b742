import Foundation
import StoreMessages
import SyncClient
import SyncEvents
import SyncManagement
import SyncProtocol
import SyncServer
import Testing
import Vivarium

@MainActor @Suite(.timeLimit(.minutes(15))) struct PermissionTests {
  func isSuspended(_ store: Store) async -> SyncError? {
    guard let sync = store.sync else { return nil }
    for await notice in await sync.notices() { if case .state(.suspended(let error)) = notice { return error } }
    return nil
  }

  @Test func whoOwnsAStoreGivesRightsOnItAndIsTold() async throws {
    let office = try await Office()
    _ = try await office.tasks()
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

  /// Programs with handlers choose their names.
  @Test func aHandlerThatIsNamedLikeAUserHasNoRightsToGive() async throws {
    let office = try await Office()
    _ = try await office.tasks()
    let events = ServerEvents(office.host.stores)
    try await events.on(store: "/ann/__management", SyncPermissionChange.self, named: "ann") { change, store in
      guard change.kind == .insert, change.new?.userID == "bob" else { return }
      try store.add(SyncPermissionChange(storeURL: "/ann/tasks", userID: "cleo", mayRead: true))
    }
    try await events.register()
    let running = RunningEvents(events)
    let (_, _, management) = try await office.ask("ann", SyncPermissionChange(storeURL: "/~/tasks", userID: "bob", mayRead: true))
    let wishes = management.objects(SyncPermissionChange.self).where { $0.userID == "cleo" && $0.status != .notProcessed }
    let answers = AsyncStream<Void> { continuation in
      let token = wishes.observe { _ in if !wishes.isEmpty { continuation.yield() } }
      continuation.onTermination = { _ in token.stop() }
    }
    for await _ in answers { break }
    #expect(wishes.first?.status == .error)
    #expect(try await office.directory.grants().map(\.user) == ["bob"])
    await running.end()
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
