import Foundation
import StorageMemory
import SyncClient
import SyncEvents
import SyncModel
import SyncProtocol
import SyncServer
import Synchronization
import Vivarium

@Model final class Order {
  @PrimaryKey var id = ""
  var total = 0
  var status = "new"
  var owner = ""
  var customer: Customer?
  var lines: LiveList<String>
  var address: Address?
}

@Model final class Customer {
  @PrimaryKey var id = ""
  var name = ""
}

@Model(.embedded) final class Address {
  var street = ""
}

/// What a handler makes of an order; how often it did shows.
@Model final class Invoice {
  @PrimaryKey var order = ""
  var total = 0
  var count = 0
}

/// Reaches a host within the process.
struct HostConnector: SyncConnector {
  let host: SyncHost

  func connect() async throws(TransportError) -> any SyncTransport {
    let (here, there) = MemoryTransport.pair()
    Task { await host.serve(there) }
    return here
  }
}

/// A server in the process, and devices of it.
@MainActor struct Shop {
  nonisolated static let path = "/shared/shop"
  let stores: any SyncServerStore
  let host: SyncHost

  let wallClock: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }

  init(_ stores: any SyncServerStore = MemoryServerStore()) {
    self.stores = stores
    host = SyncHost(stores: stores, access: OpenAccess())
  }

  func device(_ user: String = "ann", path: String = Shop.path) throws -> Store {
    var configuration = Store.Configuration.memory(UUID().uuidString)
    configuration.models = [Order.self, Customer.self, Address.self, Invoice.self]
    configuration.sync = SyncConfiguration(user: FixedToken(user), path: path, connector: HostConnector(host: host))
    return try Store(configuration)
  }

  /// Makes the store, so that it is there before anybody handles its events.
  @discardableResult func open(path: String = Shop.path) async throws -> Store {
    let device = try device(path: path)
    try await device.sync?.downloaded()
    return device
  }

  func events(_ change: (inout ServerEvents.Options) -> Void = { _ in }) -> ServerEvents { events(clock: wallClock, change) }

  func events(clock: @escaping @Sendable () -> Int64, _ change: (inout ServerEvents.Options) -> Void) -> ServerEvents {
    var options = ServerEvents.Options()
    (options.firstDelay, options.longestDelay, options.pause) = (.milliseconds(2), .milliseconds(20), .milliseconds(20))
    // Longer than a busy machine stands still: who loses a lease calls its handler again.
    options.lease = .seconds(3_600)
    change(&options)
    return ServerEvents(stores, models: Order.self, Customer.self, Address.self, Invoice.self, options: options, clock: clock)
  }
}

extension Store {
  /// In a write that the server then has.
  @MainActor func send(_ body: () throws -> Void) async throws {
    try write { try body() }
    try await sync?.uploaded()
  }

  @MainActor func received() async throws {
    try await sync?.downloaded()
    refresh()
  }
}

/// Handlers that run, until they are ended.
struct RunningEvents {
  let task: Task<Void, Never>
  private let notices: AsyncStream<ServerEventNotice>
  private let dealt = Dealt()

  init(_ events: ServerEvents) {
    notices = events.notices()
    task = Task { await events.run() }
  }

  /// Returns when a handler has dealt with all that a store's log has.
  func caughtUp(_ shop: Shop, handler: String = "billing", path: String = Shop.path) async throws {
    let path = StorePath(path).unsafelyUnwrapped  // the tests' own
    func isThere() async throws -> Bool {
      guard let number = dealt.number(handler, path) else { return false }
      return try await shop.stores.heads([path])[path].map { number >= $0.rawValue } ?? false
    }
    if try await isThere() { return }
    for await notice in notices {
      guard case .dealt(let name, let store, let number) = notice else { continue }
      dealt.note(name, store, number)
      if try await isThere() { return }
    }
  }

  /// Ends them, as a process that is told to.
  func end() async {
    task.cancel()
    await task.value
  }
}

/// What handlers were called with.
final class Calls: Sendable {
  private let lines = Mutex<[String]>([])
  var all: [String] { lines.withLock { $0 } }
  @discardableResult func note(_ line: String) -> Int {
    lines.withLock { lines in
      lines.append(line)
      return lines.count
    }
  }
}

/// Up to where handlers have said that they are.
private final class Dealt: Sendable {
  private let numbers = Mutex<[String: UInt64]>([:])

  func note(_ handler: String, _ path: StorePath, _ number: UInt64) {
    numbers.withLock { $0["\(handler) \(path)"] = number }
  }

  func number(_ handler: String, _ path: StorePath) -> UInt64? { numbers.withLock { $0["\(handler) \(path)"] } }
}
