import Foundation
import Testing
import Vivarium

/// What must be told in the situations that table views and their like get into.
@Suite struct NotificationScenarioTests {
  let configuration = makeConfiguration()

  /// What a commit does to the dog of an age.
  enum Edit: Sendable {
    case age(Int, to: Int)
    case delete(Int)
    case insert(Int)
    case clear
  }

  struct Scenario: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let isSorted: Bool
    let commits: [[Edit]]
    let told: [Heard.Call]

    init(_ name: String, sorted: Bool = false, _ commits: [[Edit]], _ told: Heard.Call?) {
      testDescription = name
      isSorted = sorted
      self.commits = commits
      self.told = told.map { [$0] } ?? []
    }
  }

  /// Dogs of the ages 0 to 7; those from 1 to 4 are observed, in the order of insertion or the oldest first.
  static let scenarios: [Scenario] = [
    Scenario("a member that changes and stays is modified", [[.age(1, to: 3)]], Heard.update([], [], [0])),
    Scenario("a member that stops to match is deleted", [[.age(2, to: 0)]], Heard.update([1])),
    Scenario("an object that begins to match is inserted, not modified", [[.age(7, to: 3)]], Heard.update([], [4])),
    Scenario("a member that is deleted is deleted", [[.delete(3)]], Heard.update([2])),
    Scenario("an object that does not match is nothing", [[.insert(9)]], nil),
    Scenario("two commits are one call", [[.age(1, to: 3)], [.age(2, to: 0)]], Heard.update([1], [], [0])),
    Scenario("a change outside is nothing", sorted: true, [[.age(6, to: 13)]], nil),
    Scenario("an object that begins to match is inserted where it sorts", sorted: true, [[.age(7, to: 3)]], Heard.update([], [2])),
    Scenario("a deleted row is deleted where it stood", sorted: true, [[.delete(3)]], Heard.update([1])),
    Scenario("a row that moves to the top", sorted: true, [[.age(2, to: 4)]], Heard.update([2], [0])),
    Scenario("clearing deletes every row", sorted: true, [[.clear]], Heard.update([0, 1, 2, 3])),
    Scenario("two commits of members are one call", sorted: true, [[.delete(4)], [.age(1, to: 0)]], Heard.update([0, 3])),
    Scenario("one goes outside, one comes inside", sorted: true, [[.delete(6), .insert(2)]], Heard.update([], [3])),
  ]

  @Test(arguments: NotificationScenarioTests.scenarios) func results(scenario: Scenario) throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    try other.write { for age in 0..<8 { try other.add(Dog(name: "\(age)", age: age)) } }
    var dogs = store.objects(Dog.self).where { $0.age > 0 && $0.age < 5 }
    if scenario.isSorted { dogs = dogs.sorted(by: \.age, ascending: false) }
    let heard = Heard()
    let token = dogs.observe { heard.hear($0) }
    store.refresh()
    #expect(heard.take() == [.initial(4)])
    for commit in scenario.commits {
      try other.write {
        for edit in commit {
          switch edit {
          case .age(let age, let new): other.objects(Dog.self).where { $0.name == "\(age)" }.first?.age = new
          case .delete(let age): try other.delete(other.objects(Dog.self).where { $0.name == "\(age)" })
          case .insert(let age): try other.add(Dog(name: "new", age: age))
          case .clear: try other.delete(other.objects(Dog.self))
          }
        }
      }
    }
    store.refresh()
    #expect(heard.take() == scenario.told)
    token.stop()
  }

  @Test func aRowThatLeavesAndComesBackIsAModification() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    try other.write { for age in 1...3 { try other.add(Dog(name: "\(age)", age: age)) } }
    let heard = Heard()
    let token = store.objects(Dog.self).where { $0.age < 5 }.observe { heard.hear($0) }
    store.refresh()
    let dog = other.objects(Dog.self)[1]
    try other.write { dog.age = 9 }
    try other.write { dog.age = 2 }
    store.refresh()
    #expect(heard.take() == [.initial(3), Heard.update([], [], [1])])
    token.stop()
  }

  // MARK: Blocks that write

  /// A block begins a write: a later one of the turn hears everything at once, before that write opens.
  @Test func aWriteInABlockMergesWhatOthersStillHadToHear() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    let (first, second) = (Heard(), Heard())
    var states: [Bool] = []
    let tokens = [
      store.objects(Dog.self).observe { change in
        first.hear(change)
        guard case .update = change, store.objects(Dog.self).count == 1 else { return }
        try? other.write { try other.add(Dog(name: "by another")) }
        try? store.write { try store.add(Dog(name: "by the block")) }
      },
      store.objects(Dog.self).sorted(by: \.name).observe { change in
        states.append(store.isInWriteTransaction)
        second.hear(change)
      },
    ]
    store.refresh()
    _ = (first.take(), second.take())
    try other.write { try other.add(Dog(name: "a")) }
    store.refresh()
    store.refresh()
    #expect(first.take() == [Heard.update([], [0]), Heard.update([], [1]), Heard.update([], [2])])
    #expect(second.take() == [Heard.update([], [0, 1]), Heard.update([], [2])] && !states.contains(true))
    for token in tokens { token.stop() }
  }

  /// The second of three inserts and begins again until it ran ten times.
  @Test func aBlockMayWriteAgainAndAgain() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    let heard = [Heard(), Heard(), Heard()]
    var runs = 0
    var tokens: [NotificationToken] = []
    for i in 0..<3 {
      tokens.append(
        store.objects(Dog.self).observe { change in
          heard[i].hear(change)
          guard i == 1, case .update = change else { return }
          runs += 1
          if runs < 10 { try? store.write { try store.add(Dog(name: "\(runs)")) } }
        })
    }
    store.refresh()
    for heard in heard { _ = heard.take() }
    try other.write { try other.add(Dog(name: "first")) }
    for _ in 0..<12 { store.refresh() }
    #expect(runs == 10 && heard[1].take() == (0..<10).map { Heard.update([], [$0]) })
    #expect(heard[0].take() == (0..<10).map { Heard.update([], [$0]) })
    let last = heard[2].take()
    #expect(last.reduce(0) { sum, call in if case .update(_, let rows, _, _) = call { sum + rows.count } else { sum } } == 10)
    for token in tokens { token.stop() }
  }

  @Test func aBlockMaySkipALaterAndAnEarlierToken() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    let (early, late) = (Heard(), Heard())
    var tokens: [NotificationToken] = []
    let dogs = store.objects(Dog.self)
    tokens.append(dogs.observe { early.hear($0) })
    tokens.append(
      dogs.observe { change in
        guard case .update = change, dogs.count == 1 else { return }
        try? store.write(withoutNotifying: [tokens[0], tokens[2]]) { try store.add(Dog(name: "skipped")) }
      })
    tokens.append(dogs.observe { late.hear($0) })
    store.refresh()
    _ = (early.take(), late.take())
    try other.write { try other.add(Dog(name: "told")) }
    store.refresh()
    store.refresh()
    #expect(early.take() == [Heard.update([], [0])] && late.take() == [Heard.update([], [0])])
    for token in tokens { token.stop() }
  }

  @Test func aTokenStoppedInABlockDoesNotStopOthers() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    let (second, added) = (Heard(), Heard())
    var tokens: [NotificationToken] = []
    tokens.append(
      store.objects(Dog.self).observe { _ in
        tokens[0].stop()
        if tokens.count == 2 { tokens.append(store.objects(Dog.self).observe { added.hear($0) }) }
      })
    tokens.append(store.objects(Dog.self).observe { second.hear($0) })
    store.refresh()
    #expect(second.take() == [.initial(0)] && added.take() == [])
    store.refresh()
    #expect(added.take() == [.initial(0)])
    try other.write { try other.add(Dog()) }
    store.refresh()
    #expect(second.take() == [Heard.update([], [0])])
    for token in tokens { token.stop() }
  }

  // MARK: Work

  @Test func fiveObserversShareOneView() throws {
    let store = try Store(configuration)
    try store.write { for age in 0..<50 { try store.add(Dog(name: "\(age)", age: age)) } }
    let other = try Store(configuration)
    let heard = Heard()
    let before = store.notifierWork
    var tokens: [NotificationToken] = []
    for observer in [store, store, store, other, other] {
      tokens.append(observer.objects(Dog.self).where { $0.age < 40 }.sorted(by: \.age).observe { heard.hear($0) })
    }
    store.refresh()
    other.refresh()
    #expect(heard.take().count == 5)
    let made = store.notifierWork
    #expect(made.results == 1 && made.evaluations - before.evaluations == 1)
    // Outside the condition before and after: looked at, no step. Another type: not even that.
    try store.write { store.objects(Dog.self)[45].age = 60 }
    try store.write { try store.add(Person(name: "nobody's")) }
    let dogs = store.objects(Dog.self)
    try store.write { dogs[3].age = 39 }
    store.refresh()
    other.refresh()
    #expect(heard.take().count == 5)
    let after = store.notifierWork
    #expect(after.evaluations == made.evaluations && after.rowsTested - made.rowsTested == 2)
    // What is observed is read without being asked for again.
    let queries = store.evaluationCount
    #expect(store.objects(Dog.self).where { $0.age < 40 }.sorted(by: \.age).count == 40)
    #expect(store.evaluationCount == queries)
    for token in tokens { token.stop() }
  }
}
