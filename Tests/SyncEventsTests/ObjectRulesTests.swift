import Foundation
import StorageMemory
import SyncClient
import SyncEvents
import SyncModel
import SyncProtocol
import SyncServer
import Testing
import Vivarium

@Model final class Parcel {
  @PrimaryKey var id = ""
  var owner = ""
  var weight = 0
  var stamp: String?
  var tags: LiveList<String>
  var names: LiveMap<String>
  var place: Address?
  var stops: LiveList<Address>
  var sender: Customer?
  var loose: AnyValue
  var double: Int { weight * 2 }
}

/// Without a primary key: it is known by who made it.
@Model final class Remark {
  var owner = ""
  var text = ""
}

/// Who may write which objects, as queries over object and user.
@MainActor @Suite(.timeLimit(.minutes(15))) struct ObjectRulesTests {
  private static let path = "/shared/post"

  private func rules() throws -> ObjectRules { try ObjectRules(models: Parcel.self, Customer.self, Address.self, Remark.self) }

  private func device(_ user: String, _ host: SyncHost, path: String = path) throws -> Store {
    var configuration = Store.Configuration.memory(UUID().uuidString)
    configuration.models = [Parcel.self, Customer.self, Address.self, Remark.self]
    configuration.sync = SyncConfiguration(user: FixedToken(user), path: path, connector: HostConnector(host: host))
    return try Store(configuration)
  }

  private func host(_ rules: ObjectRules) -> SyncHost {
    SyncHost(stores: MemoryServerStore(), access: OpenAccess(), rules: rules.judge)
  }

  @Test func `An object is written by whom the condition lets, before and after`() async throws {
    var rules = try rules()
    try rules.require(Parcel.self, in: "/shared/*", "It is another's.") { parcel, user in parcel.owner == user }
    let host = host(rules)
    let (ann, bob) = (try device("ann", host), try device("bob", host))
    func parcel(_ store: Store) throws -> Parcel { try #require(store.object(Parcel.self, forPrimaryKey: "p")) }
    try await ann.send { _ = try ann.create(Parcel.self, value: ["id": "p", "owner": "ann", "weight": 1]) }
    try await bob.received()

    try await bob.isRefused("It is another's.") { try parcel(bob).weight = 2 }
    try await bob.isRefused("It is another's.") { try parcel(bob).owner = "bob" }
    try await bob.isRefused("It is another's.") { try bob.delete(try parcel(bob)) }
    try await bob.isRefused("It is another's.") { _ = try bob.create(Parcel.self, value: ["id": "q", "owner": "ann"]) }
    try await ann.isRefused("It is another's.") { try parcel(ann).owner = "bob" }
    #expect(try parcel(bob).weight == 1 && parcel(ann).owner == "ann")
    #expect(bob.objects(Parcel.self).count == 1)

    // What the rule allows, and types without one.
    try await bob.send { _ = try bob.create(Parcel.self, value: ["id": "b", "owner": "bob"]) }
    try await bob.send { _ = try bob.create(Remark.self, value: ["owner": "ann"]) }
    try await ann.send { try parcel(ann).weight = 3 }
    try await ann.send { try ann.delete(try parcel(ann)) }
    try await bob.received()
    #expect(bob.objects(Parcel.self).map(\.id) == ["b"] && bob.objects(Remark.self).count == 1)
  }

  @Test func `A text says the same, also of objects without a primary key`() async throws {
    var rules = try rules()
    try rules.require(Remark.self, in: ObjectRulesTests.path, "Sign it.", format: "owner == $USER AND text != '' OR owner == 'all'")
    let host = host(rules)
    let (ann, bob) = (try device("ann", host), try device("bob", host))
    try await ann.isRefused("Sign it.") { _ = try ann.create(Remark.self, value: ["owner": "ann"]) }
    try await ann.send { _ = try ann.create(Remark.self, value: ["owner": "ann", "text": "a"]) }
    try await bob.send { _ = try bob.create(Remark.self, value: ["owner": "all"]) }
    try await bob.received()
    let remark = try #require(bob.objects(Remark.self).where { $0.owner == "ann" }.first)
    try await bob.isRefused("Sign it.") { remark.text = "b" }
    #expect(remark.text == "a")
  }

  @Test func `A condition reads embedded objects and collections of the object as they were`() async throws {
    var rules = try rules()
    try rules.require(
      Parcel.self, in: "/shared/post", "Not to there.",
      format: "place.street == $USER AND ANY stops.street == 'a' AND tags.@count == 2 AND names['x'] == 'y'")
    let host = host(rules)
    let ann = try device("ann", host)
    let whole: [String: Any] = [
      "id": "p", "place": ["street": "ann"], "stops": [["street": "b"], ["street": "a"]], "tags": ["1", "2"], "names": ["x": "y"],
    ]
    try await ann.send { _ = try ann.create(Parcel.self, value: whole) }
    let parcel = try #require(ann.object(Parcel.self, forPrimaryKey: "p"))
    try await ann.send { parcel.weight = 1 }
    try await ann.isRefused("Not to there.") { parcel.place?.street = "bob" }
    try await ann.isRefused("Not to there.") { parcel.place = nil }
    try await ann.isRefused("Not to there.") { parcel.stops.remove(at: 1) }
    try await ann.isRefused("Not to there.") { parcel.tags.append("3") }
    try await ann.isRefused("Not to there.") { parcel.names["x"] = "z" }
    #expect(parcel.place?.street == "ann" && parcel.stops.map(\.street) == ["b", "a"] && Array(parcel.tags) == ["1", "2"])
    #expect(parcel.names["x"] == "y" && parcel.weight == 1)
  }

  @Test func `All conditions of a type must hold, each in the stores of its pattern`() async throws {
    var rules = try rules()
    try rules.require(Parcel.self, in: "/shared/*", "Too heavy.") { parcel, _ in parcel.weight <= 10 }
    try rules.require(Parcel.self, in: "/shared/post", "No stamp.") { parcel, _ in parcel.stamp != nil }
    let host = host(rules)
    let (post, other) = (try device("ann", host), try device("ann", host, path: "/shared/other"))
    try await post.isRefused("No stamp.") { _ = try post.create(Parcel.self, value: ["id": "a"]) }
    try await post.isRefused("Too heavy.") { _ = try post.create(Parcel.self, value: ["id": "a", "stamp": "s", "weight": 11]) }
    try await post.send { _ = try post.create(Parcel.self, value: ["id": "a", "stamp": "s"]) }
    try await other.send { _ = try other.create(Parcel.self, value: ["id": "a"]) }
    try await other.isRefused("Too heavy.") { _ = try other.create(Parcel.self, value: ["id": "b", "weight": 11]) }
  }

  @Test func `The page's rules go together with a closure`() async throws {
    let (stores, access) = (MemoryServerStore(), OpenAccess())
    var rules = try ObjectRules(models: Order.self, Customer.self, Address.self)
    try rules.require(Order.self, in: "/*/orders", "An order is changed by who has made it.") { order, user in order.owner == user }
    try rules.require(Customer.self, in: "/shared/*", "Nobody is renamed by others.", format: "name == $USER")
    let host = SyncHost(stores: stores, access: access, rules: rules.judge)
    let ann = try shopper(host)
    try await ann.isRefused("An order is changed by who has made it.") { _ = try ann.create(Order.self, value: ["id": "a"]) }
    try await ann.isRefused("Nobody is renamed by others.") { _ = try ann.create(Customer.self, value: ["id": "c", "name": "Bob"]) }
    try await ann.send { _ = try ann.create(Customer.self, value: ["id": "c", "name": "ann"]) }

    let own: WriteRules = { _, transaction in transaction.objects.count > 2 ? Verdict(.writeDenied, "Too much at once.") : nil }
    let judge = rules.judge
    let other = try shopper(
      SyncHost(stores: stores, access: access) { path, transaction in judge(path, transaction) ?? own(path, transaction) })
    try await other.received()
    try await other.isRefused("An order is changed by who has made it.") { _ = try other.create(Order.self, value: ["id": "a"]) }
    try await other.isRefused("Too much at once.") {
      for id in 0..<3 { _ = try other.create(Order.self, value: ["id": "\(id)", "owner": "ann"]) }
    }
    #expect(other.objects(Order.self).isEmpty && other.objects(Customer.self).count == 1)
  }

  private func shopper(_ host: SyncHost) throws -> Store {
    var configuration = Store.Configuration.memory(UUID().uuidString)
    configuration.models = [Order.self, Customer.self, Address.self]
    configuration.sync = SyncConfiguration(user: FixedToken("ann"), path: "/shared/orders", connector: HostConnector(host: host))
    return try Store(configuration)
  }

  @Test func `Conditions that are wrong or lead out of the object are refused at once`() throws {
    var rules = try rules()
    func refusal(_ body: (inout ObjectRules) throws -> Void) -> String {
      do { try body(&rules) } catch { return "\(error)" }
      return "accepted"
    }
    func refusal(_ format: String) -> String {
      refusal { try $0.require(Parcel.self, in: "/shared/*", "", format: format) }
    }
    for path in ["sender.name == $USER", "sender == nil", "loose == nil", "sender.name == $USER OR TRUEPREDICATE", "NOT (SELF == sender)"] {
      #expect(refusal(path).contains("is not in the object itself"))
    }
    #expect(refusal("nothing == 1").contains("nothing"))
    #expect(refusal("owner == ").contains("The condition for 'Parcel' is none"))
    #expect(refusal("owner == $OTHER").contains("OTHER"))
    #expect(refusal("weight == 'x'").contains("compared with int64"))
    #expect(refusal { try $0.require(Parcel.self, in: "shared", "") { parcel, user in parcel.owner == user } }.contains("no pattern"))
    #expect(refusal { try $0.require(Parcel.self, in: "/x/*", "") { parcel, _ in parcel.sender.name == "x" } }.contains("sender.name"))
    #expect(refusal { try $0.require(Parcel.self, in: "/x/*", "") { parcel, _ in parcel.double == 1 } }.contains("no persisted property"))
    #expect(refusal { try $0.require(Address.self, in: "/x/*", "") { place, _ in place.street == "" } }.contains("embedded"))
    #expect(refusal { try $0.require(Invoice.self, in: "/x/*", "") { invoice, _ in invoice.total == 0 } }.contains("not among them"))
    #expect(throws: ObjectRuleError.self) { try ObjectRules(models: Parcel.self) }
  }

  @Test func `A value that the type cannot hold refuses its transaction`() async throws {
    let judge = try {
      var rules = try rules()
      try rules.require(Parcel.self, in: "/shared/*", "It is another's.") { parcel, user in parcel.owner == user }
      return rules.judge
    }()
    let host = SyncHost(stores: MemoryServerStore(), access: OpenAccess(), rules: judge)
    var configuration = Store.Configuration.memory(UUID().uuidString)
    configuration.models = [Foreign.Parcel.self]
    configuration.sync = SyncConfiguration(user: FixedToken("ann"), path: ObjectRulesTests.path, connector: HostConnector(host: host))
    let store = try Store(configuration)
    let sync = try #require(store.sync)
    let notices = await sync.notices()
    try store.write { _ = try store.create(Foreign.Parcel.self, value: ["id": "p", "owner": "ann", "weight": "heavy"]) }
    for await case .problem(let error) in notices {
      #expect(error.code == .invalidChange && error.text.contains("cannot be judged"))
      break
    }
    try await store.received()
    #expect(store.objects(Foreign.Parcel.self).isEmpty)
  }
}

/// Another program's idea of the same class.
private enum Foreign {
  @Model final class Parcel {
    @PrimaryKey var id = ""
    var owner = ""
    var weight = ""
  }
}

extension Store {
  /// Writes what the server refuses, and waits until it is undone.
  @MainActor fileprivate func isRefused(
    _ reason: String, location: SourceLocation = #_sourceLocation, _ write: () throws -> Void
  ) async throws {
    let sync = try #require(sync)
    let notices = await sync.notices()
    try self.write { try write() }
    for await case .problem(let error) in notices {
      #expect(error.code == .writeDenied && error.text == reason, sourceLocation: location)
      break
    }
    try await received()
  }
}
