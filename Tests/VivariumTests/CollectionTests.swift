import Foundation
import StoreValues
import Testing
import Vivarium

@Suite struct CollectionTests {
  @Test(arguments: [false, true]) func aListIsEditedInPlace(managed: Bool) throws {
    let store = try makeStore()
    let person = Person(name: "Jane")
    try store.beginWrite()
    if managed { try store.add(person) }
    person.dogs.append(contentsOf: ["a", "b", "c", "d"].map { Dog(name: $0) })
    func names() -> [String] { person.dogs.map(\.name) }
    #expect(names() == ["a", "b", "c", "d"])
    person.dogs.move(from: 0, to: 2)
    #expect(names() == ["b", "c", "a", "d"])
    person.dogs.swapAt(0, 3)
    #expect(names() == ["d", "c", "a", "b"])
    person.dogs.insert(Dog(name: "e"), at: 1)
    #expect(person.dogs.remove(at: 0).name == "d" && names() == ["e", "c", "a", "b"])
    person.dogs[1] = person.dogs[0]
    #expect(names() == ["e", "e", "a", "b"])
    person.dogs.replaceSubrange(1..<3, with: [Dog(name: "f")])
    #expect(names() == ["e", "f", "b"])
    person.dogs = [person.dogs[2]]
    #expect(names() == ["b"] && person.dogs.count == 1)
    person.dogs.removeAll()
    #expect(person.dogs.isEmpty)
    person.scores = [3, 1, 2]
    person.scores.sort()
    #expect(person.scores.toArray() == [1, 2, 3])
    store.cancelWrite()
  }

  @Test func deletingTakesAnObjectOutOfLinksAndLists() throws {
    let store = try makeStore()
    let (rex, fido) = (Dog(name: "Rex"), Dog(name: "Fido"))
    let person = Person(name: "Jane", best: rex)
    person.dogs = [rex, fido, rex]
    try store.write { try store.add(person) }
    let dogs = person.dogs
    try store.write { try store.delete(rex) }
    #expect(person.best == nil && dogs.map(\.name) == ["Fido"])
    try store.write { try store.delete(person) }
    #expect(dogs.isEmpty && fido.owners.isEmpty && fido.bestOf == nil)
  }

  @Test func listsAndInversesGiveResults() throws {
    let store = try makeStore()
    let dogs = [("c", 3), ("a", 1), ("b", 2)].map { Dog(name: $0, age: $1) }
    let person = Person(name: "Jane")
    person.dogs = LiveList(dogs)
    try store.write { try store.add(person) }
    let old = try #require(person.dogs.where { $0.age > 1 })
    #expect(old.map(\.name) == ["c", "b"])
    #expect(old.sorted(by: \.name).map(\.name) == ["b", "c"])
    #expect(old.sorted(by: \.age).limited(to: 1).first?.name == "b")
    #expect(try old.sum(of: \.age) == 5)
    #expect(try old.max(of: \.age) == 3)
    try store.write { person.dogs.append(Dog(name: "d", age: 9)) }
    #expect(old.map(\.name) == ["c", "b", "d"])
    #expect(dogs[0].owners.where { $0.name == "Jane" }?.count == 1)
    #expect(dogs[0].owners.where { $0.name == "Joan" }?.isEmpty == true)
  }
}
