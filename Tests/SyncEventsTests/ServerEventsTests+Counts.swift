import SyncEvents
import SyncModel
import SyncServer
import Testing
import Vivarium

extension ServerEventsTests {
  @Test func whatHandlersDoIsCounted() async throws {
    struct Refused: Error {}
    let shop = Shop()
    let device = try await shop.open()
    let events = shop.events { $0.attemptsMax = 2 }
    try await events.on(store: Shop.path, Order.self, named: "billing") { change, _ in
      if change.new?.total == 1 { throw Refused() }
    }
    try await events.on(store: "/nobody/shop", Order.self, named: "idle") { _, _ in }
    #expect(events.counts.handlers.keys.sorted() == ["billing", "idle"])
    let running = RunningEvents(events)
    try await running.caughtUp(shop)
    try await device.send { _ = try device.create(Order.self, value: ["id": "a", "total": 1]) }
    // Two events of one transaction.
    try await device.send { for id in ["b", "c"] { _ = try device.create(Order.self, value: ["id": id, "total": 2]) } }
    try await running.caughtUp(shop)
    await running.end()
    let billing = try #require(events.counts.handlers["billing"])
    #expect(billing.handled == 2 && billing.failed == 2 && billing.gaveUp == 1 && billing.missed == 0)
    #expect(events.counts.handlers["idle"]?.handled == 0)
    for line in [
      "vivarium_handler_events_total{handler=\"billing\"} 2", "vivarium_handler_events_total{handler=\"idle\"} 0",
      "vivarium_handler_failures_total{handler=\"billing\"} 2", "vivarium_handler_given_up_total{handler=\"billing\"} 1",
      "vivarium_handler_missed_entries_total{handler=\"billing\"} 0",
    ] { #expect(events.counts.metrics.contains("\n\(line)\n"), "\(events.counts.metrics)") }
  }

  @Test func entriesThatWereGoneBeforeAHandlerCameToThemAreCounted() async throws {
    let shop = Shop()
    try await shop.open()
    func run() async throws -> (ServerEvents, RunningEvents) {
      let events = shop.events()
      try await events.on(store: "/*/shop", Order.self, named: "billing") { _, _ in }
      return (events, RunningEvents(events))
    }
    let (_, first) = try await run()
    try await first.caughtUp(shop)
    await first.end()
    // A store that is made while nobody runs the handler, and whose log is cut before somebody does again: an earlier build's, which gave
    // new stores no cursors of handlers.
    let (own, path) = (try await shop.open(path: "/~/shop"), try #require(StorePath("/ann/shop")))
    try await shop.stores.removeHandler(path, "billing")
    for id in ["a", "b", "c"] { try await own.send { _ = try own.create(Order.self, value: ["id": id]) } }
    try await shop.stores.truncateLog(path, through: Seq(1))
    let (events, second) = try await run()
    try await second.caughtUp(shop, path: "/ann/shop")
    await second.end()
    #expect(events.counts.handlers["billing"]?.missed == 2)
    #expect(events.counts.handlers["billing"]?.handled == 0)
  }
}
