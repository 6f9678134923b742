import Foundation
import Testing
import Vivarium

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
}
