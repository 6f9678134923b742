import ServerStoreForwarding
import SyncEvents
import SyncServer
import Synchronization
import Testing
import Vivarium

extension ServerEventsTests {
  @Test func aHandlerThatTakesLongerThanItsLeaseToBeginKeepsIt() async throws { try await beginsSlowly { _ in } }

  @Test func aHandlerThatTakesLongerThanItsLeaseToBeginKeepsItThoughARenewalFails() async throws {
    let left = Mutex(1)
    try await beginsSlowly { (_: StorePath) throws(ServerStoreError) in
      let isOutOfReach = left.withLock { left in
        left -= 1
        return left >= 0
      }
      if isOutOfReach { throw ServerStoreError(.unavailable, "It is not in reach.") }
    }
    let rest = left.withLock { $0 }
    #expect(rest < 0)
  }

  /// - Parameter willRenew: what comes before renewals while the handler begins.
  private func beginsSlowly(willRenew: @escaping @Sendable (StorePath) throws(ServerStoreError) -> Void) async throws {
    let renewals = Renewals()
    let stores = FaultyStores(
      MemoryServerStore(), nil, willReadPast: { await renewals.pastTheFirstLease() },
      willRenew: { (path: StorePath) throws(ServerStoreError) in
        if renewals.isAwaited.withLock({ $0 }), path.text == Shop.path { try willRenew(path) }
      }, hasRenewed: { renewals.note() })
    let shop = Shop(stores)
    let device = try await shop.open()
    let calls = Calls()
    func run() async throws -> RunningEvents {
      let events = shop.events(clock: { renewals.time }) { $0.lease = .milliseconds(Renewals.lease) }
      try await events.on(store: Shop.path, Order.self, named: "billing") { change, _ in calls.note("\(change.new?.total ?? 0)") }
      return RunningEvents(events)
    }
    let first = try await run()
    try await first.caughtUp(shop)
    try await device.send { _ = try device.create(Order.self, value: ["id": "a", "total": 1]) }
    try await first.caughtUp(shop)
    await first.end()
    try await device.send { _ = try device.create(Order.self, value: ["id": "b", "total": 2]) }
    // From now on the state of a store comes when the lease would have ended without renewals, and not before.
    renewals.isAwaited.withLock { $0 = true }
    let second = try await run()
    try await second.caughtUp(shop)
    await second.end()
    #expect(calls.all == ["1", "2"])
  }

  @Test func aHandlerThatMayHoldNoStoreInMemoryWorksAllTheSame() async throws {
    let shop = Shop()
    let paths = [Shop.path, "/shared/market"]
    let devices = [try await shop.open(path: paths[0]), try await shop.open(path: paths[1])]
    let (events, calls) = (shop.events { $0.storesInMemory = 0 }, Calls())
    try await events.on(store: "/shared/*", Order.self, named: "billing") { change, _ in calls.note("\(change.new?.total ?? 0)") }
    let running = RunningEvents(events)
    for path in paths { try await running.caughtUp(shop, path: path) }
    for total in 1...4 {
      let device = devices[total % 2]
      try await device.send { _ = try device.create(Order.self, value: ["id": "\(total)", "total": total]) }
      try await running.caughtUp(shop, path: paths[total % 2])
    }
    await running.end()
    #expect(calls.all == ["1", "2", "3", "4"])
  }

  @Test func aProcessThatStartsTakesUpOnlyTheStoresThatHaveNews() async throws {
    let (claims, calls) = (Calls(), Calls())
    let stores = FaultyStores(MemoryServerStore(), nil, willClaim: { claims.note($0.text) })
    let shop = Shop(stores)
    let paths = [Shop.path, "/shared/market"]
    let devices = [try await shop.open(path: paths[0]), try await shop.open(path: paths[1])]
    func run() async throws -> RunningEvents {
      let events = shop.events()
      try await events.on(store: "/shared/*", Order.self, named: "billing") { change, _ in calls.note("\(change.new?.total ?? 0)") }
      return RunningEvents(events)
    }
    let first = try await run()
    for (path, device) in zip(paths, devices) {
      try await first.caughtUp(shop, path: path)
      try await device.send { _ = try device.create(Order.self, value: ["id": "a", "total": 1]) }
      try await first.caughtUp(shop, path: path)
    }
    await first.end()
    try await devices[1].send { _ = try devices[1].create(Order.self, value: ["id": "b", "total": 2]) }
    let before = claims.all.count
    // The sessions of devices follow their stores too.
    let sessions = stores.followers.withLock { $0 }
    let second = try await run()
    for path in paths { try await second.caughtUp(shop, path: path) }
    // A store that may leave out what it is not asked for tells of the one without news too.
    let idle = try #require(StorePath(Shop.path))
    #expect(stores.followers.withLock { $0[idle] } == (sessions[idle] ?? 0) + 1)
    await second.end()
    #expect(stores.followers.withLock { $0 } == sessions)
    #expect(claims.all.dropFirst(before) == ["/shared/market"])
    #expect(calls.all == ["1", "1", "2"])
  }
}

/// A clock that goes on with renewals alone, each by less than a lease; who waits for it to pass a lease waits for the second.
private final class Renewals: Sendable {
  /// In milliseconds.
  static let lease: Int64 = 60
  let isAwaited = Mutex(false)
  private let state = Mutex((time: 1_000 as Int64, waiters: [] as [CheckedContinuation<Void, Never>]))

  var time: Int64 { state.withLock { $0.time } }

  func pastTheFirstLease() async {
    guard isAwaited.withLock({ $0 }) else { return }
    await withCheckedContinuation { waiter in state.withLock { $0.waiters.append(waiter) } }
    if time <= 1_000 + Renewals.lease { await pastTheFirstLease() }
  }

  func note() {
    guard isAwaited.withLock({ $0 }) else { return }
    let all = state.withLock { state in
      state.time += Renewals.lease * 2 / 3
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in all { waiter.resume() }
  }
}
