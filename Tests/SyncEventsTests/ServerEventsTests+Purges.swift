import SyncEvents
import SyncModel
import SyncServer
import Testing
import Vivarium

extension ServerEventsTests {
  @Test func aHandlerThatComesBackBehindAPurgeGetsNoEventOfAWriteThatLost() async throws {
    let shop = Shop()
    let device = try await shop.open()
    try await device.send { _ = try device.create(Order.self, value: ["id": "a"]) }
    let calls = Calls()
    func run() async throws -> RunningEvents {
      let events = shop.events()
      try await events.on(store: Shop.path, Order.self, named: "billing") { change, _ in
        calls.note("\(change.kind) \(change.new?.status ?? "")")
      }
      return RunningEvents(events)
    }
    let first = try await run()
    try await first.caughtUp(shop)
    try await device.send { device.object(Order.self, forPrimaryKey: "a")?.status = "shipped" }
    try await first.caughtUp(shop)
    await first.end()
    // Another device has said otherwise long before, and comes only now. It loses everywhere.
    let (path, late, now) = (try #require(StorePath(Shop.path)), ReplicaID(7), shop.wallClock())
    _ = try await shop.stores.bind(path, late, secret: [1], user: "bob", at: now)
    let packed = SyncModel.Operation(
      ObjectIdentity("Order", .string("a")), epoch: .zero, .set("status", .string("packed"), isDefault: false))
    let changeset = Changeset(
      clientSeq: 1, baseSeq: Seq(1), first: Stamp(milliseconds: 1_000, counter: 0, replica: late), operations: [packed])
    let outcomes = try await shop.stores.commit(path, late, [.changeset(changeset)], refusalSeen: .zero, at: now) { _ in nil }
    let seq = try #require(outcomes.compactMap { if case .accepted(let seq) = $0 { seq } else { nil } }.first)
    _ = try await shop.stores.purge(path, expiry: .max)
    let second = try await run()
    try await second.caughtUp(shop)
    await second.end()
    #expect(calls.all == ["modify shipped"])
    // Then it is past that, and all is forgotten.
    #expect(try await shop.stores.purge(path, expiry: .max)?.stable ?? .zero >= seq)
  }
}
