import SyncEvents
import SyncModel
import SyncServer
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
    let own = try await shop.open(path: "/~/shop")
    for total in 1...3 { try await own.send { _ = try own.create(Order.self, value: ["id": "\(total)", "total": total]) } }
    let order = try #require(own.object(Order.self, forPrimaryKey: "1"))
    try await own.send { order.total = 9 }
    // One that has dealt with the first two, and was killed.
    let (path, now) = (try #require(StorePath("/ann/shop")), shop.wallClock())
    let lease = try await shop.stores.claim(path, handler: "billing", fromStart: true, until: now + 1, at: now)
    _ = try await shop.stores.advance(path, try #require(lease), to: Seq(2), writing: [], at: now)
    let second = try await run()
    try await second.caughtUp(shop, path: "/ann/shop")
    await second.end()
    #expect(calls.all == ["insert 0 3 of 3", "modify 1 9 of 3"])
  }
}
