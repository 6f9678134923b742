// The quick start of README.md, to the letter: `QuickStartTests` compares them.
// README begin
import Foundation
import StorageLMDB
import Vivarium

@Model final class Person {
  @PrimaryKey var id = UUID()
  var name = ""
  @Indexed var age = 0
  var dogs: LiveList<Dog>
}

@Model final class Dog {
  var name = ""
  @Inverse(\Person.dogs) var owners: LinkingObjects<Person>
}

func openStore(at url: URL, isolation: isolated (any Actor)? = #isolation) throws -> Store {
  try Store(.lmdb(url, models: Person.self, Dog.self), isolation: isolation)  // or .sqlite(url, …), .memory("name", …)
}

func quickStart(_ store: Store) throws -> (names: [String], owners: Int) {
  let adults = store.objects(Person.self).where { $0.age >= 18 }.sorted(by: \.name)
  try store.write {
    let jane = Person(name: "Jane", age: 30)
    try store.add(jane)
    jane.dogs.append(Dog(name: "Rex"))
  }
  return (adults.map(\.name), adults.first?.dogs.first?.owners.count ?? 0)  // (["Jane"], 1): results are live
}
// README end
