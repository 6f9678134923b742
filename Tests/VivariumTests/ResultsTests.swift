import Foundation
import Testing
import Values

@testable import Vivarium

@Suite struct ResultsTests {
  private func people() throws -> Store {
    let store = try makeStore()
    try store.write {
      for (name, age) in [("Ann", 40), ("Bob", 12), ("Cid", 18), ("Dan", 40), ("Eve", 7)] {
        try store.add(Person(name: name, age: age))
      }
    }
    return store
  }

  @Test func conditionsSelect() throws {
    let store = try people()
    let all = store.objects(Person.self)
    #expect(all.where { $0.age >= 18 }.map(\.name) == ["Ann", "Cid", "Dan"])
    #expect(all.where { $0.age == 40 && !$0.name.contains("n") }.isEmpty)
    #expect(all.where { $0.name.starts(with: "B") || $0.name.ends(with: "e") }.map(\.name) == ["Bob", "Eve"])
    #expect(all.where { $0.age.in([7, 12]) }.count == 2)
    #expect(all.where { $0.age.between(12...18) }.map(\.name) == ["Bob", "Cid"])
    #expect(all.where { $0.nick == nil }.count == 5)
    #expect(all.where { $0.nick == "x" }.first == nil)
  }

  @Test func conditionsAreComparedAsBools() throws {
    let store = try people()
    let all = store.objects(Person.self)
    let adults = ["Ann", "Cid", "Dan"]
    #expect(all.where { ($0.age >= 18) == ($0.name.contains("n")) }.map(\.name) == ["Ann", "Bob", "Dan", "Eve"])
    #expect(all.where { ($0.age >= 18) != ($0.name.contains("n")) }.map(\.name) == ["Cid"])
    #expect(all.where { ($0.age >= 18) == true }.map(\.name) == adults)
    #expect(all.where { ($0.age >= 18).in([true]) }.map(\.name) == adults)
    #expect(all.where { ($0.age < 18).in([false]) }.map(\.name) == adults)
    #expect(all.where { ($0.age >= 18).in([true, false]) }.count == 5 && all.where { ($0.age >= 18).in([]) }.isEmpty)
  }

  @Test func conditionsFollowLinks() throws {
    let store = try people()
    let rex = Dog(name: "Rex", age: 3)
    try store.write { store.objects(Person.self)[1].best = rex }
    #expect(store.objects(Person.self).where { $0.best == rex }.map(\.name) == ["Bob"])
    #expect(store.objects(Person.self).where { $0.best.name == "Rex" }.map(\.name) == ["Bob"])
    #expect(store.objects(Person.self).where { $0.best == nil }.count == 4)
    let live = store.objects(Person.self).where { $0.best.age > 3 }
    #expect(live.isEmpty)
    try store.write { rex.age = 4 }
    #expect(live.count == 1)
  }

  @Test func orderIsTotalAndLimitsApplyLast() throws {
    let store = try people()
    let sorted = store.objects(Person.self).sorted(by: \.age, ascending: false)
    #expect(sorted.map(\.name) == ["Ann", "Dan", "Cid", "Bob", "Eve"])
    #expect(sorted.limited(to: 2).map(\.name) == ["Ann", "Dan"])
    #expect(sorted.limited(to: 4).where { $0.age < 20 }.map(\.name) == ["Cid", "Bob"])
    #expect(sorted.limited(to: 4).sorted(by: \.name).map(\.name) == ["Ann", "Bob", "Cid", "Dan"])
    let keys = [SortKey(\Person.age), SortKey(\Person.name, ascending: false)]
    #expect(store.objects(Person.self).sorted(by: keys).map(\.name) == ["Eve", "Bob", "Cid", "Dan", "Ann"])
  }

  @Test func aResultIsADescriptionUntilItIsRead() throws {
    let store = try people()
    let before = store.evaluationCount
    let adults = store.objects(Person.self).where { $0.age >= 18 }.sorted(by: \.name)
    #expect(store.evaluationCount == before)
    #expect(adults.first?.name == "Ann")
    #expect(store.evaluationCount == before + 1)
    _ = (adults.toArray(), adults.count, adults[1], adults.first, adults.last)
    #expect(store.evaluationCount == before + 2)
    try store.write { adults[0].nick = "A" }
    #expect(adults.count == 3)
  }

  @Test func positionsAndMembership() throws {
    let store = try people()
    let all = store.objects(Person.self)
    let children = all.where { $0.age < 18 }
    #expect(all.first?.name == "Ann" && all.last?.name == "Eve" && all[2].name == "Cid")
    #expect(children.contains(all[1]) && !children.contains(all[0]) && all.contains(all[4]))
    #expect(children.index(of: all[4]) == 1 && children.index(of: all[0]) == nil && all.index(of: all[3]) == 3)
    #expect(all.objects(at: [4, 9, 0]).map(\.name) == ["Eve", "Ann"])
    #expect(all[9].isInvalidated && all[-1].name == "")
  }

