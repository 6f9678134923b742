import Foundation
import StorageInterface
import Testing
import Vivarium
import VivariumTestSupport

@Model final class Holder {
  var name = ""
  var nick: String?
  var age: Int?
  var flag: Bool?
  var mood = Mood.calm
  var maybeMood: Mood?
  var size = Bulk.small
  var pet: Dog?
  var pets: LiveList<Dog>
}

enum Bulk: Int, PersistableEnum, Codable { case small, large }

/// What people compare with: objects, enums and optionals, in a text and in a `#Predicate`.
@Suite struct ArgumentTests {
  private let store: Store
  private let rex = Dog(name: "Rex", age: 3)
  private let max = Dog(name: "Max", age: 9)
  private var owners: Results<Holder> { store.objects(Holder.self) }

  init() throws {
    store = try Store(.reference(UUID().uuidString, models: [Holder.self, Dog.self, Person.self]))
    let (rex, max) = (rex, max)
    let ann = Holder(name: "Ann", nick: "Annie", age: 40, flag: true, mood: .wild, maybeMood: .wild, pet: rex)
    let bob = Holder(name: "Bob", nick: nil, age: nil, flag: nil, mood: .calm, maybeMood: nil, pet: nil)
    let cid = Holder(name: "Cid", nick: "C", age: 7, flag: false, mood: .calm, maybeMood: .calm, pet: max)
    try store.write {
      for owner in [ann, bob, cid] { try store.add(owner) }
      ann.pets.append(rex)
      cid.size = .large
    }
  }

  private func names(_ results: Results<Holder>) -> [String] {
    #expect(results.error == nil)
    return results.map(\.name)
  }

  @Test func anObjectIsAnArgumentOfAText() {
    #expect(names(owners.filter("pet == %@", rex)) == ["Ann"])
    #expect(names(owners.filter("pet != %@", rex)) == ["Bob", "Cid"])
    #expect(names(owners.filter("%@ IN pets", rex)) == ["Ann"])
    #expect(names(owners.filter("pet IN %@", [rex, max])) == ["Ann", "Cid"])
    #expect(names(owners.filter("pet IN %@", store.objects(Dog.self).where { $0.age > 5 })) == ["Cid"])
    #expect(names(owners.filter("pet IN %@", owners[0].pets)) == ["Ann"])
    let none: Dog? = nil
    #expect(names(owners.filter("pet == %@", none)) == ["Bob"])
    #expect(names(owners.filter("pet == %@", Dog(name: "Rex"))) == [])
  }

  @Test func anEnumIsAnArgumentOfAText() {
    #expect(names(owners.filter("mood == %@", Mood.wild)) == ["Ann"])
    #expect(names(owners.filter("mood IN %@", [Mood.calm, .wild])) == ["Ann", "Bob", "Cid"])
    let none: Mood? = nil
    #expect(names(owners.filter("maybeMood == %@", none)) == ["Bob"])
    #expect(names(owners.filter("maybeMood == %@", Optional(Mood.calm))) == ["Cid"])
  }

  @Test func enumsAndObjectsAreArgumentsOfAPredicate() {
    let (large, rex) = (Bulk.large, rex)
    #expect(names(owners.filter(#Predicate { $0.size == large })) == ["Cid"])
    #expect(names(owners.filter(#Predicate { $0.pet == rex })) == ["Ann"])
  }

  @Test func aPredicateHasDefaultsForWhatIsNil() {
    #expect(names(owners.filter(#Predicate { ($0.nick ?? $0.name) == "Bob" })) == ["Bob"])
    #expect(names(owners.filter(#Predicate { ($0.nick ?? "none") == "none" })) == ["Bob"])
    #expect(names(owners.filter(#Predicate { ($0.nick ?? "none") != "none" })) == ["Ann", "Cid"])
    #expect(names(owners.filter(#Predicate { ($0.age ?? 0) < 8 })) == ["Bob", "Cid"])
    #expect(names(owners.filter(#Predicate { ($0.age ?? 0) + 1 == 1 })) == ["Bob"])
    #expect(names(owners.filter(#Predicate { !(($0.age ?? 0) < 8) })) == ["Ann"])
    #expect(names(owners.filter(#Predicate { $0.flag ?? true })) == ["Ann", "Bob"])
    #expect(names(owners.filter(#Predicate { ($0.pet?.age ?? 5) > 4 })) == ["Bob", "Cid"])
    #expect(names(owners.filter(#Predicate { (0...10).contains($0.age ?? 3) })) == ["Bob", "Cid"])
    #expect(names(owners.filter(#Predicate { ($0.nick ?? "x").contains("x") })) == ["Bob"])
  }

  @Test func whatChainingDoesNotReachIsNeitherTrueNorFalse() {
    #expect(names(owners.filter(#Predicate { $0.pet?.name.contains("R") ?? false })) == ["Ann"])
    #expect(names(owners.filter(#Predicate { $0.pet?.name.contains("R") ?? true })) == ["Ann", "Bob"])
    #expect(names(owners.filter(#Predicate { $0.pet?.name.contains("R") == false })) == ["Cid"])
    #expect(names(owners.filter(#Predicate { $0.pet?.name.contains("R") == true })) == ["Ann"])
  }
}
