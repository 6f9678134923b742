import Testing
import Vivarium
import VivariumTestSupport

/// One meaning of order, whichever way a question is put: the later sort leads, and what ties in it keeps the order it had.
@Suite struct OrderTests {
  private func makeStore() throws -> Store {
    let store = try Store(.reference(nil, models: [Person.self, Dog.self]))
    try store.write {
      for (name, age) in [("b", 2), ("a", 1), ("b", 1), ("a", 2), ("c", 1), ("a", 1)] {
        try store.add(Person(name: name, age: age, nick: "\(store.objects(Person.self).count)"))
      }
    }
    return store
  }

  private func nicks(_ results: some Sequence<Person>) -> [String] { results.map { $0.nick ?? "" } }

  @Test func theLaterSortLeadsInEveryDoor() throws {
    let all = try makeStore().objects(Person.self)
    let expected = nicks(Array(all).sorted { $0.name < $1.name }.sorted { $0.age < $1.age })
    #expect(nicks(all.sorted(by: \.name).sorted(by: \.age)) == expected)
    #expect(nicks(all.sorted(byKeyPath: "name").sorted(byKeyPath: "age")) == expected)
    #expect(nicks(all.filter("TRUEPREDICATE SORT(name ASC) SORT(age ASC)")) == expected)
    #expect(nicks(all.sorted(by: \.name).filter("TRUEPREDICATE SORT(age ASC)")) == expected)
    #expect(nicks(all.filter("TRUEPREDICATE SORT(name ASC)").sorted(by: \.age)) == expected)
    #expect(nicks(all.sorted(by: [SortKey(\Person.age), SortKey(\Person.name)])) == expected)
  }

  @Test func tiesKeepTheOrderBeforeALimitToo() throws {
    let all = try makeStore().objects(Person.self)
    let first = Array(all).sorted { $0.name > $1.name }.prefix(4)
    let expected = nicks(first.sorted { $0.nick! < $1.nick! }.sorted { $0.age < $1.age })
    #expect(nicks(all.sorted(by: \.name, ascending: false).limited(to: 4).sorted(by: \.nick).sorted(by: \.age)) == expected)
    #expect(nicks(all.filter("TRUEPREDICATE SORT(name DESC) LIMIT(4) SORT(nick ASC) SORT(age ASC)")) == expected)
    let once = nicks(first.sorted { $0.age < $1.age })
    #expect(nicks(all.sorted(by: \.name, ascending: false).limited(to: 4).sorted(by: \.age)) == once)
    #expect(nicks(all.filter("TRUEPREDICATE SORT(name DESC) LIMIT(4) SORT(age ASC)")) == once)
  }
}
