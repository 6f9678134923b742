import SyncEvents
import SyncServer
import Synchronization
import Testing
import Vivarium

extension ServerEventsTests {
  @Test func aHandlerThatTakesLongerThanItsLeaseToBeginKeepsIt() async throws {
    let renewals = Renewals()
    let stores = FaultyStores(
      MemoryServerStore(), nil, willReadPast: { await renewals.next() }, hasRenewed: { renewals.note() })
    let shop = Shop(stores)
    let device = try await shop.open()
    let calls = Calls()
    func run() async throws -> RunningEvents {
      let events = shop.events { $0.lease = .seconds(6) }
      try await events.on(store: Shop.path, Order.self, named: "billing") { change, _ in calls.note("\(change.new?.total ?? 0)") }
      return RunningEvents(events)
    }
    let first = try await run()
    try await first.caughtUp(shop)
    try await device.send { _ = try device.create(Order.self, value: ["id": "a", "total": 1]) }
    try await first.caughtUp(shop)
    await first.end()
    try await device.send { _ = try device.create(Order.self, value: ["id": "b", "total": 2]) }
    // From now on the state of a store comes when the lease was renewed meanwhile, and not before.
    renewals.isAwaited.withLock { $0 = true }
    let second = try await run()
    try await second.caughtUp(shop)
    await second.end()
    #expect(calls.all == ["1", "2"])
  }
}

/// Lets go who waits for a renewal when there is one.
private final class Renewals: Sendable {
  let isAwaited = Mutex(false)
  private let waiters = Mutex<[CheckedContinuation<Void, Never>]>([])

  func next() async {
    guard isAwaited.withLock({ $0 }) else { return }
    await withCheckedContinuation { waiter in waiters.withLock { $0.append(waiter) } }
  }

  func note() {
    let all = waiters.withLock { waiters in
      defer { waiters = [] }
      return waiters
    }
    for waiter in all { waiter.resume() }
  }
}
