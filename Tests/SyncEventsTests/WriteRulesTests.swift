import Foundation
import StorageMemory
import SyncClient
import SyncModel
import SyncProtocol
import SyncServer
import Synchronization
import Testing
import Vivarium

/// A server with rules of its own for what is written.
@MainActor @Suite(.timeLimit(.minutes(15))) struct WriteRulesTests {
  private let stores = MemoryServerStore()

  /// Only who is named in an order's customer changes it.
  private let rules: WriteRules = { path, transaction in
    for object in transaction.objects where object.className == Name("Order") {
      let owner = transaction.before(object)?["status"] ?? transaction.after(object)?["status"]
      if owner != .string(transaction.user) { return Verdict(.writeDenied, "An order is changed by who has made it.") }
    }
    return nil
  }

  private func device(_ user: String, _ host: SyncHost) throws -> Store {
    var configuration = Store.Configuration.memory(UUID().uuidString)
    configuration.models = [Order.self, Customer.self, Address.self, Invoice.self]
    configuration.sync = SyncConfiguration(user: FixedToken(user), path: Shop.path, connector: HostConnector(host: host))
    return try Store(configuration)
  }

  @Test func whatTheRulesRefuseIsUndoneWithAReasonAndNothingElse() async throws {
    let host = SyncHost(stores: stores, access: OpenAccess(), rules: rules)
    let (ann, bob) = (try device("ann", host), try device("bob", host))
    try await ann.send { _ = try ann.create(Order.self, value: ["id": "a", "status": "ann", "total": 1]) }
    try await bob.received()
    let sync = try #require(bob.sync)
    let notices = await sync.notices()
    let order = try #require(bob.object(Order.self, forPrimaryKey: "a"))
    try bob.write { order.total = 2 }
    try bob.write { _ = try bob.create(Customer.self, value: ["id": "c", "name": "Bob"]) }
    try await sync.uploaded()
    for await case .problem(let error) in notices {
      #expect(error.code == .writeDenied && error.text == "An order is changed by who has made it.")
      break
    }
    try await bob.received()
    #expect(order.total == 1)
    // Nor may he take it, nor delete it; and what else he wrote is there.
    try bob.write { order.status = "bob" }
    try bob.write { try bob.delete(order) }
    try await sync.uploaded()
    try await ann.received()
    #expect(ann.objects(Order.self).map(\.status) == ["ann"])
    #expect(ann.objects(Customer.self).map(\.name) == ["Bob"])
  }

  @Test("An object that is deleted does not exist after its transaction, nor before the one that makes it again")
  func rulesSeeNothingOfWhatIsDeleted() async throws {
    let seen = Mutex<[String]>([])
    let host = SyncHost(stores: stores, access: OpenAccess()) { _, transaction in
      let states = transaction.objects.map { "\(transaction.before($0) != nil) \(transaction.after($0) != nil)" }
      seen.withLock { $0 += states }
      return nil
    }
    let ann = try device("ann", host)
    try await ann.send { _ = try ann.create(Order.self, value: ["id": "a"]) }
    let order = try #require(ann.object(Order.self, forPrimaryKey: "a"))
    try await ann.send { try ann.delete(order) }
    try await ann.send { _ = try ann.create(Order.self, value: ["id": "a"]) }
    #expect(seen.withLock { $0 } == ["false true", "true false", "false true"])
  }
}
