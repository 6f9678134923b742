import Foundation
import QueryModel
import StoreValues
import Testing

@testable import Vivarium

@Suite struct ResultsTests {
  private func people(misuse: MisusePolicy = .trapInDebug) throws -> Store {
    let store = try makeStore(misuse: misuse)
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

  @Test func textsAreOrderedWithoutTheDifferencesThatDoNotCount() throws {
    let store = try makeStore()
    try store.write {
      for (name, age) in [("ben", 1), ("Ann", 2), ("\u{10C}apek", 3), ("ann", 4), ("Ben", 5), ("capek", 6), ("Zoe", 7)] {
        try store.add(Person(name: name, age: age))
      }
    }
    let all = store.objects(Person.self)
    #expect(all.sorted(by: \.name).map(\.age) == [2, 5, 7, 4, 1, 6, 3])
    #expect(all.sorted(by: \.name, folding: .caseInsensitive).map(\.age) == [2, 4, 1, 5, 6, 7, 3])
    #expect(all.sorted(by: \.name, folding: .caseAndDiacriticInsensitive).map(\.age) == [2, 4, 1, 5, 3, 6, 7])
    // What is the same so far is left to the next key, and then to the objects.
    let both = all.sorted(by: [SortKey(\Person.name, ascending: false, folding: .caseInsensitive), SortKey(\Person.age, ascending: false)])
    #expect(both.map(\.age) == [3, 7, 6, 5, 1, 4, 2])
    #expect(both.format == "TRUEPREDICATE SORT(name DESC[c], age DESC)")
    #expect(all.filter("TRUEPREDICATE SORT(name ASC[cd]) LIMIT(5)").map(\.age) == [2, 4, 1, 5, 3])
    #expect(all.sorted(by: \.nick, folding: .caseInsensitive).count == 7)
    #expect(all.sorted(by: [SortKey(\Person.age, folding: .caseInsensitive)]).error?.code == .invalidQuery)
    #expect(throws: StoreError.self) { try all.filter(format: "TRUEPREDICATE SORT(name ASC[x])") }
  }

  @Test func resultsInAnOrderWithoutCaseAreKeptRowByRow() throws {
    let store = try people()
    let sorted = store.objects(Person.self).sorted(by: \.name, folding: .caseInsensitive)
    #expect(sorted.upkeep == .rowByRow)
    var heard: [String] = []
    let token = sorted.observe { change in
      if case .update(let people, let deletions, let insertions, _) = change {
        heard.append("\(people.map(\.name)) -\(Array(deletions)) +\(Array(insertions))")
      }
    }
    store.refresh()
    try store.write { try store.add(Person(name: "bEA", age: 1)) }
    store.refresh()
    try store.write { sorted[0].name = "dora" }
    store.refresh()
    #expect(heard == [
      #"["Ann", "bEA", "Bob", "Cid", "Dan", "Eve"] -[] +[1]"#, #"["bEA", "Bob", "Cid", "Dan", "dora", "Eve"] -[0] +[4]"#,
    ])
    token.stop()
  }

  @Test func aQuestionThatIsAskedAgainIsBoundOnce() throws {
    let store = try people()
    func names(_ age: Int) -> [String] {
      store.objects(Person.self).where { $0.age >= age && $0.name != "" }.sorted(by: \.name, ascending: false).map(\.name)
    }
    #expect(names(18) == ["Dan", "Cid", "Ann"])
    let bound = store.boundCount
    #expect(names(18) == ["Dan", "Cid", "Ann"])
    #expect(store.boundCount == bound)
    // It is asked of what there is now.
    try store.write { try store.add(Person(name: "Fay", age: 30)) }
    #expect(names(18) == ["Fay", "Dan", "Cid", "Ann"])
    #expect(store.boundCount == bound)
    // Eight are remembered, whatever is asked in between.
    for age in 0..<20 { _ = names(age) }
    #expect(names(18) == ["Fay", "Dan", "Cid", "Ann"])
    #expect(store.boundCount == bound + 20)
  }

  @Test func textsThatOnlyLookTheSameAreDifferentQuestions() throws {
    let store = try makeStore()
    let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
    try store.write { for name in [composed, decomposed, decomposed] { try store.add(Person(name: name, age: 1)) } }
    let all = store.objects(Person.self)
    for _ in 0..<2 {
      #expect(all.where { $0.name == composed && $0.age > 0 }.count == 1)
      #expect(all.where { $0.name == decomposed && $0.age > 0 }.count == 2)
    }
    #expect(PropertyPath(["['\(composed)']"]) != PropertyPath(["['\(decomposed)']"]))
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
    #expect(all.index(matching: { $0.age < 18 }) == 1 && children.index(matching: { $0.name == "Eve" }) == 1)
    #expect(all.index(matching: "age == %@ AND name != 'Ann'", 40) == 3 && all.index(matching: { $0.age > 100 }) == nil)
    #expect(all.sorted(by: \.age).limited(to: 3).index(matching: { $0.name == "Cid" }) == 2)
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
    let store = try people(misuse: .ignore)
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

  /// Of a list or of other results as of all objects.
  @Test func numbersOfAListAreThoseOfTheSameObjectsAmongAll() throws {
    let store = try makeStore()
    let person = Person(name: "Ann")
    let (none, three) = (Everything(maybeDouble: .nan), Everything(maybeDouble: 3))
    try store.write {
      try store.add(person)
      for age in [Int.max, 1, -1] { person.dogs.append(Dog(age: age)) }
      try store.add([none, three])
    }
    // On the way it is more than an Int64 holds.
    let (dogs, list) = (store.objects(Dog.self), person.dogs.results(in: store))
    #expect(try dogs.sum(of: \.age) == Int.max && list.sum(of: \.age) == Int.max)
    #expect(try list.average(of: \.age) == dogs.average(of: \.age))
    #expect(try list.min(of: \.age) == -1 && list.max(of: \.age) == Int.max)
    let all = store.objects(Everything.self)
    let some = all.limited(to: 9).where { $0.flag == false }
    #expect(try all.average(of: \.maybeDouble)?.isNaN == true && some.average(of: \.maybeDouble)?.isNaN == true)
    #expect(try some.min(of: \.maybeDouble) == 3 && some.max(of: \.maybeDouble) == 3)
    try store.write { person.dogs.append(dogs[1]) }
    // Twice in the list, it counts twice.
    #expect(throws: StoreError.self) { try list.sum(of: \.age) }
    #expect(try dogs.sum(of: \.age) == Int.max)
  }
}

/// Not among the store's models.
@Model final class Stranger {
  var name = ""
}
