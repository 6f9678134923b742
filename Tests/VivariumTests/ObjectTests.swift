import Foundation
import Storage
import TestSupport
import Testing
import Vivarium

/// A store of the test models on the reference engine, on whichever context the test runs.
func makeStore(_ name: String? = nil) throws -> Store {
  var configuration = StoreConfiguration.reference(
    name, models: [Person.self, Dog.self, Everything.self, Message.self, Node.self])
  configuration.misuse = .ignore
  return try Store(configuration)
}

@Suite struct ObjectTests {
  @Test func anUnmanagedObjectHasValuesOfItsOwn() {
    let person = Person(name: "Jane", age: 17)
    person.age += 1
    person.dogs.append(Dog(name: "Rex"))
    person.visits = [3]
    #expect(person.isAdult)
    #expect(person.dogs.map(\.name) == ["Rex"])
    #expect(!person.isManaged && !person.isInvalidated)
    #expect(Person.species == "human")
  }

  @Test func anAddedObjectReadsAndWritesThrough() throws {
    let store = try makeStore()
    let person = Person(name: "Jane", age: 30)
    try store.write { try store.add(person) }
    let other = try #require(store.object(Person.self, forPrimaryKey: person.id))
    #expect(other !== person)
    #expect(other == person)
    try store.write { other.age = 31 }
    #expect(person.age == 31)
    #expect(person.name == "Jane")
    #expect(person.nick == nil)
    try store.write { person.nick = "J" }
    #expect(other.nick == "J")
  }
}
