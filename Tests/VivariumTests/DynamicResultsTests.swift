import StorageInterface
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

/// Results by names are live results.
@Suite struct DynamicResultsTests {
  private func names(_ objects: DynamicResults) -> [String] {
    objects.map { if case .string(let name)? = $0["name"] { name } else { "?" } }
  }

  private func makeDogs(misuse: MisusePolicy = .trapInDebug) throws -> Store {
    let store = try makeStore(misuse: misuse)
    try store.write { for (name, age) in [("Rex", 3), ("Ann", 1), ("Bo", 2)] { try store.add(Dog(name: name, age: age)) } }
    return store
  }

  @Test func theyFollowWhatIsWrittenAndAreNarrowedAndSortedByText() throws {
    let store = try makeDogs()
    let all = try store.dynamicObjects("Dog")
    let grown = all.filter("age >= %@", 2).sorted(byKeyPath: "name")
    #expect(names(all) == ["Rex", "Ann", "Bo"] && names(grown) == ["Bo", "Rex"])
    try store.write {
      try store.add(Dog(name: "Ace", age: 9))
      #expect(names(grown) == ["Ace", "Bo", "Rex"])
    }
    #expect(names(grown.limited(to: 2)) == ["Ace", "Bo"] && names(grown.offset(by: 1)) == ["Bo", "Rex"])
    // Behind a limit a condition is asked of what is left alone, as of any results.
    #expect(names(grown.limited(to: 2).filter("age < 9")) == names2(store) { $0.limited(to: 2).where { $0.age < 9 } })
    #expect(names(all.filter("age > 0 SORT(age DESC) LIMIT(2)")) == ["Ace", "Rex"])
    #expect(names(all.distinct(byKeyPaths: ["age"])).count == 4)
    try store.write { try store.delete(store.objects(Dog.self)) }
    #expect(all.isEmpty && grown.isEmpty && grown.first == nil)
  }

  private func names2(_ store: Store, _ refine: (Results<Dog>) -> Results<Dog>) -> [String] {
    refine(store.objects(Dog.self).where { $0.age >= 2 }.sorted(by: \.name)).map(\.name)
  }

  @Test func whatCannotBeAskedSaysSo() throws {
    let all = try makeDogs(misuse: .ignore).dynamicObjects("Dog")
    #expect(all.filter("nmae == 'x'").error?.code == .unknownProperty || all.filter("nmae == 'x'").error?.code == .invalidQuery)
    #expect(all.filter("nonsense(").isEmpty)
    #expect(throws: StoreError.self) { try all.filter(format: "nonsense(") }
    #expect(all.error == nil && all[99].isInvalidated)
  }

  @Test func observersHearTheSameAsOfTypedResults() throws {
    let store = try makeDogs()
    let (typed, dynamic) = (Heard(), Heard())
    let results = store.objects(Dog.self).where { $0.age >= 2 }.sorted(by: \.name)
    let tokens = [
      results.observe { typed.hear($0) },
      try store.dynamicObjects("Dog").filter("age >= 2").sorted(byKeyPath: "name").observe { dynamic.hear($0) },
    ]
    store.refresh()
    let first = typed.take()
    #expect(!first.isEmpty && dynamic.take() == first)
    try store.write {
      try store.add(Dog(name: "Ace", age: 9))
      try store.delete(#require(store.objects(Dog.self).first { $0.name == "Rex" }))
      try #require(store.objects(Dog.self).first { $0.name == "Bo" }).age = 5
    }
    store.refresh()
    let second = typed.take()
    #expect(!second.isEmpty && dynamic.take() == second)
    for token in tokens { token.stop() }
  }

  @Test func aMisspeltOptionIsToldAsAnError() throws {
    let store = try makeDogs(misuse: .ignore)
    var codes: [StoreError.Code] = []
    let token = try store.dynamicObjects("Dog").observe(options: ObservationOptions(properties: ["nmae"])) {
      if case .error(let error) = $0 { codes.append(error.code) }
    }
    store.refresh()
    #expect(codes.count == 1)
    token.stop()
  }
}
