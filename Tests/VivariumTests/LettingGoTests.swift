import StorageInterface
import Testing
import Vivarium
import VivariumTestSupport

/// Blocks that capture what leads back to their store, and tokens that are stopped: nothing of it stays.
@Suite struct LettingGoTests {
  /// Begins an observation whose block captures `kept` of it, stops it, and says whether the store is gone.
  private func isGone(_ begin: (Store, Person) throws -> NotificationToken) throws -> Bool {
    weak var known: Store?
    do {
      let store = try Store(makeConfiguration())
      let person = Person(name: "Jane", age: 30)
      try store.write { try store.add(person) }
      store.refresh()
      let token = try begin(store, person)
      store.refresh()
      token.stop()
      known = store
    }
    return known == nil
  }

  @Test func aStoreThatTakesNoTurnsGoesWithItsLastToken() throws {
    #expect(try isGone { store, _ in
      let people = store.objects(Person.self)
      return people.observe { _ in _ = people.count }
    })
    #expect(try isGone { _, person in person.dogs.observe { _ in _ = person.name } })
    #expect(try isGone { _, person in person.observe { _ in _ = person.name } })
    #expect(try isGone { store, person in store.objects(Person.self).observe(.count) { _ in _ = person.name } })
    #expect(try isGone { store, person in store.observe { _, _ in _ = person.name } })
    #expect(try isGone { _, person in person.observe(\.name) { _, _ in _ = person.age } })
    #expect(try isGone { _, person in try person.observe(paths: ["name", "age"]) { _, _, _ in _ = person.age } })
    #expect(try isGone { store, person in
      let tested = store.objects(Person.self).filter(reading: [\.age]) { $0.age > 1 }
      return tested.observe { _ in _ = (tested.count, person.name) }
    })
  }

  @Test(.timeLimit(.minutes(5))) func soDoesOneWhoseActorIsGone() async throws {
    let gone = AsyncSignal()
    let token = try await Keeper().begin(Witness(gone))
    // The actor may have a turn to take yet, and is gone after that.
    token.stop()
    await gone.wait()
  }
}

/// Is there as long as the block that captures it.
private final class Witness: Sendable {
  private let gone: AsyncSignal

  init(_ gone: AsyncSignal) { self.gone = gone }
  deinit { gone.fire() }
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
