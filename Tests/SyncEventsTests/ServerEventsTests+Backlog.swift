import SyncEvents
import SyncModel
import SyncServer
import Synchronization
import Testing
import Vivarium

extension ServerEventsTests {
  @Test func aStoreMadeWhileNobodyRunsTheHandlerIsHeardOfWholeAlsoIfTheNextOneEndsWithin() async throws {
    let shop = Shop()
    let calls = Calls()
    func run() async throws -> RunningEvents {
      let events = shop.events()
      try await events.on(store: "/*/shop", Order.self, named: "billing") { change, store in
        let others = store.objects(Order.self).count
        calls.note("\(change.kind) \(change.old?.total ?? 0) \(change.new?.total ?? 0) of \(others)")
      }
      return RunningEvents(events)
    }
    let first = try await run()
    try await shop.open()
    try await first.caughtUp(shop)
    await first.end()
    // An earlier build's, which gave new stores no cursors of handlers: nothing is kept of how objects were.
    let (own, path) = (try await shop.open(path: "/~/shop"), try #require(StorePath("/ann/shop")))
    try await shop.stores.removeHandler(path, "billing")
    for total in 1...3 { try await own.send { _ = try own.create(Order.self, value: ["id": "\(total)", "total": total]) } }
    let order = try #require(own.object(Order.self, forPrimaryKey: "1"))
    try await own.send { order.total = 9 }
    // One that has dealt with the first two, and was killed.
    let now = shop.wallClock()
    let lease = try await shop.stores.claim(path, handler: "billing", fromStart: true, until: now + 1, at: now)
    _ = try await shop.stores.advance(path, try #require(lease), to: Seq(2), writing: [], at: now)
    let second = try await run()
    try await second.caughtUp(shop, path: "/ann/shop")
    await second.end()
    #expect(calls.all == ["insert 0 3 of 3", "modify 1 9 of 3"])
  }

  @Test func aStoreMadeWhileNobodyRunsTheHandlerKeepsItsEventsThroughAnUpkeep() async throws {
    let shop = Shop()
    let calls = Calls()
    func run() async throws -> (ServerEvents, RunningEvents) {
      let events = shop.events()
      try await events.on(store: "/*/shop", Order.self, named: "billing") { change, _ in
        calls.note("\(change.kind) \(change.new?.total ?? 0)")
      }
      return (events, RunningEvents(events))
    }
    let (_, first) = try await run()
    try await shop.open()
    try await first.caughtUp(shop)
    await first.end()
    let own = try await shop.open(path: "/~/shop")
    for total in 1...3 { try await own.send { _ = try own.create(Order.self, value: ["id": "\(total)", "total": total]) } }
    #expect(try await shop.stores.forget(expiry: .max).isEmpty)
    let (events, second) = try await run()
    try await second.caughtUp(shop, path: "/ann/shop")
    await second.end()
    #expect(calls.all == ["insert 1", "insert 2", "insert 3"])
    #expect(events.counts.handlers["billing"]?.missed == 0)
  }

  @Test func aHandlerThatIsRegisteredForOtherStoresHasTheirEventsFromTheirStart() async throws {
    let shop = Shop()
    func register(_ pattern: String) async throws {
      let events = shop.events()
      try await events.on(store: pattern, Order.self, named: "billing") { _, _ in }
      try await events.register()
    }
    let texts = ["/ann/shop", "/ann/market", "/bob/shop", "/bob/market"]
    let paths = try texts.map { try #require(StorePath($0)) }
    try await register("/*/shop")
    for path in paths.prefix(2) { try await shop.stores.makeStore(path) }
    try await register("/*/market")
    for path in paths.suffix(2) { try await shop.stores.makeStore(path) }
    var cursors: [Seq?] = []
    for path in paths { cursors.append(try await shop.stores.handlers(path)["billing"]?.cursor) }
    #expect(cursors == [.zero, .zero, nil, .zero])
  }

  /// What fails once.
  private final class OneFault: Sendable {
    private let isDue = Mutex(true)

    func strike() throws(ServerStoreError) {
      let isNow = isDue.withLock { isDue in
        defer { isDue = false }
        return isDue
      }
      if isNow { throw ServerStoreError(.unavailable, "It is not in reach.") }
    }
  }

  @Test(arguments: [false, true]) func aRegistrationThatFailedHalfwayIsDoneToItsEndByTheNext(atItsLastStore: Bool) async throws {
    let (base, fault) = (MemoryServerStore(), OneFault())
    let paths = try ["/ann/market", "/bob/market", "/ann/shop"].map { try #require(StorePath($0)) }
    for path in paths.prefix(2) { try await base.makeStore(path) }
    func handling(_ pattern: String, in stores: any SyncServerStore) async throws -> ServerEvents {
      let events = Shop(stores).events()
      try await events.on(store: pattern, Order.self, named: "billing") { _, _ in }
      return events
    }
    try await handling("/*/shop", in: base).register()
    let last = paths[1]
    let faulty = FaultyStores(
      base, nil,
      willClaim: { (path: StorePath) async throws(ServerStoreError) in
        if atItsLastStore, path == last { try fault.strike() }
      },
      willRemoveHandler: { (_: StorePath, _: String) async throws(ServerStoreError) in
        // The name is of the earlier stores still.
        if !atItsLastStore { try fault.strike() }
      })
    let events = try await handling("/*/market", in: faulty)
    await #expect(throws: ServerStoreError.self) { try await events.register() }
    try await events.register()
    try await base.makeStore(paths[2])
    var cursors: [Seq?] = []
    for path in paths { cursors.append(try await base.handlers(path)["billing"]?.cursor) }
    #expect(cursors == [.zero, .zero, nil])
  }
}
