import ServerStoreForwarding
import SyncClient
import SyncEvents
import SyncModel
import SyncProtocol
import SyncServer
import Testing
import Vivarium
import VivariumTestSupport

/// Whatever ends in between, each event has its effect once.
@MainActor @Suite(.timeLimit(.minutes(15))) struct RandomEndsTests {
  /// - Parameter lease: short, where what ends in between is to be taken up by another one.
  private func handling(
    _ stores: any SyncServerStore, _ calls: Calls, lease: Duration = .milliseconds(40)
  ) async throws -> ServerEvents {
    var options = ServerEvents.Options()
    (options.firstDelay, options.longestDelay, options.pause) = (.milliseconds(1), .milliseconds(4), .milliseconds(2))
    options.lease = lease
    let events = ServerEvents(
      stores, models: Order.self, Customer.self, Address.self, Invoice.self, options: options)
    try await events.on(store: Shop.path, Order.self, named: "billing") { change, store in
      calls.note(change.idempotencyKey)
      guard let order = change.new else { return }
      let id = "\(order.lines.first ?? "") \(change.number)"
      let invoice =
        try store.object(Invoice.self, forPrimaryKey: id) ?? store.create(Invoice.self, value: ["order": id, "total": order.total])
      invoice.count += 1
    }
    return events
  }

  @Test func eachEventHasItsEffectOnceWhateverEndsInBetween() async throws {
    var random = SeededGenerator.forTest()
    let rounds = 4
    for _ in 0..<rounds {
      let shop = Shop()
      let device = try await shop.open()
      let calls = Calls()
      try await handling(shop.stores, calls).register()
      var written = 0
      for _ in 0..<8 {
        let faulty = FaultyStores(shop.stores, SeededGenerator(seed: random.next()))
        let task = Task { [events = try await handling(faulty, calls)] in await events.run() }
        for _ in 0..<random.below(6) {
          try device.write {
            for _ in 0...random.below(3) {
              let id = "\(random.below(5))"
              _ = try device.create(Order.self, value: ["id": id, "total": written, "lines": [id]], update: .modified)
              written += 1
            }
          }
        }
        try await device.sync?.uploaded()
        // Somewhere within what it does with them.
        for _ in 0..<random.below(400) { await Task.yield() }
        task.cancel()
        if random.oneIn(2) { await task.value }
      }
      // On a busy machine a short lease ends again and again before anything is done.
      let running = RunningEvents(try await handling(shop.stores, calls, lease: .seconds(3_600)))
      try await running.caughtUp(shop)
      await running.end()
      try await device.received()
      let path = try #require(StorePath(Shop.path))
      let log = try await shop.stores.changes(path, for: ReplicaID(1), after: .zero, limitBytes: .max).entries
      let events = log.reduce(0) { (count: Int, entry: LogEntry) -> Int in
        guard case .changeset(_, let changeset) = entry.body, !changeset.author.isHandler else { return count }
        return count + Set(changeset.operations.map(\.object)).count
      }
      #expect(device.objects(Invoice.self).allSatisfy { $0.count == 1 })
      #expect(device.objects(Invoice.self).count == events)
      #expect(calls.all.count >= events)
    }
  }

  /// `KilledHandlerTests` has the same with processes that die.
  @Test func anInsertionHasItsEffectOnceThoughItsHandlerIsEndedWhileItWaitsForAnotherSystem() async throws {
    let shop = Shop()
    let device = try await shop.open()
    let (begun, calls) = (AsyncSignal(), Calls())
    func run(_ name: String, hangs: Bool) async throws -> RunningEvents {
      let events = shop.events { $0.lease = .milliseconds(200) }
      try await events.on(store: Shop.path, Order.self, named: "billing", outside: { change in
        calls.note(change.idempotencyKey)
        if hangs {
          begun.fire()
          // Another system does not answer, until the process is gone.
          for await _ in AsyncStream.makeStream(of: Never.self).stream {}
          throw CancellationError()
        }
        return { store in
          let invoice = try store.create(Invoice.self, value: ["order": name])
          invoice.count += 1
        }
      })
      return RunningEvents(events)
    }
    let first = try await run("first", hangs: true)
    try await first.caughtUp(shop)
    try await device.send { _ = try device.create(Order.self, value: ["id": "a"]) }
    await begun.wait()
    await first.end()
    let second = try await run("second", hangs: false)
    try await second.caughtUp(shop)
    await second.end()
    try await device.received()
    #expect(device.objects(Invoice.self).map(\.order) == ["second"])
    // It was tried again, and a system outside can tell.
    #expect(calls.all.count >= 2 && Set(calls.all).count == 1)
  }
}
