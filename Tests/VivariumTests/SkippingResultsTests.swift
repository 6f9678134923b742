import Testing
import Vivarium
import VivariumTestSupport

/// Results in one store, and commits of another of which their tokens are not told, while others wait: what was told and what
/// the skipped commits did to that make up what the store shows.
@Suite struct SkippingResultsTests {
  private let store: Store
  private let other: Store

  init() throws {
    let configuration = makeConfiguration()
    (store, other) = (try Store(configuration), try Store(configuration))
  }

  private func add(_ ages: [Int]) throws {
    try other.write { for age in ages { try other.add(Dog(name: "\(age)", age: age)) } }
  }

  private func dog(_ name: String) throws -> Dog {
    try #require(other.objects(Dog.self).where { $0.name == name }.first)
  }

  @Test func aWindowIsKnownAsItWouldBeWithoutWhatWaits() throws {
    try add([10, 20, 30, 40])
    let heard = Heard()
    let token = store.objects(Dog.self).sorted(by: \.age).limited(to: 3).observe { heard.hear($0) }
    store.refresh()
    #expect(heard.take() == [.initial(3)])
    try add([5])
    let first = try dog("10")
    try other.write(withoutNotifying: [token]) { first.age = 35 }
    // Known: 20 30 35; now: 5 20 30.
    store.refresh()
    #expect(heard.take() == [Heard.update([2], [0])])
    try add([25])
    let second = try dog("20")
    try other.write(withoutNotifying: [token]) { try other.delete(second) }
    // Known: 5 30 35; now: 5 25 30.
    store.refresh()
    #expect(heard.take() == [Heard.update([2], [1])])
    token.stop()
  }

  @Test func aRowOfDistinctResultsIsKnownWhereTheCommitMovedIt() throws {
    try add([10, 20, 30])
    let heard = Heard()
    let token = store.objects(Dog.self).sorted(by: \.age).distinct(by: \.name).observe { heard.hear($0) }
    store.refresh()
    #expect(heard.take() == [.initial(3)])
    try add([5])
    let first = try dog("10")
    try other.write(withoutNotifying: [token]) { first.age = 90 }
    // Known: 20 30 10; now: 5 20 30 10.
    store.refresh()
    #expect(heard.take() == [Heard.update([], [0])])
    token.stop()
  }

  @Test func aRowOfAListsResultsIsKnownWhereTheCommitMovedIt() throws {
    let person = Person(name: "Ann")
    try store.write {
      try store.add(person)
      person.dogs.append(contentsOf: [10, 20, 30].map { Dog(name: "\($0)", age: $0) })
    }
    let heard = Heard()
    let results = try #require(person.dogs.where { $0.age < 90 })
    let token = results.observe { heard.hear($0) }
    store.refresh()
    #expect(heard.take() == [.initial(3)])
    other.refresh()
    let same = try #require(other.resolve(person.reference))
    try other.write { same.dogs.insert(Dog(name: "5", age: 5), at: 0) }
    try other.write(withoutNotifying: [token]) { same.dogs.move(from: 1, to: 3) }
    // Known: 20 30 10; now: 5 20 30 10.
    store.refresh()
    #expect(heard.take() == [Heard.update([], [0])])
    try other.write { same.dogs.remove(at: 0) }
    try other.write(withoutNotifying: [token]) { same.dogs.append(Dog(name: "50", age: 50)) }
    // Known: 5 20 30 10 50; now: 20 30 10 50.
    store.refresh()
    #expect(heard.take() == [Heard.update([0], [])])
    token.stop()
  }

  @Test func aRowThatCameIsToldThoughASkippedCommitTouchedIt() throws {
    try add([10, 20])
    let heard = Heard()
    let token = store.objects(Dog.self).sorted(by: \.age).observe { heard.hear($0) }
    store.refresh()
    _ = heard.take()
    try add([15])
    // As whoever marks everything as read.
    try other.write(withoutNotifying: [token]) { for dog in other.objects(Dog.self) { dog.name += "!" } }
    store.refresh()
    #expect(heard.take() == [Heard.update([], [1])])
    token.stop()
  }

