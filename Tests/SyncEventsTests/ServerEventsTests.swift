import ServerStoreForwarding
import SyncEvents
import SyncModel
import SyncServer
import Synchronization
import Testing
import Vivarium

@MainActor @Suite(.timeLimit(.minutes(15))) struct ServerEventsTests {
  private nonisolated func described(_ change: ServerChange<Order>) -> String {
    func text(_ order: Frozen<Order>?) -> String {
      order.map { "\($0.total) \($0.status) \($0.customer?.name ?? "-") \($0.lines) \($0.id.key.rawValue > 0)" } ?? "nil"
    }
    return "\(change.kind) \(change.author) [\(text(change.old))] [\(text(change.new))]"
  }

  @Test func aChangeComesOnceWithTheStateBeforeAndAfterIt() async throws {
    let shop = Shop()
    let device = try await shop.open()
    let (events, calls) = (shop.events(), Calls())
    try await events.on(store: Shop.path, Order.self, named: "billing") { change, _ in calls.note(described(change)) }
    let running = RunningEvents(events)
    try await running.caughtUp(shop)

    let order = Order()
    try await device.send {
      order.id = "a"
      order.total = 5
      let customer = Customer()
      (customer.id, customer.name) = ("c", "Ann")
      order.customer = customer
      try device.add(order)
    }
    try await device.send {
      order.total = 6
      order.lines.append("tea")
    }
    // Nothing of it is different: no event.
    try await device.send { order.total = 6 }
    // The customer's name is different, and the order is not.
    try await device.send { order.customer?.name = "Anna" }
    try await device.send { try device.delete(order) }
    try await running.caughtUp(shop)
    await running.end()
    #expect(
      calls.all == [
        "insert ann [nil] [5 new Ann [] true]",
        "modify ann [5 new Ann [] true] [6 new Ann [\"tea\"] true]",
        "delete ann [6 new Anna [\"tea\"] true] [nil]",
      ])
  }

  @Test func whatAHandlerWritesReachesEverybodyAndIsNoNewsToIt() async throws {
    let shop = Shop()
    let device = try await shop.open()
    let (events, calls) = (shop.events(), Calls())
    try await events.on(store: Shop.path, Order.self, named: "billing") { change, store in
      calls.note("\(change.kind)")
      let invoice = try store.create(Invoice.self, value: ["order": change.new?.id.key.rawValue == nil ? "" : "a"], update: .modified)
      invoice.count += 1
      change.object(in: store)?.status = "billed"
    }
    let others = Calls()
    try await events.on(store: Shop.path, Order.self, named: "watching") { change, _ in
      others.note("\(change.kind) \(change.author) \(change.new?.status ?? "")")
    }
    let running = RunningEvents(events)
    try await running.caughtUp(shop)
    try await device.send { _ = try device.create(Order.self, value: ["id": "a"]) }
    try await running.caughtUp(shop)
    try await running.caughtUp(shop, handler: "watching")
    await running.end()
    try await device.received()
    #expect(device.object(Order.self, forPrimaryKey: "a")?.status == "billed")
    #expect(device.objects(Invoice.self).map(\.count) == [1])
    #expect(calls.all == ["insert"])
    #expect(others.all == ["insert ann new", "modify billing billed"])
  }

  @Test func aHandlerThatThrowsWritesNothingAndIsAskedAgain() async throws {
    struct Refused: Error {}
    let shop = Shop()
    let device = try await shop.open()
    let (events, calls) = (shop.events(), Calls())
    try await events.on(store: Shop.path, Order.self, named: "billing") { change, store in
      let invoice = try store.create(Invoice.self, value: ["order": change.idempotencyKey])
      invoice.count += 1
      if calls.note(change.idempotencyKey) < 3 { throw Refused() }
    }
    let running = RunningEvents(events)
    try await running.caughtUp(shop)
    try await device.send { _ = try device.create(Order.self, value: ["id": "a"]) }
    try await running.caughtUp(shop)
    await running.end()
    try await device.received()
    #expect(calls.all.count == 3 && Set(calls.all).count == 1)
    #expect(device.objects(Invoice.self).map(\.count) == [1])
  }

  @Test func anEventThatFailsAsOftenAsItMayIsPassedOver() async throws {
    struct Refused: Error {}
    let shop = Shop()
    let device = try await shop.open()
    let (events, calls) = (shop.events { $0.attemptsMax = 2 }, Calls())
    try await events.on(store: Shop.path, Order.self, named: "billing") { change, _ in
      calls.note("\(change.new?.total ?? 0)")
      if change.new?.total == 1 { throw Refused() }
    }
    let running = RunningEvents(events)
    try await running.caughtUp(shop)
    for total in 1...2 { try await device.send { _ = try device.create(Order.self, value: ["id": "\(total)", "total": total]) } }
    try await running.caughtUp(shop)
    await running.end()
    #expect(calls.all == ["1", "1", "2"])
  }

  /// Writes that nobody takes in, so many of them.
  private func refusing(_ count: Int) -> FaultyStores {
    let left = Mutex(count)
    return FaultyStores(MemoryServerStore(), nil, willWrite: { () throws(ServerStoreError) in
      let isRefused = left.withLock { left in
        left -= 1
        return left >= 0
      }
      if isRefused { throw ServerStoreError(.writesRefused, "It is not taken in.") }
    })
  }

  /// What handling two orders says when the first writes are refused.
  private func handled(
    refusing count: Int, _ options: (inout ServerEvents.Options) -> Void
  ) async throws -> (calls: [String], invoices: [Int], notices: [String]) {
    let shop = Shop(refusing(count))
    let device = try await shop.open()
    let (events, calls) = (shop.events(options), Calls())
    let notices = events.notices()
    try await events.on(store: Shop.path, Order.self, named: "billing") { change, store in
      calls.note("\(change.new?.total ?? 0)")
      _ = try store.create(Invoice.self, value: ["order": "\(change.number)", "total": change.new?.total ?? 0])
    }
    let running = RunningEvents(events)
    try await running.caughtUp(shop)
    for total in 1...2 { try await device.send { _ = try device.create(Order.self, value: ["id": "\(total)", "total": total]) } }
    try await running.caughtUp(shop)
    await running.end()
    try await device.received()
    var said: [String] = []
    for await notice in notices {
      switch notice {
      case .failed(_, _, let attempt, _): said.append("failed \(attempt)")
      case .gaveUp: said.append("gave up")
      case .dealt:
        // What came after it had ended is not waited for.
        if said.count >= count { return (calls.all, device.objects(Invoice.self).map(\.total).sorted(), said) }
      default: said.append("\(notice)")
      }
    }
    return (calls.all, [], said)
  }

  @Test func aWriteThatIsRefusedIsAFailureOfItsEvent() async throws {
    let (calls, invoices, notices) = try await handled(refusing: 2) { _ in }
    #expect(calls == ["1", "1", "1", "2"] && invoices == [1, 2] && notices == ["failed 1", "failed 2"])
  }

  @Test func anEventWhoseWritesAreRefusedAsOftenAsItMayIsPassedOver() async throws {
    let (calls, invoices, notices) = try await handled(refusing: 2) { $0.attemptsMax = 2 }
    #expect(calls == ["1", "1", "2"] && invoices == [2] && notices == ["failed 1", "gave up"])
  }

  @Test func eventsWaitWhileNobodyRunsTheHandlerAndComeAsTheyWere() async throws {
    let shop = Shop()
    let device = try await shop.open()
    try await device.send { _ = try device.create(Order.self, value: ["id": "a", "total": 1]) }
    let calls = Calls()
    func run() async throws -> RunningEvents {
      let events = shop.events()
      try await events.on(store: Shop.path, Order.self, named: "billing") { change, _ in calls.note(described(change)) }
      return RunningEvents(events)
    }
    let first = try await run()
    try await first.caughtUp(shop)
    await first.end()
    let order = try #require(device.object(Order.self, forPrimaryKey: "a"))
    for total in 2...3 { try await device.send { order.total = total } }
    try await device.send { try device.delete(order) }
    try await device.send { _ = try device.create(Order.self, value: ["id": "a", "total": 9]) }
    // What everybody has seen is forgotten, but for what the handler has not dealt with.
    try await device.received()
    let path = try #require(StorePath(Shop.path))
    _ = try await shop.stores.purge(path, expiry: .max)
    try await shop.stores.truncateLog(path, through: Seq(100))
    let second = try await run()
    try await second.caughtUp(shop)
    await second.end()
    #expect(
      calls.all == [
        "modify ann [1 new - [] true] [2 new - [] true]", "modify ann [2 new - [] true] [3 new - [] true]",
        "delete ann [3 new - [] true] [nil]", "insert ann [nil] [9 new - [] true]",
      ])
  }

  @Test func aNewHandlerBeginsWithWhatComesAndLaterStoresAtTheirBeginning() async throws {
    let shop = Shop()
    let device = try await shop.open()
    try await device.send { _ = try device.create(Order.self, value: ["id": "old"]) }
    let calls = Calls()
    func run() async throws -> RunningEvents {
      let events = shop.events()
      try await events.on(store: "/*/shop", Order.self, named: "billing") { change, _ in
        calls.note("\(change.store) \(change.new?.total ?? 0)")
      }
      return RunningEvents(events)
    }
    let first = try await run()
    try await first.caughtUp(shop)
    await first.end()
    // A store that is made while nobody runs the handler.
    let own = try await shop.open(path: "/~/shop")
    try await own.send { _ = try own.create(Order.self, value: ["id": "new", "total": 7]) }
    let other = try await shop.open(path: "/~/other")
    try await other.send { _ = try other.create(Order.self, value: ["id": "else", "total": 8]) }
    let second = try await run()
    try await second.caughtUp(shop, path: "/ann/shop")
    await second.end()
    #expect(calls.all == ["/ann/shop 7"])
  }

  @Test func aConditionChoosesByTheStateBeforeOrAfter() async throws {
    let shop = Shop()
    let device = try await shop.open()
    let (events, calls) = (shop.events(), Calls())
    try await events.on(store: Shop.path, Order.self, named: "billing", where: { $0.total > 10 }) { change, _ in
      calls.note("\(change.kind) \(change.old?.total ?? -1) \(change.new?.total ?? -1)")
    }
    let running = RunningEvents(events)
    try await running.caughtUp(shop)
    for total in [5, 11, 12, 3, 4] {
      try await device.send { _ = try device.create(Order.self, value: ["id": "a", "total": total], update: .modified) }
    }
    try await running.caughtUp(shop)
    await running.end()
    #expect(calls.all == ["modify 5 11", "modify 11 12", "modify 12 3"])
  }

  @Test func aChangeOfAnEmbeddedObjectIsOneOfItsOwner() async throws {
    let shop = Shop()
    let device = try await shop.open()
    let (events, calls) = (shop.events(), Calls())
    try await events.on(store: Shop.path, Order.self, named: "billing") { change, _ in
      calls.note("\(change.kind) \(change.old?.address?.street ?? "-") \(change.new?.address?.street ?? "-")")
    }
    let running = RunningEvents(events)
    try await running.caughtUp(shop)
    try await device.send { _ = try device.create(Order.self, value: ["id": "a", "address": ["street": "High"]]) }
    try await device.send { device.object(Order.self, forPrimaryKey: "a")?.address?.street = "Low" }
    try await running.caughtUp(shop)
    await running.end()
    #expect(calls.all == ["insert - High", "modify High Low"])
  }

  @Test func aHandlerThatCannotBeIsRefusedWithWhatHelps() async throws {
    let events = Shop().events()
    await #expect(throws: ServerEventError.self) { try await events.on(store: "shop", Order.self, named: "a") { _, _ in } }
    await #expect(throws: ServerEventError.self) { try await events.on(store: "/*", Order.self, named: "a/b") { _, _ in } }
    try await events.on(store: "/*", Order.self, named: "a") { _, _ in }
    let error = await #expect(throws: ServerEventError.self) {
      try await events.on(store: "/*", Customer.self, named: "a") { _, _ in }
    }
    #expect(error?.description.contains("name of its own") == true)
    // An order links to customers.
    let few = ServerEvents(MemoryServerStore(), models: Invoice.self)
    let lacking = await #expect(throws: ServerEventError.self) { try await few.on(store: "/*", Order.self, named: "a") { _, _ in } }
    #expect(lacking?.description.contains("links to") == true)
  }
}
