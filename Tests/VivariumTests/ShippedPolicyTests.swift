import Foundation
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// What a debug build does that leaves the policy as it ships: mistakes of the program end it, and nothing else does.
@Suite struct ShippedPolicyTests {
  private enum Mistake: Int, CaseIterable {
    case setter, listEdit, mapEdit, text, condition, order, swiftPredicate, observed, observedByName, observedNumber, option, path

    func make(in store: Store) throws {
      let person = Person()
      try store.write { try store.add(person) }
      let people = store.objects(Person.self)
      switch self {
      case .setter: person.age = 3
      case .listEdit: person.scores.append(1)
      case .mapEdit: person.dogs.removeAll()
      case .text: _ = people.filter("naem == 'x'").count
      case .condition: _ = people.where { $0.isAdult == true }.count
      case .order: _ = people.sorted(byKeyPath: "naem").count
      case .swiftPredicate: _ = people.filter(#Predicate<Person> { person in person.isAdult }).count
      case .observed: people.filter("naem == 'x'").observe { _ in }.stop()
      case .observedByName: try store.dynamicObjects("Person").filter("naem == 'x'").observe { _ in }.stop()
      case .option: people.observe(options: ObservationOptions(properties: ["naem"])) { _ in }.stop()
      case .path: person.observe(options: ObservationOptions(properties: ["naem"])) { _ in }.stop()
      case .observedNumber: people.filter("naem == 'x'").observe(.count) { _ in }.stop()
      }
    }
  }

  private static func store() throws -> Store {
    var configuration = StoreConfiguration.reference(UUID().uuidString, models: [Person.self, Dog.self])
    configuration.manualDelivery = true
    return try Store(configuration)
  }

  @Test(arguments: Mistake.allCases) private func aMistakeOfTheProgramStopsADebugBuild(mistake: Mistake) async {
    await #expect(processExitsWith: .failure) { [number = mistake.rawValue as Int] in
      try Mistake(rawValue: number)?.make(in: ShippedPolicyTests.store())
    }
  }

  /// Words to look for, patterns and limits are what a user types.
  @Test(arguments: ["", " ", "-a", "a*b", "*", "(", "[", "a{9", "\\"]) func whatAUserTypesIsReportedAndEndsNothing(text: String) throws {
    let store = try Self.store()
    try store.write { try store.add(Person(name: "a")) }
    let people = store.objects(Person.self)
    let lines = Mutex(0)
    StoreLog.$listener.withValue({ _ in lines.withLock { $0 += 1 } }) {
      let found = people.filter("name TEXT %@ OR name MATCHES %@", text, text)
      #expect(found.isEmpty && found.error?.code == .invalidQuery)
      #expect(people.filter("name MATCHES %@", "(" + text).isEmpty)
      let typed = people.where { $0.name.matches(text: text) || $0.name.matches("(" + text) }
      #expect(typed.isEmpty && typed.error?.code == .invalidQuery)
      #expect(people.limited(to: -text.count - 1).isEmpty)
    }
    #expect(lines.withLock { $0 } == 4)
  }

  @Test func whatOthersDidMeanwhileEndsNothing() throws {
    let store = try Self.store()
    let dog = Dog(name: "Rex")
    try store.write { try store.add(dog) }
    try store.write { try store.delete(dog) }
    #expect(dog.name == "" && store.objects(Dog.self)[3].isInvalidated && store.objects(Dog.self)[1...].isEmpty)
  }
}