  /// Random commits, of which each is told or known, under a whole result and windows of it.
  @Test func randomCommitsAreToldExactlyAroundThoseThatAreKnown() throws {
    var random = SeededGenerator.forTest()
    for _ in 0..<environmentNumber("VIVARIUM_SKIPS_ELSEWHERE", default: 60) {
      var history = try SkippingHistory(random.fork())
      for _ in 0..<25 { try history.step() }
      history.end()
    }
  }
}

/// One observer that edits its own array: by each change set, and by what skipped commits did.
private final class Follower {
  let window: Range<Int>
  var shown: [String] = []
  private(set) var token: NotificationToken?
  private let results: Results<Dog>

  init(_ store: Store, _ window: Range<Int>?) {
    self.window = window ?? 0..<Int.max
    let all = store.objects(Dog.self).where { $0.age < 50 }.sorted(by: \.age)
    results = window.map { all.offset(by: $0.lowerBound).limited(to: $0.count) } ?? all
    token = results.observe { [unowned self] in hear($0) }
  }

  private func hear(_ change: CollectionChange<Results<Dog>>) {
    switch change {
    case .error(let error): Issue.record("\(error)")
    case .initial(let dogs): shown = dogs.map(\.name)
    case .update(let dogs, let deletions, let insertions, let modifications):
      let new = dogs.map(\.name)
      guard deletions.last ?? -1 < shown.count, shown.count - deletions.count + insertions.count == new.count else {
        Issue.record("\(shown) to \(new) by -\(deletions) +\(insertions)")
        return
      }
      #expect(modifications.old.map { shown[$0] } == modifications.new.map { new[$0] })
      for position in deletions.reversed() { shown.remove(at: position) }
      for position in insertions { shown.insert(new[position], at: position) }
      #expect(shown == new)
    }
  }

  func checkIsUpToDate() { #expect(shown == results.map(\.name)) }
}

private struct SkippingHistory {
  private var random: SeededGenerator
  private let store: Store
  private let other: Store
  private let followers: [Follower]
  /// The ages by number as they are, and as the followers know them, where those are rows.
  private var ages: [Int: Int] = [:]
  private var known: [Int: Int] = [:]
  private var next = 0

  init(_ random: SeededGenerator) throws {
    self.random = random
    let configuration = makeConfiguration()
    (store, other) = (try Store(configuration), try Store(configuration))
    followers = [nil, 0..<3, 2..<6].map { [store] in Follower(store, $0) }
    for _ in 0..<5 { try commit([]) }
    refresh()
  }

  mutating func step() throws {
    switch random.below(5) {
    case 0: refresh()
    case 1, 2: try commit([])
    default: try commit(followers.compactMap(\.token))
    }
  }

  private mutating func refresh() {
    store.refresh()
    for follower in followers { follower.checkIsUpToDate() }
    known = ages.filter { $0.value < 50 }
  }

  private mutating func commit(_ tokens: [NotificationToken]) throws {
    let before = ages.filter { $0.value < 50 }
    var touched: Set<Int> = []
    try other.beginWrite()
    for _ in 0..<1 + random.below(3) {
      let dogs = other.objects(Dog.self)
      if dogs.count < 5 || random.oneIn(4) {
        next += 1
        ages[next] = random.below(70)
        try other.add(Dog(name: "\(next)", age: ages[next] ?? 0))
        touched.insert(next)
        continue
      }
      let dog = dogs[random.below(dogs.count)]
      let number = try #require(Int(dog.name))
      touched.insert(number)
      if random.oneIn(4) {
        ages[number] = nil
        try other.delete(dog)
      } else {
        ages[number] = random.below(70)
        dog.age = ages[number] ?? 0
      }
    }
    try other.commitWrite(withoutNotifying: tokens)
    if tokens.isEmpty { return }
    let after = ages.filter { $0.value < 50 }
    for number in touched {
      let (old, new) = (before[number], after[number])
      // What waits to be told as new is not known by being changed.
      if old == new || old != nil && new != nil && known[number] == nil { continue }
      known[number] = new
    }
    let rows = known.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map { "\($0.key)" }
    for follower in followers { follower.shown = Array(rows[follower.window.clamped(to: 0..<rows.count)]) }
  }

  func end() {
    for follower in followers {
      follower.token?.stop()
    }
  }
}
