import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// Results that a test in Swift leaves, which says what it reads.
@Suite struct FilteredResultsTests {
  let configuration = makeConfiguration()

  @Test func theyAreWhatPassesInTheOrderOfTheResultsAndFollowTheStore() throws {
    let store = try Store(configuration)
    let odd = store.objects(Dog.self).sorted(by: \.name).filter(reading: [\.age]) { $0.age % 2 == 1 }
    #expect(odd.isEmpty && odd.error == nil)
    try store.write { for (i, name) in ["d", "a", "c", "b"].enumerated() { try store.add(Dog(name: name, age: i)) } }
    #expect(odd.map(\.name) == ["a", "b"])
    try store.write {
      odd[0].age = 2
      // Inside the write they see it.
      #expect(odd.map(\.name) == ["b"])
      try store.add(Dog(name: "aa", age: 9))
    }
    #expect(odd.map(\.name) == ["aa", "b"] && odd.last?.name == "b")
    #expect("\(odd)".hasPrefix("FilteredResults<Dog> (2) ["))
  }

  @Test func theTestIsAskedOnceForAVersion() throws {
    let store = try Store(configuration)
    try store.write { for i in 0..<10 { try store.add(Dog(name: "\(i)", age: i)) } }
    let asked = Asked()
    let some = store.objects(Dog.self).filter(reading: [\.age]) {
      asked.add()
      return $0.age > 3
    }
    #expect(asked.count == 0)
    #expect(some.count == 6 && some.first?.age == 4 && some.map(\.age).reduce(0, +) == 39)
    #expect(asked.count == 10)
  }

  @Test func observersHearWhoCameWentAndChangedAmongThoseThatPass() throws {
    let store = try Store(configuration)
    try store.write { for i in 0..<6 { try store.add(Dog(name: "\(i)", age: i)) } }
    let asked = Asked()
    var heard: [String] = []
    let odd = store.objects(Dog.self).sorted(by: \.name).filter(reading: [\.age]) {
      asked.add()
      return $0.age % 2 == 1
    }
    let token = odd.observe { change in
      switch change {
      case .initial(let dogs): heard.append("\(dogs.map(\.name))")
      case .update(let dogs, let deletions, let insertions, let modifications):
        heard.append("\(dogs.map(\.name)) -\(deletions) +\(insertions) ~\(modifications)")
      case .error(let error): heard.append("\(error)")
      }
    }
    store.refresh()
    #expect(heard == [#"["1", "3", "5"]"#] && asked.count == 6)
    let dogs = Array(store.objects(Dog.self).sorted(by: \.name))
    asked.reset()
    heard = []
    // One passes no longer, one passes now, one that passes is another.
    try store.write { (dogs[1].age, dogs[4].age, dogs[5].age) = (2, 7, 9) }
    store.refresh()
    #expect(heard == [#"["3", "4", "5"] -[0] +[1] ~[2]"#])
    #expect(asked.count == 3)
    asked.reset()
    heard = []
    // Nobody who passes is touched.
    try store.write { dogs[0].age = 8 }
    store.refresh()
    #expect(heard.isEmpty && asked.count == 1)
    asked.reset()
    try store.write {
      try store.delete(dogs[3])
      try store.add(Dog(name: "0", age: 1))
    }
    store.refresh()
    #expect(heard == [#"["0", "4", "5"] -[0] +[0] ~[]"#] && asked.count == 1)
    token.stop()
  }

  @Test func pathsOverLinksWakeTheTest() throws {
    let store = try Store(configuration)
    let ann = Person(name: "Ann", best: Dog(name: "Rex", age: 1))
    try store.write { try store.add(ann) }
    let friends = store.objects(Person.self).filter(reading: ["best.age"]) { ($0.best?.age ?? 0) > 5 }
    var counts: [Int] = []
    let token = friends.observe { counts.append($0.collection?.count ?? -1) }
    store.refresh()
    try store.write { ann.best?.age = 6 }
    store.refresh()
    try store.write { ann.best = nil }
    store.refresh()
    #expect(counts == [0, 1, 0])
    token.stop()
  }

  @Test func whatLeadsNowhereIsSaid() throws {
    var configuration = configuration
    configuration.misuse = .log
    let store = try Store(configuration)
    try store.write { try store.add(Dog(name: "Rex", age: 1)) }
    let wrong = store.objects(Dog.self).filter(reading: ["wings"]) { _ in true }
    #expect(wrong.isEmpty && wrong.error?.code == .unknownProperty)
    var told: [StoreError.Code?] = []
    let token = wrong.observe { change in
      if case .error(let error) = change { told.append(error.code) } else { told.append(nil) }
    }
    store.refresh()
    #expect(told == [.unknownProperty])
    token.stop()
    let right = store.objects(Dog.self).filter(reading: [\.name]) { _ in true }
    #expect(right[0].name == "Rex" && right.error == nil)
  }

  @Test func eachChangeLeadsFromWhatWasToldToWhatPasses() throws {
    var random = SeededGenerator.forTest()
    for _ in 0..<20 {
      let store = try Store(makeConfiguration())
      var known: [Int64] = []
      var ages: [Int64: Int] = [:]
      let tokenless = store.objects(Dog.self).sorted(by: \.age).filter(reading: [\.age]) { $0.age % 3 != 0 }
      let token = tokenless.observe { change in
        guard let dogs = change.collection else { return }
        let now = dogs.map { $0.id.key.rawValue }
        if case .update(_, let deletions, let insertions, let modifications) = change {
          // A row that is not named stays and has the value it had.
          var told = known
          for row in deletions.reversed() { told.remove(at: row) }
          for row in insertions { told.insert(now[row], at: row) }
          #expect(told == now)
          let named = Set(insertions.map { now[$0] } + modifications.new.map { now[$0] })
          for dog in dogs where !named.contains(dog.id.key.rawValue) {
            #expect(ages[dog.id.key.rawValue] == dog.age)
          }
          #expect(modifications.old.map { known[$0] } == modifications.new.map { now[$0] })
        }
        known = now
        ages = Dictionary(uniqueKeysWithValues: dogs.map { ($0.id.key.rawValue, $0.age) })
      }
      store.refresh()
      for _ in 0..<20 {
        try store.write {
          for _ in 0..<random.below(6) {
            let all = Array(store.objects(Dog.self))
            switch random.below(all.isEmpty ? 1 : 3) {
            case 0: try store.add(Dog(name: "x", age: random.below(30)))
            case 1: try store.delete(all[random.below(all.count)])
            default: all[random.below(all.count)].age = random.below(30)
            }
          }
        }
        if random.oneIn(2) { store.refresh() }
      }
      store.refresh()
      #expect(known == store.objects(Dog.self).sorted(by: \.age).filter { $0.age % 3 != 0 }.map { $0.id.key.rawValue })
      token.stop()
    }
  }
}

/// How often a test was asked.
private final class Asked: Sendable {
  private let counted = Mutex(0)
  var count: Int { counted.withLock { $0 } }
  func add() { counted.withLock { $0 += 1 } }
  func reset() { counted.withLock { $0 = 0 } }
}