  @Test func aggregatesMakeNoObjects() throws {
    let store = try people()
    let all = store.objects(Person.self)
    #expect(try all.sum(of: \.age) == 117)
    #expect(try all.min(of: \.age) == 7)
    #expect(try all.max(of: \.age) == 40)
    #expect(try all.average(of: \.age) == 23.4)
    let none = all.where { $0.age > 100 }
    #expect(try none.sum(of: \.age) == 0)
    #expect(try none.min(of: \.age) == nil)
    #expect(try none.average(of: \.age) == nil)
    try store.write { all[0].age = .max }
    #expect(throws: StoreError.self) { try all.sum(of: \.age) }
  }

  @Test func iterationWalksASnapshot() throws {
    let store = try people()
    let all = store.objects(Person.self)
    var seen: [String] = []
    try store.write {
      for person in all {
        seen.append(person.name)
        if person.name == "Bob" { try store.delete(all.where { $0.name == "Dan" }) }
        try store.add(Person(name: "new"))
        if person.name != "Ann" { try store.delete(person) }
      }
    }
    #expect(seen == ["Ann", "Bob", "Cid", "Eve"])
    #expect(all.map(\.name) == ["Ann", "new", "new", "new", "new"])
  }

  @Test func theOrderOfInsertionSurvivesDeletes() throws {
    let store = try people()
    let all = store.objects(Person.self)
    try store.write { try store.delete(all[1]) }
    #expect(all.map(\.name) == ["Ann", "Cid", "Dan", "Eve"])
    #expect(all[1].name == "Cid" && all.index(of: all[3]) == 3)
  }

  @Test func aWrongQuestionIsEmptyAndSaysWhy() throws {
    let store = try people()
    let wrong = store.objects(Person.self).where { $0.isAdult == true }
    #expect(wrong.isEmpty && wrong.count == 0)
    #expect(wrong.error?.code == .invalidQuery)
    #expect(store.objects(Person.self).sorted(byKeyPath: "nope").error?.code == .invalidQuery)
    #expect(store.objects(Stranger.self).error?.code == .unknownType)
    #expect(store.objects(Stranger.self).isEmpty)
  }

  @Test func objectsByKeys() throws {
    let store = try people()
    let all = store.objects(Person.self)
    let ids = [all[3].id, UUID(), all[0].id]
    #expect(store.objects(Person.self, forPrimaryKeys: ids).map(\.name) == ["Dan", "Ann"])
    #expect(store.object(Message.self, forPrimaryKey: 4) == nil)
  }

  @Test func namesAreEnough() throws {
    let store = try people()
    let dogs = try store.write {
      try store.dynamicCreate("Dog", ["name": .string("Rex")])["age"] = .int(3)
      return try store.dynamicObjects("Dog").count
    }
    #expect(dogs == 1 && store.objects(Dog.self).first?.age == 3)
    #expect(try store.dynamicObjects("Person").map { $0["name"] }.first == .string("Ann"))
    #expect(throws: StoreError.self) { try store.dynamicObjects("Cat") }
    #expect(store.schema["Dog"]?.property(named: "age") != nil)
  }
}

/// Not among the store's models.
@Model final class Stranger {
  var name = ""

  @Test func anObjectIsFoundAmongManyByReadingFew() throws {
    let store = try makeStore()
    try store.write {
      for i in 0..<2_000 { try store.add(Person(name: "\(i * 7 % 100)", age: i % 50, nick: i % 3 == 0 ? nil : "\(i % 5)")) }
    }
    let all = store.objects(Person.self)
    let orders = [
      all, all.sorted(by: \.age), all.sorted(by: [SortKey(\Person.nick), SortKey(\Person.name, ascending: false)]),
      all.where { $0.age > 20 }.sorted(by: \.name), all.where { $0.age > 20 },
    ]
    for order in orders {
      for position in [0, order.count / 3, order.count - 1] {
        let person = order[position]
        let before = store.placesRead
        #expect(order.firstIndex(of: person) == position && store.placesRead - before < 20)
      }
    }
    #expect(orders[3].firstIndex(of: all[0]) == nil)
    // In a write as well, which the result sees.
    try store.write {
      let person = orders[1][0]
      person.age = 1_000
      #expect(orders[1].firstIndex(of: person) == 1_999)
      try store.delete(person)
      #expect(orders[1].firstIndex(of: person) == nil && orders[1].count == 1_999)
    }
    // Where a row does not stand by its own values.
    let few = all.sorted(by: \.age).limited(to: 10)
    #expect(few.firstIndex(of: few[9]) == 9)
  }
}
