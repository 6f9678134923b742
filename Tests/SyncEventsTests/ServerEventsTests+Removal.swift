import ServerStoreForwarding
import SyncClient
import SyncEvents
import SyncModel
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

  /// Returns when a handler was found to be removed from a store, or has dealt with all that is there, which it must not.
  private func gone(_ notices: AsyncStream<ServerEventNotice>, _ path: StorePath, of stores: any SyncServerStore) async throws {
    let head = try await stores.heads([path])[path]?.rawValue ?? 0
    for await notice in notices {
      switch notice {
      case .removed("billing", path): return
      case .dealt(_, path, let number) where number >= head: return
      default: continue
      }
    }
  }

  /// It has no lease while it waits for events, so nobody who removes it can see that it is run.
  @Test(arguments: [false, true], [false, true])
  func aHandlerThatIsRemovedWhileItWaitsHandlesNothingMore(everywhere: Bool, hasOnlyLooked: Bool) async throws {
    let (shop, time) = (Shop(), HandlerTime())
    let path = try #require(StorePath(Shop.path))
    let device = try await shop.open()
    func run(_ calls: Calls) async throws -> (RunningEvents, ServerEvents) {
      let events = shop.events(clock: { time.now }) { _ in }
      try await events.on(store: "/shared/*", Order.self, named: "billing") { change, _ in
        calls.note("\(change.store) \(change.new?.total ?? 0)")
      }
      return (RunningEvents(events), events)
    }
    let calls = Calls()
    var (running, events) = try await run(calls)
    try await running.caughtUp(shop)
    try await device.send { _ = try device.create(Order.self, value: ["id": "a", "total": 1]) }
    try await running.caughtUp(shop)
    if hasOnlyLooked {
      // Another process finds nothing to do, and has never had a lease.
      await running.end()
      (running, events) = try await run(calls)
      try await running.caughtUp(shop)
    }
    time.pass(4_000_000)
    #expect(try await shop.stores.removeHandler("billing", from: everywhere ? nil : path, at: time.now) == .removed(stores: 1))
    var notices = events.notices()
    try await device.send { _ = try device.create(Order.self, value: ["id": "b", "total": 2]) }
    try await gone(notices, path, of: shop.stores)
    if everywhere {
      // Nor where it has never worked: its name is gone.
      notices = events.notices()
      let other = try await shop.open(path: "/shared/other")
      try await other.send { _ = try other.create(Order.self, value: ["id": "c", "total": 3]) }
      try await gone(notices, try #require(StorePath("/shared/other")), of: shop.stores)
    }
    await running.end()
    #expect(calls.all == ["/shared/shop 1"])
    #expect(try await shop.stores.handlers(path).isEmpty)
    // Who starts it again means it.
    let later = Calls()
    let (again, _) = try await run(later)
    try await again.caughtUp(shop)
    await again.end()
    #expect(later.all == (everywhere ? [] : ["/shared/shop 1", "/shared/shop 2"]))
  }

  @Test func aStoreThatIsMadeWhileAHandlerGoesFromAllStoresKeepsNothingForIt() async throws {
    let base = MemoryServerStore()
    let made = try #require(StorePath("/shared/made"))
    let stores = FaultyStores(
      base, nil,
      willRemoveHandler: { (path: StorePath, name: String) async throws(ServerStoreError) in
        // The stores were listed, and the name is still there.
        if path == HandlerNames.path, name == HandlerNames.known("billing") { try await base.makeStore(made) }
      })
    let shop = Shop(stores)
    try await shop.open()
    let events = shop.events()
    try await events.on(store: "/shared/*", Order.self, named: "billing") { _, _ in }
    try await events.register()
    #expect(try await stores.removeHandler("billing", from: nil, at: shop.wallClock() + 3_600_000) == .removed(stores: 2))
    #expect(try await base.storesOfHandlers().contains(made))
    for path in try await base.storesOfHandlers() { #expect(try await base.handlers(path).isEmpty) }
  }
}

extension ServerEventsTests {
  /// What comes between the two calls with which a handler is taken up at a store.
  private final class Between: Sendable {
    let isAwaited = Mutex(false)
    let (reached, done) = (AsyncSignal(), AsyncSignal())

    /// Once, at a store.
    func come(_ path: StorePath, _ wanted: StorePath) async {
      let isNow = isAwaited.withLock { isAwaited in
        guard isAwaited, path == wanted else { return false }
        isAwaited = false
        return true
      }
      guard isNow else { return }
      reached.fire()
      await done.wait()
    }
  }

  @Test func aHandlerWhoseNameGoesWhileItIsTakenUpAtAStoreHandlesNothingThere() async throws {
    let (base, between) = (MemoryServerStore(), Between())
    let path = try #require(StorePath("/shared/other"))
    let shop = Shop(FaultyStores(base, nil, willClaim: { await between.come($0, path) }))
    try await shop.open()
    let (events, calls) = (shop.events(), Calls())
    try await events.on(store: "/shared/*", Order.self, named: "billing") { change, _ in calls.note("\(change.new?.total ?? 0)") }
    let running = RunningEvents(events)
    try await running.caughtUp(shop)
    // The name is there when it is looked for, and gone when the handler is made at the store.
    between.isAwaited.withLock { $0 = true }
    let notices = events.notices()
    let device = try await shop.open(path: path.text)
    try await device.send { _ = try device.create(Order.self, value: ["id": "a", "total": 1]) }
    await between.reached.wait()
    let later = shop.wallClock() + 3_600_000
    #expect(try await base.removeHandler("billing", from: nil, at: later) == .removed(stores: 2))
    between.done.fire()
    try await gone(notices, path, of: base)
    await running.end()
    #expect(calls.all.isEmpty)
    #expect(try await base.handlers(path).isEmpty)
  }

  @Test func aHandlerWhoseNameCannotBeLookedForOnceItIsTakenUpStaysWithWhoeverHasItByThen() async throws {
    let (base, between, time) = (MemoryServerStore(), Between(), HandlerTime())
    let isAway = Mutex(false)
    let path = try #require(StorePath("/shared/other"))
    let faulty = FaultyStores(
      base, nil, hasClaimed: { await between.come($0, path) },
      willTellHandlers: { () throws(ServerStoreError) in
        let isNow = isAway.withLock { isAway in
          defer { isAway = false }
          return isAway
        }
        if isNow { throw ServerStoreError(.unavailable, "It is not in reach.") }
      }, listed: { $0.filter { $0 != path } })
    let (shop, calls) = (Shop(base), Calls())
    try await shop.open()
    func run(_ stores: any SyncServerStore) async throws -> (RunningEvents, ServerEvents) {
      let events = Shop(stores).events(clock: { time.now }) { _ in }
      try await events.on(store: "/shared/*", Order.self, named: "billing") { change, _ in calls.note("\(change.new?.total ?? 0)") }
      return (RunningEvents(events), events)
    }
    let (first, firstEvents) = try await run(faulty)
    try await first.caughtUp(shop)
    between.isAwaited.withLock { $0 = true }
    // An earlier build's, which gave new stores no cursors of handlers. It is not listed: the first one hears of it with its first entry.
    try await base.makeStore(path)
    try await base.removeHandler(path, "billing")
    let device = try await shop.open(path: path.text)
    try await device.send { _ = try device.create(Order.self, value: ["id": "a", "total": 1]) }
    await between.reached.wait()
    // Its lease ends before it goes on.
    time.pass(4_000_000)
    let (second, secondEvents) = try await run(base)
    try await second.caughtUp(shop, path: path.text)
    let (firstNotices, secondNotices) = (firstEvents.notices(), secondEvents.notices())
    isAway.withLock { $0 = true }
    between.done.fire()
    for await notice in firstNotices { if case .unavailable = notice { break } }
    await first.end()
    try await device.send { _ = try device.create(Order.self, value: ["id": "b", "total": 2]) }
    let head = try #require(await base.heads([path])[path])
    waiting: for await notice in secondNotices {
      switch notice {
      case .dealt(_, path, let number) where number >= head.rawValue: break waiting
      case .removed(_, path): break waiting
      default: continue
      }
    }
    await second.end()
    #expect(calls.all == ["1", "2"])
    #expect(try await base.handlers(path)["billing"]?.cursor == head)
  }

  @Test func aStoreMadeAgainWhileAHandlerIsTakenUpThereHasItsEventsFromItsStart() async throws {
    let (base, between) = (MemoryServerStore(), Between())
    let path = try #require(StorePath(Shop.path))
    let shop = Shop(FaultyStores(base, nil, hasClaimed: { await between.come($0, path) }))
    let device = try await shop.open()
    let (events, calls) = (shop.events(), Calls())
    try await events.on(store: Shop.path, Order.self, named: "billing") { change, _ in calls.note("\(change.new?.total ?? 0)") }
    let first = RunningEvents(events)
    try await first.caughtUp(shop)
    await first.end()
    try await device.send { _ = try device.create(Order.self, value: ["id": "old", "total": 1]) }
    // Another process takes it up. Between the lease and the first page the store goes, and another one comes.
    let again = shop.events()
    try await again.on(store: Shop.path, Order.self, named: "billing") { change, _ in calls.note("\(change.new?.total ?? 0)") }
    between.isAwaited.withLock { $0 = true }
    let running = RunningEvents(again)
    await between.reached.wait()
    try await replace(shop, path, of: device)
    between.done.fire()
    try await running.caughtUp(shop)
    await running.end()
    #expect(calls.all == ["7"])
  }
}

/// A clock that a test moves, in milliseconds.
private final class HandlerTime: Sendable {
  private let milliseconds = Mutex<Int64>(1_000_000)
  var now: Int64 { milliseconds.withLock { $0 } }
  func pass(_ some: Int64) { milliseconds.withLock { $0 += some } }
}
