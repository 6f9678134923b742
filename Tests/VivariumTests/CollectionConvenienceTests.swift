import Foundation
import StorageInterface
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

/// What interfaces and programs that come from elsewhere ask of collections.
@Suite struct CollectionConvenienceTests {
  private func dogs(_ names: String, in store: Store?) throws -> LiveList<Dog> {
    let person = Person(name: "Jane", age: 30)
    for name in names { person.dogs.append(Dog(name: String(name))) }
    if let store { try store.write { try store.add(person) } }
    return person.dogs
  }

  private func text(_ list: LiveList<Dog>) -> String { list.map(\.name).joined() }

  /// As SwiftUI's documentation defines it: what is moved stands, in its order, in front of what stood at the destination.
  private func moved(_ text: String, _ source: IndexSet, _ destination: Int) -> String {
    let all = Array(text)
    let taken = source.filter { all.indices.contains($0) }
    let place = min(max(0, destination), all.count)
    let before = all.indices.filter { $0 < place && !taken.contains($0) }
    let after = all.indices.filter { $0 >= place && !taken.contains($0) }
    return String((before + taken + after).map { all[$0] })
  }

  @Test(arguments: [true, false]) func rowsAreMovedAndRemovedAsAnInterfaceAsks(isManaged: Bool) throws {
    var random = SeededGenerator.forTest()
    for _ in 0..<40 {
      let store = isManaged ? try makeStore() : nil
      let list = try dogs("abcdef", in: store)
      var source = IndexSet()
      for _ in 0...random.below(4) { source.insert(random.below(8)) }
      let destination = random.below(8)
      let wanted = moved("abcdef", source, destination)
      if let store { try store.write { list.move(fromOffsets: source, toOffset: destination) } } else {
        list.move(fromOffsets: source, toOffset: destination)
      }
      #expect(text(list) == wanted, "\(Array(source)) to \(destination)")
      let left = String(wanted.enumerated().filter { !source.contains($0.offset) }.map(\.element))
      if let store { try store.write { list.remove(atOffsets: source) } } else { list.remove(atOffsets: source) }
      #expect(text(list) == left)
    }
  }

  @Test func elementsAtPositionsPassOverWhatIsOutside() throws {
    let list = try dogs("abc", in: try makeStore())
    #expect(list.objects(at: [2, 7, -1, 0]).map(\.name) == ["c", "a"])
    #expect(list.objects(at: IndexSet([0, 1])).map(\.name) == ["a", "b"])
  }

  @Test func setsAreComparedAndMapsMerged() {
    let set: LiveSet<Int> = [1, 2, 3]
    #expect(set.isSubset(of: [3, 2, 1, 0]) && !set.isSubset(of: [1, 2]))
    #expect(set.isSuperset(of: [1, 3]) && !set.isSuperset(of: [4]) && set.isSuperset(of: []))
    #expect(set.intersects([9, 3]) && !set.intersects([9]) && !set.intersects([]))
    let map: LiveMap<Int> = ["a": 1, "b": 2]
    map.merge([("b", 10), ("c", 3), ("b", 100)].map { (key: $0.0, value: $0.1) }, uniquingKeysWith: +)
    #expect(map["a"] == 1 && map["b"] == 112 && map["c"] == 3)
  }

  @Test func aggregatesAreAskedByName() throws {
    let store = try makeStore()
    let dogs = store.objects(Dog.self)
    #expect(try dogs.max(ofProperty: "age") == .null && dogs.sum(ofProperty: "age") == .int(0))
    try store.write { for age in [3, 5] { try store.add(Dog(age: age)) } }
    #expect(try dogs.sum(ofProperty: "age") == .int(8) && dogs.average(ofProperty: "age") == .double(4))
    #expect(try dogs.min(ofProperty: "age") == .int(3) && dogs.max(ofProperty: "age") == .int(5))
    #expect { try dogs.sum(ofProperty: "agee") } throws: { StoreError.Code.unknownProperty ~= $0 }
    #expect(throws: StoreError.self) { try dogs.sum(ofProperty: "name") }
  }

  @Test func aStoreSaysWhetherItIsEmptyAndWhoIsTheSameByKey() throws {
    let store = try makeStore()
    #expect(store.isEmpty)
    let person = Person(name: "Jane", age: 30)
    try store.write { try store.add(person) }
    #expect(!store.isEmpty)
    let copy = Person(id: person.id, name: "other", age: 1)
    #expect(person.hasSamePrimaryKey(as: copy) && copy.hasSamePrimaryKey(as: person) && person != copy)
    #expect(!person.hasSamePrimaryKey(as: Person(name: "x", age: 1)) && !Dog(name: "a").hasSamePrimaryKey(as: Dog(name: "a")))
    try store.write { try store.deleteAll() }
    #expect(store.isEmpty)
  }
}
