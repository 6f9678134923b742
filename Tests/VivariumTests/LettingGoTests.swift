import Dispatch
import Foundation
import StorageInterface
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

/// What a store has for observers of every kind.
private struct Town {
  let store: Store
  let person = Person(name: "Jane", age: 30)
  let dog = Dog(name: "Rex", age: 3)
  let shop = Shop()
  let clerk = Clerk(name: "Ann")
  let settings = Everything()

  init(queue: DispatchQueue? = nil) throws {
    var configuration = StoreConfiguration.reference(
      nil,
      models: [Person.self, Dog.self, Everything.self, Shop.self, Clerk.self, Place.self, Room.self, Letter.Live.self])
    configuration.manualDelivery = true
    store = try queue.map { try Store(configuration, queue: $0) } ?? Store(configuration, isolation: nil)
    person.dogs = [dog]
    shop.tags = ["a"]
    shop.staff["first"] = clerk
    try store.write {
      for object in [person, shop, settings] as [any Model] { try store.add(any: object) }
      try store.add([Letter(id: 1)])
    }
    store.refresh()
  }
}

extension Store {
  fileprivate func add(any object: any Model) throws {
    func opened<T: Model>(_ object: T) throws { try add(object) }
    try opened(object)
  }
}

@ValueModel private struct Letter: Equatable {
  @PrimaryKey var id: Int
  var text = ""
}

/// Is there as long as the block that captures it.
private final class Witness: Sendable {
  private let gone: @Sendable () -> Void

  init(_ gone: @escaping @Sendable () -> Void) { self.gone = gone }
  deinit { gone() }
}

/// Blocks that capture what leads back to their store, and tokens that are stopped: nothing of it stays.
@Suite struct LettingGoTests {
  /// Begins an observation whose block captures the witness and what leads to the store, stops it, and says what stays: the block's
  /// captures are gone with `stop()`, and the store as soon as nobody refers to it.
  private func expectGone(
    _ name: String, sourceLocation: SourceLocation = #_sourceLocation, _ begin: (Town, Witness) throws -> NotificationToken
  ) throws {
    weak var known: Store?
    do {
      let town = try Town()
      let gone = Signal()
      let token = try begin(town, Witness { gone.fire() })
      town.store.refresh()
      #expect(gone.count == 0, "\(name): the block", sourceLocation: sourceLocation)
      token.stop()
      #expect(gone.count == 1, "\(name): the block", sourceLocation: sourceLocation)
      known = town.store
    }
    #expect(known == nil, "\(name): the store", sourceLocation: sourceLocation)
  }

  @Test func aStoreThatTakesNoTurnsGoesWithItsLastToken() throws {
    try expectGone("results") { town, witness in
      let people = town.store.objects(Person.self)
      return people.observe { _ in _ = (people.count, witness) }
    }
    try expectGone("store") { town, witness in town.store.observe { _, _ in _ = (town.person.name, witness) } }
    try expectGone("object") { town, witness in town.person.observe { _ in _ = (town.person.name, witness) } }
    try expectGone("property") { town, witness in town.person.observe(\.name) { _, _ in _ = (town.person.age, witness) } }
    try expectGone("paths") { town, witness in
      try town.person.observe(paths: ["name", "age"]) { _, _, _ in _ = (town.person.age, witness) }
    }
    try expectGone("number") { town, witness in
      town.store.objects(Person.self).observe(.count) { _ in _ = (town.person.name, witness) }
    }
  }

  @Test func soItDoesWithThatOfACollection() throws {
    try expectGone("list") { town, witness in town.person.dogs.observe { _ in _ = (town.person.name, witness) } }
    try expectGone("list of values") { town, witness in town.person.scores.observe { _ in _ = (town.person.name, witness) } }
    try expectGone("set") { town, witness in town.shop.tags.observe { _ in _ = (town.shop.price, witness) } }
    try expectGone("set of objects") { town, witness in town.shop.friends.observe { _ in _ = (town.shop.price, witness) } }
    try expectGone("map") { town, witness in town.shop.phones.observe { _ in _ = (town.shop.price, witness) } }
    try expectGone("map of objects") { town, witness in town.shop.staff.observe { _ in _ = (town.shop.price, witness) } }
    try expectGone("inverse") { town, witness in town.dog.owners.observe { _ in _ = (town.dog.name, witness) } }
    try expectGone("inverse of a map") { town, witness in town.clerk.shops.observe { _ in _ = (town.clerk.name, witness) } }
  }

