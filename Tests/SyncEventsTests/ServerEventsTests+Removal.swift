import ServerStoreForwarding
import SyncClient
import SyncEvents
import SyncServer
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

extension ServerEventsTests {
  /// Returns when a handler has dealt with all that a store has.
  private func dealt(_ notices: AsyncStream<ServerEventNotice>, _ path: StorePath) async {
    for await notice in notices {
      if case .dealt(_, let store, _) = notice, store == path { return }
    }
  }

  /// In place of the store, one of which its device knows nothing, with one order.
  private func replace(_ shop: Shop, _ path: StorePath, of device: Store) async throws {
    await device.sync?.stop()
    try await shop.stores.removeStore(path)
    let other = try await shop.open()
    try await other.send { _ = try other.create(Order.self, value: ["id": "new", "total": 7]) }
    await other.sync?.stop()
  }

  @Test func aStoreMadeAgainBeforeItsRemovalIsNoticedHasItsEventsFromItsStart() async throws {
    let shop = Shop()
    let path = try #require(StorePath(Shop.path))
    let device = try await shop.open()
    let other = try await shop.open(path: "/shared/other")
    let (events, calls, entered, opened) = (shop.events(), Calls(), AsyncSignal(), AsyncSignal())
    try await events.on(store: "/shared/*", Order.self, named: "billing", outside: { change in
      calls.note("\(change.store) \(change.new?.total ?? 0)")
      if change.store != path {
        entered.fire()
        await opened.wait()
      }
      return { _ in }
    })
    let running = RunningEvents(events)
    for path in [Shop.path, "/shared/other"] { try await running.caughtUp(shop, path: path) }
    for total in 1...3 { try await device.send { _ = try device.create(Order.self, value: ["id": "\(total)", "total": total]) } }
    try await running.caughtUp(shop)
    // The handler is busy with another store while this one goes and comes.
    try await other.send { _ = try other.create(Order.self, value: ["id": "a", "total": 9]) }
    await entered.wait()
    try await replace(shop, path, of: device)
    let notices = events.notices()
    opened.fire()
    await dealt(notices, path)
    await running.end()
    #expect(calls.all == ["/shared/shop 1", "/shared/shop 2", "/shared/shop 3", "/shared/other 9", "/shared/shop 7"])
  }

  @Test func aStoreThatWasNotListedForAWhileIsLookedAtThoughNoNewsOfItIsHeard() async throws {
    let shop = Shop()
    let path = try #require(StorePath(Shop.path))
    let device = try await shop.open()
    for total in 1...3 { try await device.send { _ = try device.create(Order.self, value: ["id": "\(total)", "total": total]) } }
    let isHidden = Mutex(false)
    let hidden = AsyncSignal()
    let stores = FaultyStores(shop.stores, nil, listed: { paths in
      guard isHidden.withLock({ $0 }) else { return paths }
      hidden.fire()
      return paths.filter { $0 != path }
    }, hearsNews: false)
    let (events, calls) = (Shop(stores).events(), Calls())
    try await events.on(store: Shop.path, Order.self, named: "billing") { change, _ in calls.note("\(change.new?.total ?? 0)") }
    let running = RunningEvents(events)
    try await running.caughtUp(shop)
    isHidden.withLock { $0 = true }
    await hidden.wait()
    try await replace(shop, path, of: device)
    let notices = events.notices()
    isHidden.withLock { $0 = false }
    await dealt(notices, path)
    await running.end()
    #expect(calls.all == ["7"])
  }
}
