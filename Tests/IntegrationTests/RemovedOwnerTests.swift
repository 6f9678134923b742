import Testing
import Vivarium
import VivariumTestSupport

private enum Before {
  @Model final class Person {
    @PrimaryKey var id = 0
    var addresses: LiveList<Address>
    var home: Address?
    @Relationship(deleteRule: .cascade) var dogs: LiveSet<Dog>
    var friend: Dog?
  }

  @Model(.embedded) final class Address { var street = "" }
  @Model final class Dog { var name = "" }
}

private enum After {
  @Model final class Person {
    @PrimaryKey var id = 0
    var home: Address?
    var friend: Dog?
    var name = ""
  }

  @Model(.embedded) final class Address { var street = "" }
  @Model final class Dog { var name = "" }
}

/// A property that is removed takes its embedded objects with it, which nobody else has. Objects that live by themselves stay, also those
/// that its delete rule would delete with the owner, which has not gone.
@Suite struct RemovedOwnerTests {
  @Test(arguments: [Engine.lmdb, .sqlite], [0, 1]) func whatARemovedPropertyEmbedsGoesWithIt(engine: Engine, version: UInt64) throws {
    let directory = TemporaryDirectory("owner")
    do {
      let store = try Store(engine.configuration(directory.file(), [Before.Person.self, Before.Address.self, Before.Dog.self]))
      try store.write {
        for id in 0..<3 {
          let person = Before.Person(id: id, home: Before.Address(street: "home"), friend: Before.Dog(name: "friend"))
          person.addresses = [Before.Address(street: "a"), Before.Address(street: "b")]
          person.dogs = [Before.Dog(name: "own")]
          try store.add(person)
        }
      }
    }
    var configuration = engine.configuration(directory.file(), [After.Person.self, After.Address.self, After.Dog.self])
    configuration.schemaVersion = version
    for name in ["addresses", "dogs"] { configuration.unlistedProperties["Person.\(name)"] = .remove }
    let store = try Store(configuration)
    #expect(store.objects(After.Address.self).map(\.street) == ["home", "home", "home"])
    #expect(store.objects(After.Dog.self).map(\.name).sorted() == ["friend", "friend", "friend", "own", "own", "own"])
    #expect(store.objects(After.Person.self).allSatisfy { $0.home != nil && $0.friend != nil && $0.name.isEmpty })
  }
}
