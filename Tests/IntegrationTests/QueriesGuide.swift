// The lines of Docs/Queries.md, to the letter: `QueriesGuideTests` compares the page and asks them.
import Foundation
import Vivarium

enum QueriesGuide {
  @Model final class Person {
    @PrimaryKey var name = ""
    @Indexed var age = 0
    var height = 1.5
    var nick: String?
    var alias: String?
    var limit: Int?
    var mood = Mood.calm
    var boss: Person?
    var dogs: LiveList<Dog>
    var cats: LiveSet<Dog>
    var friends: LiveMap<Person>
    var scores: LiveList<Int>
    var tags: LiveSet<String>
    var phones: LiveMap<String>
    var address = Address()
    var second: Address?
    var extra: AnyValue
    @Inverse(\Person.boss) var staff: LinkingObjects<Person>
    @Inverse(\Team.members) var teams: LinkingObjects<Team>
  }

  @Model final class Dog {
    var name = ""
    var age = 0
    var weight: Double?
    var toys: LiveList<Toy>
    @Inverse(\Person.dogs) var owners: LinkingObjects<Person>
  }

  @Model final class Toy {
    var price = 0
  }

  @Model final class Team {
    var members: LiveList<Person>
    var crew: LiveSet<Person>
    var posts: LiveMap<Person>
  }

  enum Mood: String, PersistableEnum { case calm, wild }

  struct Address: PersistableStruct {
    var city = ""
    var zip: Int?
    var isFar: Bool { city != "Ghent" }
    enum CodingKeys: String, CodingKey {
      case city
      case zip = "postal code"
    }
  }

  /// The same condition in the three doors, and the names of whom it finds; no `#Predicate` where that cannot say it.
  struct Line {
    let closure: (Field<Person>) -> Condition
    let text: String
    let predicate: Predicate<Person>?
    let names: String

    init(_ closure: @escaping (Field<Person>) -> Condition, _ text: String, _ predicate: Predicate<Person>?, finds names: String) {
      (self.closure, self.text, self.predicate, self.names) = (closure, text, predicate, names)
    }
  }

  static func people() -> [Person] {
    let (rex, ada, tom) = (Dog(name: "Rex", age: 4, weight: 30), Dog(name: "Ada", age: 2), Dog(name: "tom", age: 9, weight: 4.5))
    rex.toys = [Toy(price: 3), Toy(price: 50)]
    let ann = Person(name: "Ann", age: 40, height: 1.7, nick: "An", alias: "An", limit: 3)
    let bob = Person(name: "Bob", age: 12, height: 1.4, nick: "bo", limit: 12, mood: .wild, boss: ann)
    let cid = Person(name: "Cid", age: 18, height: 1.8, alias: "C", boss: bob)
    let dan = Person(name: "Dän", age: 40, height: 2, boss: ann)
    ann.dogs = [rex, ada]
    bob.dogs = [tom]
    ann.cats = [tom]
    ann.friends = ["best": bob, "old": cid]
    ann.scores = [1, 5]
    bob.scores = [5]
    ann.tags = ["new", "red"]
    bob.phones = ["home": "12", "work": "34"]
    ann.address = Address(city: "Ghent", zip: 9000)
    bob.second = Address(city: "Oslo")
    ann.extra = ["size": 4, "parts": ["a", "b"]]
    bob.extra = "text"
    return [ann, bob, cid, dan]
  }
}
