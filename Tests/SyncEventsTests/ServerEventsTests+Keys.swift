import Foundation
import StorageMemory
import StoreMessages
import SyncClient
import SyncEvents
import SyncServer
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// What is asked without a primary key: each file gives it a key of its own.
@Model final class Slip: Message {
  @Indexed var status: MessageStatus = .notProcessed
  var statusCode: Int?
  var statusMessage: String?
  var createdAt = Date()
  var updatedAt = Date()
  var text = ""
}

/// The keys with which each object came.
private final class SeenKeys: Sendable {
  private let keys = Mutex<[String: Set<String>]>([:])

  var all: [String: Set<String>] { keys.withLock { $0 } }
  func note(_ key: String, of name: String) { keys.withLock { _ = $0[name, default: []].insert(key) } }
}

extension ServerEventsTests {
  private struct Refused: Error {}

  /// One holder has followed the log, and another one begins at a state of the store, whose objects are in another order.
  @Test func aChangeHasOneKeyForEveryHolder() async throws {
    let shop = Shop()
    let device = try await shop.open()
    let (seen, called) = (SeenKeys(), AsyncSignal())
    func run(fails: Bool) async throws -> RunningEvents {
      let events = shop.events { ($0.firstDelay, $0.longestDelay) = (.seconds(100), .seconds(100)) }
      try await events.on(
        store: Shop.path, Order.self, named: "billing",
        outside: { change in
          guard change.kind == .modify else { return { _ in } }
          seen.note(change.idempotencyKey, of: change.new?.owner ?? "")
          return { _ in
            called.fire()
            if fails { throw Refused() }
          }
        })
      return RunningEvents(events)
    }
    let names = ["h", "g", "f", "e", "d", "c", "b", "a"]
    let first = try await run(fails: true)
    try await first.caughtUp(shop)
    try await device.send { for name in names { _ = try device.create(Order.self, value: ["id": name, "owner": name]) } }
    try await first.caughtUp(shop)
    try await device.send { for order in device.objects(Order.self) { order.total += 1 } }
    await called.wait()
    await first.end()
    let second = try await run(fails: false)
    try await second.caughtUp(shop)
    await second.end()
    let keys = names.compactMap { seen.all[$0] }
    #expect(keys.map(\.count) == names.map { _ in 1 })
    #expect(Set(keys.flatMap(\.self)).count == names.count)
  }

  @Test func aMessageThatWaitsHasOneKeyForEveryHolder() async throws {
    let shop = Shop()
    var configuration = Store.Configuration.memory(UUID().uuidString)
    configuration.models = [Slip.self]
    configuration.sync = SyncConfiguration(user: FixedToken("ann"), path: Shop.path, connector: HostConnector(host: shop.host))
    let phone = try Store(configuration)
    try await phone.send { for text in ["one", "two", "three"] { _ = try phone.create(Slip.self, value: ["text": text]) } }
    let seen = SeenKeys()
    for round in 0..<3 {
      let called = AsyncSignal()
      let events = ServerEvents(shop.stores, models: Slip.self)
      try await events.answer(
        store: Shop.path, Slip.self, named: "answers",
        outside: { change in
          seen.note(change.idempotencyKey, of: change.new?.text ?? "")
          return { _, _ in
            called.fire()
            throw Refused()
          }
        })
      let running = RunningEvents(events)
      await called.wait()
      await running.end()
      // The next holder begins before this, and the last one after it.
      if round == 0 { try await phone.send { try phone.delete(Array(phone.objects(Slip.self).prefix(1))) } }
    }
    #expect(seen.all.mapValues(\.count) == ["one": 1, "two": 1, "three": 1])
    #expect(Set(seen.all.values.flatMap(\.self)).count == 3)
  }
}
