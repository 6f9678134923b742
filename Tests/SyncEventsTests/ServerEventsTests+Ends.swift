import SyncEvents
import SyncServer
import Testing
import Vivarium

extension ServerEventsTests {
  /// A handler must not end its write. What one commits all the same is not sent with its next attempt.
  @Test func whatAHandlerCommitsItselfBeforeItFailsIsNotSent() async throws {
    struct Refused: Error {}
    let shop = Shop()
    let device = try await shop.open()
    let (events, calls) = (shop.events(), Calls())
    try await events.on(store: Shop.path, Order.self, named: "billing") { change, store in
      let count = calls.note(change.idempotencyKey)
      _ = try store.create(Invoice.self, value: ["order": "\(count)"])
      if count < 3 {
        try store.commitWrite()
        throw Refused()
      }
    }
    let running = RunningEvents(events)
    try await running.caughtUp(shop)
    try await device.send { _ = try device.create(Order.self, value: ["id": "a"]) }
    try await running.caughtUp(shop)
    await running.end()
    try await device.received()
    #expect(device.objects(Invoice.self).map(\.order) == ["3"])
    #expect(Set(calls.all).count == 1)
  }
}
