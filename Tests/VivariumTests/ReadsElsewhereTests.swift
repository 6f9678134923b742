import Dispatch
import Foundation
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

/// Debug builds find reads elsewhere than in the store's context; what is built for release asks nothing.
@Suite struct ReadsElsewhereTests {
  /// A store with one of everything that is read.
  private final class Kennel: @unchecked Sendable {
    // Sound because it is made on one thread and used on another after it: what is tried is just that the wrong one is noticed.
    let store: Store
    let dog: Dog
    let person: Person
    let people: Results<Person>

    init(_ store: Store) throws {
      (self.store, dog, person) = (store, Dog(name: "Rex", age: 3), Person(name: "Ann", age: 40))
      people = store.objects(Person.self).where { $0.age > 1 }
      try store.write {
        try store.add(person)
        person.dogs.append(dog)
      }
      // Windows are open, and the keys are known.
      _ = (dog.age, dog.name, people.first?.nick, people.count, person.dogs.count)
    }

    static func onQueue(_ queue: DispatchQueue, misuse: MisusePolicy = .trapInDebug) throws -> Kennel {
      try queue.sync { try Kennel(Store(makeConfiguration(misuse: misuse), queue: queue)) }
    }
  }

  private enum Read: Int, CaseIterable, Sendable {
    case number, text, results, count, list, dynamic, lookup

    func perform(_ kennel: Kennel) throws {
      switch self {
      case .number: _ = kennel.dog.age
      case .text: _ = kennel.dog.name
      case .results: _ = kennel.people.map(\.age)
      case .count: _ = kennel.people.count
      case .list: _ = kennel.person.dogs.count
      case .dynamic: _ = try kennel.store.dynamicObjects("Dog").count
      case .lookup: _ = kennel.store.object(Message.self, forPrimaryKey: 1)
      }
    }
  }

  @Test(arguments: Read.allCases) private func aReadFromAnotherThreadStopsADebugBuild(read: Read) async throws {
    await #expect(processExitsWith: .failure) { [number = read.rawValue as Int] in
      let kennel = try Kennel.onQueue(DispatchQueue(label: "test.kennel"))
      try Read(rawValue: number)?.perform(kennel)
    }
    // Where it belongs, the same is right.
    let queue = DispatchQueue(label: "test.kennel")
    let kennel = try Kennel.onQueue(queue)
    try queue.sync { try read.perform(kennel) }
  }

  @MainActor @Test func soDoesOneOfTheMainActorsStore() async throws {
    let kennel = try Kennel(Store(makeConfiguration()))
    #expect(kennel.dog.age == 3)
    await #expect(processExitsWith: .failure) {
      let kennel = try await MainActor.run { try Kennel(Store(makeConfiguration())) }
      DispatchQueue(label: "test.elsewhere").sync { _ = kennel.dog.age }
    }
    // A write there is refused in every build.
    let refused = await Task.detached { () -> StoreError.Code? in
      do { try kennel.store.write {} } catch { return (error as? StoreError)?.code }
      return nil
    }.value
    #expect(refused == .wrongContext)
  }

  private actor Keeper {
    private(set) var kennel: Kennel?
    func open() throws { kennel = try Kennel(Store(makeConfiguration(), isolation: self)) }
    var age: Int? { kennel?.dog.age }
  }

  @Test func soDoesOneOfAnyActorsStore() async throws {
    let keeper = Keeper()
    try await keeper.open()
    #expect(await keeper.age == 3)
    await #expect(processExitsWith: .failure) {
      let keeper = Keeper()
      try await keeper.open()
      let kennel = await keeper.kennel
      DispatchQueue(label: "test.elsewhere").sync { _ = kennel?.dog.age }
    }
  }

  @Test func whereMistakesAreLoggedItReadsAllTheSame() throws {
    let kennel = try Kennel.onQueue(DispatchQueue(label: "test.kennel"), misuse: .ignore)
    #expect(kennel.dog.age == 3 && kennel.people.count == 1)
  }

  @Test func aStreamThatIsAskedElsewhereEndsWithTheReason() async throws {
    let kennel = try Kennel.onQueue(DispatchQueue(label: "test.kennel"), misuse: .ignore)
    var heard: [StoreError.Code] = []
    for await change in kennel.people.changes { if case .error(let error) = change { heard.append(error.code) } }
    #expect(heard == [.wrongContext])
  }
}