  @Test func soItDoesWithThatOfOtherResults() throws {
    try expectGone("filtered") { town, witness in
      let tested = town.store.objects(Person.self).filter(reading: [\.age]) { $0.age > 1 }
      return tested.observe { _ in _ = (tested.count, town.person.name, witness) }
    }
    try expectGone("bound") { town, witness in
      let bound = town.store.objects(Dog.self).filter(bind: town.settings, \.flag) { dog, hides in hides ? dog.age > 2 : nil }
      return bound.observe { _ in _ = (bound.count, town.settings.flag, witness) }
    }
    try expectGone("projected") { town, witness in
      let cards = town.store.objects(Person.self).projected(to: PersonCard.self)
      return cards.observe { _ in _ = (cards.count, town.person.name, witness) }
    }
    try expectGone("values") { town, witness in
      let letters = town.store.values(Letter.self)
      return letters.observe { _ in _ = (letters.count, town.person.name, witness) }
    }
    try expectGone("one value") { town, witness in
      town.store.observe(Letter.self, forPrimaryKey: 1) { _ in _ = (town.person.name, witness) }
    }
    try expectGone("dynamic") { town, witness in
      let people = try town.store.dynamicObjects("Person")
      return people.observe { _ in _ = (people.count, witness) }
    }
    try expectGone("with old values") { town, witness in
      let people = town.store.objects(Person.self)
      return people.observe(options: ObservationOptions(includingOldValues: true)) { _ in _ = (people.count, witness) }
    }
    try expectGone("window") { town, witness in
      let people = town.store.objects(Person.self).sorted(by: \.name).limited(to: 1)
      return people.observe { _ in _ = (people.count, witness) }
    }
  }

  /// The queue's next turn ends the observation.
  @Test func aBlockOnAQueueGoesWithItsToken() throws {
    let queue = DispatchQueue(label: "letting go")
    let town = try Town()
    func expectGone(_ name: String, _ begin: (Witness) -> NotificationToken) {
      let gone = Signal()
      let token = begin(Witness { gone.fire() })
      queue.sync {}
      #expect(gone.count == 0, "\(name)")
      token.stop()
      #expect(gone.wait(), "\(name)")
    }
    let cards = town.store.objects(Person.self).projected(to: PersonCard.self)
    let bound = town.store.objects(Dog.self).filter(bind: town.settings, \.flag) { dog, hides in hides ? dog.age > 2 : nil }
    expectGone("results") { witness in town.store.objects(Person.self).observe(on: queue) { _ in _ = witness } }
    expectGone("object") { witness in town.person.observe(on: queue) { _ in _ = witness } }
    expectGone("list") { witness in town.person.dogs.observe(on: queue) { _ in _ = witness } }
    expectGone("set") { witness in town.shop.tags.observe(on: queue) { _ in _ = witness } }
    expectGone("map") { witness in town.shop.staff.observe(on: queue) { _ in _ = witness } }
    expectGone("inverse") { witness in town.dog.owners.observe(on: queue) { _ in _ = witness } }
    expectGone("bound") { witness in bound.observe(on: queue) { _ in _ = witness } }
    expectGone("projected") { witness in cards.observe(on: queue) { _ in _ = witness } }
    expectGone("values") { witness in town.store.values(Letter.self).observe(on: queue) { _ in _ = witness } }
  }

  @Test(.timeLimit(.minutes(5))) func soDoesOneWhoseActorIsGone() async throws {
    let gone = AsyncSignal()
    let token = try await Keeper().begin(Witness { gone.fire() })
    // The actor may have a turn to take yet, and is gone after that.
    token.stop()
    await gone.wait()
  }

  /// A stream has no token: its iterator ends it.
  @MainActor @Test func aStoreGoesWithItsLastStream() async throws {
    weak var known: Store?
    do {
      let store = try Store(makeConfiguration())
      known = store
      try store.write { try store.add(Person(name: "Jane")) }
      let iterator = store.objects(Person.self).changes.makeAsyncIterator()
      let first = await iterator.next(isolation: #isolation)
      #expect(first?.collection?.count == 1)
    }
    #expect(known == nil)
  }
}

/// An actor with a store of its own.
private actor Keeper {
  private var store: Store?

  func begin(_ witness: Witness) throws -> NotificationToken {
    let store = try Store(makeConfiguration())
    self.store = store
    let people = store.objects(Person.self)
    return people.observe { _ in _ = (people.count, witness) }
  }
}
