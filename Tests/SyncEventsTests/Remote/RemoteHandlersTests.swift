import SyncClient
import SyncEvents
import SyncModel
import SyncProtocol
import SyncServer
import Testing
import Vivarium
import VivariumTestSupport

/// Handlers of events in a program of their own, with a connection to the server.
@MainActor @Suite(.timeLimit(.minutes(15))) struct RemoteHandlersTests {
  private func remote(_ connector: any SyncConnector, _ token: String = "handlers") -> RemoteEventStores {
    var options = RemoteEventStores.Options()
    (options.firstDelay, options.longestDelay) = (.milliseconds(1), .milliseconds(4))
    return RemoteEventStores(connector, credentials: FixedToken(token), options: options)
  }

  private func billing(
    _ stores: any EventStores, _ calls: Calls = Calls(), lease: Duration = .seconds(3_600)
  ) async throws -> ServerEvents {
    var options = ServerEvents.Options()
    (options.firstDelay, options.longestDelay, options.pause) = (.milliseconds(1), .milliseconds(4), .milliseconds(2))
    options.lease = lease
    let events = ServerEvents(stores, models: Order.self, Customer.self, Address.self, Invoice.self, options: options)
    try await events.on(store: Shop.path, Order.self, named: "billing") { change, store in
      calls.note(change.idempotencyKey)
      guard let order = change.new else { return }
      let id = "\(order.id) \(change.number)"
      let invoice =
        try store.object(Invoice.self, forPrimaryKey: id) ?? store.create(Invoice.self, value: ["order": id, "total": order.total])
      invoice.count += 1
    }
    return events
  }

  @Test func aHandlerHearsOfChangesAndAnswersOverAConnection() async throws {
    let shop = Shop()
    let device = try await shop.open()
    let events = try await billing(remote(HostConnector(host: shop.host)))
    try await events.register()
    try await device.send { _ = try device.create(Order.self, value: ["id": "before", "total": 3]) }
    let running = RunningEvents(events)
    try await running.caughtUp(shop)
    // News comes over the connection.
    try await device.send { _ = try device.create(Order.self, value: ["id": "after", "total": 4]) }
    try await running.caughtUp(shop)
    await running.end()
    try await device.received()
    #expect(device.objects(Invoice.self).sorted(by: \.total).map(\.total) == [3, 4])
    // It has given its lease back: another one need not wait for its end.
    let path = try #require(StorePath(Shop.path))
    let standing = try #require(try await shop.stores.handlers(path)["billing"])
    #expect(standing.leaseEnd <= shop.wallClock())
  }

  @Test func eachEventHasItsEffectOnceWhereverConnectionsAreCut() async throws {
    var random = SeededGenerator.forTest()
    var connections = 0
    for _ in 0..<4 {
      let shop = Shop()
      let device = try await shop.open()
      let connector = CutConnector(HostConnector(host: shop.host), SeededGenerator(seed: random.next()), most: 40)
      let calls = Calls()
      // Not with a short lease, which would be that of the registration too.
      try await billing(remote(connector), calls).register()
      connector.cut()
      let running = RunningEvents(try await billing(remote(connector), calls, lease: .milliseconds(200)))
      var written = 0
      for _ in 0..<20 {
        try await device.send {
          for _ in 0...random.below(3) {
            _ = try device.create(Order.self, value: ["id": "\(written)", "total": written])
            written += 1
          }
        }
        for _ in 0..<random.below(200) { await Task.yield() }
      }
      connector.mend()
      await running.end()
      // On a busy machine a short lease ends again and again before anything is done.
      let last = RunningEvents(try await billing(remote(connector), calls))
      try await last.caughtUp(shop)
      await last.end()
      try await device.received()
      #expect(device.objects(Invoice.self).count == written)
      #expect(device.objects(Invoice.self).allSatisfy { $0.count == 1 })
      connections += connector.count
    }
    // It was cut in between.
    #expect(connections > 8)
  }

  @Test func theLeaseOutlivesAConnection() async throws {
    let shop = Shop()
    let device = try await shop.open()
    let connector = CutConnector(HostConnector(host: shop.host), .forTest(), most: 25)
    let events = try await billing(remote(connector))
    try await events.register()
    let running = RunningEvents(events)
    // One lease of an hour: whoever lost it would wait for its end.
    for number in 0..<30 {
      if number == 1 { connector.cut() }
      try await device.send { _ = try device.create(Order.self, value: ["id": "\(number)"]) }
      try await running.caughtUp(shop)
    }
    connector.mend()
    await running.end()
    #expect(connector.count > 3)
    try await device.received()
    #expect(device.objects(Invoice.self).count == 30)
  }

  @Test func callsWaitForAServerThatIsStartedAnew() async throws {
    let stores = MemoryServerStore()
    try await stores.makeStore(try #require(StorePath(Shop.path)))
    let connector = MovingConnector(SyncHost(stores: stores, access: OpenAccess()))
    let remote = remote(connector)
    #expect(try await remote.stores().map(\.text) == [Shop.path])
    await connector.host.leave(comeBackAfter: 1)
    let asked = Task { try await remote.stores() }
    await connector.waitUntilRefused()
    connector.move(to: SyncHost(stores: stores, access: OpenAccess()))
    #expect(try await asked.value.map(\.text) == [Shop.path])
  }

  @Test func whatCameWhileThereWasNoConnectionIsNews() async throws {
    let shop = Shop()
    try await shop.open()
    let connector = MovingConnector(shop.host)
    let remote = remote(connector)
    let path = try #require(StorePath(Shop.path))
    var news = await remote.wakeups().makeAsyncIterator()
    await remote.follow(path)
    await shop.host.leave(comeBackAfter: 1)
    await connector.waitUntilRefused()
    connector.move(to: SyncHost(stores: shop.stores, access: OpenAccess()))
    #expect(await news.next() == path)
    // And it goes on being followed.
    _ = try await remote.heads([path])
    try await shop.stores.removeStore(path)
    #expect(await news.next() == path)
  }

  /// Who only answers follows nothing: it claims.
  @Test func whoAnswersHearsOfNewQuestionsAfterAServerWasStartedAnew() async throws {
    let shop = Shop()
    let connector = MovingConnector(shop.host)
    let remote = remote(connector)
    let path = try #require(StorePath(Shop.path))
    try await shop.stores.makeStore(path)
    var news = await remote.wakeups().makeAsyncIterator()
    let claimed = try await remote.claim(path, handler: "answers", fromStart: true, until: 3_600_000, at: 0)
    let lease = try #require(claimed)
    await shop.host.leave(comeBackAfter: 1)
    await connector.waitUntilRefused()
    connector.move(to: SyncHost(stores: shop.stores, access: OpenAccess()))
    #expect(await news.next() == path)
    // The lease is still good: nothing is claimed again.
    _ = try await remote.renew(path, lease, until: 3_600_000, at: 0)
    try await shop.stores.removeStore(path)
    #expect(await news.next() == path)
  }

  @Test func whatNobodyFollowsAnyMoreIsNoNews() async throws {
    let shop = Shop()
    let remote = remote(HostConnector(host: shop.host))
    let paths = try ["/shared/a", "/shared/b"].map { try #require(StorePath($0)) }
    for path in paths { try await shop.stores.makeStore(path) }
    var news = await remote.wakeups().makeAsyncIterator()
    for path in paths { await remote.follow(path) }
    await remote.follow(paths[0])
    await remote.unfollow(paths[0])
    await remote.unfollow(paths[0])
    for path in paths { try await shop.stores.removeStore(path) }
    #expect(await news.next() == paths[1])
  }

  @Test func aServerThatIsNotThereIsAnErrorAfterAWhile() async throws {
    struct Nowhere: SyncConnector {
      func connect() async throws(TransportError) -> any SyncTransport { throw TransportError(.unreachable, "There is no way.") }
    }
    var options = RemoteEventStores.Options()
    (options.patience, options.firstDelay) = (.milliseconds(20), .milliseconds(1))
    let remote = RemoteEventStores(Nowhere(), credentials: FixedToken("handlers"), options: options)
    let error = await #expect(throws: ServerStoreError.self) { _ = try await remote.stores() }
    #expect(error?.code == .unavailable)
    #expect(error?.message.contains("There is no way.") == true)
  }

  @Test func whoWasClosedAsksNobody() async throws {
    let shop = Shop()
    let remote = remote(HostConnector(host: shop.host))
    let news = await remote.wakeups()
    _ = try await remote.stores()
    await remote.close()
    let error = await #expect(throws: ServerStoreError.self) { _ = try await remote.stores() }
    #expect(error?.code == .unavailable)
    for await _ in news {}
  }

  @Test func theServersOwnHandlersAreNobodyElses() async throws {
    let shop = Shop()
    try await shop.open()
    let path = try #require(StorePath(Shop.path))
    _ = try await shop.stores.claim(path, handler: "__permissions", fromStart: true, until: 0, at: 0)
    let remote = remote(HostConnector(host: shop.host))
    let removing = await #expect(throws: ServerStoreError.self) { try await remote.removeHandler(path, "__permissions") }
    #expect(removing?.message.contains("__permissions") == true)
    await #expect(throws: ServerStoreError.self) {
      _ = try await remote.claim(path, handler: "__permissions", fromStart: true, until: 1_000, at: 0)
    }
    #expect(try await shop.stores.handlers(path)["__permissions"] != nil)
  }
}
