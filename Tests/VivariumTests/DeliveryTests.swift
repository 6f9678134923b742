import Dispatch
import Foundation
import StoreValues
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// Where, when and to whom changes are delivered.
@Suite struct DeliveryTests {
  let configuration = makeConfiguration()

  // MARK: Other contexts

  @Test func resultsAreObservedOnAQueueFromAnywhere() throws {
    let store = try Store(configuration)
    try store.write { for age in 1...3 { try store.add(Dog(name: "\(age)", age: age)) } }
    let queue = DispatchQueue(label: "observing")
    let heard = Mailbox<[Int]>(empty: [])
    let token = store.objects(Dog.self).where { $0.age > 1 }.sorted(by: \.age, ascending: false).observe(on: queue) { change in
      dispatchPrecondition(condition: .onQueue(queue))
      heard.send(change.collection?.map(\.age) ?? [])
    }
    #expect(heard.next() == [3, 2])
    try store.write { try store.add(Dog(name: "9", age: 9)) }
    #expect(heard.next() == [9, 3, 2])
    try store.write(withoutNotifying: [token]) { try store.add(Dog(name: "7", age: 7)) }
    try store.write { try store.add(Dog(name: "8", age: 8)) }
    #expect(heard.next() == [9, 8, 7, 3, 2])
    #expect(token.stop() && !token.stop())
    queue.sync {}
  }

  @Test func objectsAreObservedOnAQueueFromAnywhere() throws {
    let store = try Store(configuration)
    let dog = Dog(name: "Rex", age: 1)
    try store.write { try store.add(dog) }
    let queue = DispatchQueue(label: "observing")
    let heard = Mailbox<String>(empty: "")
    let token = dog.observe(on: queue) { change in
      switch change {
      case .change(let properties): heard.send(properties.map(\.name).joined())
      case .deleted: heard.send("deleted")
      case .error(let error): heard.send(error.code.rawValue)
      }
    }
    // Also when this is committed before the queue has begun.
    try store.write { dog.age = 2 }
    #expect(heard.next() == "age")
    try store.write { try store.delete(dog) }
    #expect(heard.next() == "deleted")
    token.stop()
    let lost = Dog().observe(on: queue) { _ in }
    #expect(!lost.isActive)
  }

  private actor Reader {
    private let store: Store
    private var counts: [Int] = []
    private var scores: [Int] = []
    private var token: NotificationToken?

    init(_ configuration: Store.Configuration) throws { store = try Store(configuration) }

    func begin() { token = store.objects(Dog.self).observe { self.counts.append($0.collection?.count ?? -1) } }

    /// What was told by the time that all was told which leads to a version.
    func counts(at version: Version?) async throws -> [Int] {
      try await store.waitUntilNotified(of: version)
      return counts
    }

    /// What an observer of a list was told when the wait was over that began with it, and nothing was committed.
    func scoresAfterWaiting() async throws -> [Int] {
      let person = try addPerson()
      try await store.waitUntilNotified()
      let token = person.scores.observe { self.scores.append($0.collection?.count ?? -1) }
      try await store.waitUntilNotified()
      token.stop()
      return scores
    }

    private func addPerson() throws -> Person {
      try store.write {
        let person = Person(name: "Ann")
        person.scores.append(contentsOf: [1, 2])
        try store.add(person)
        return person
      }
    }

    func invalidate() { store.invalidate() }

    func end() { token?.stop() }
  }

  @Test(.timeLimit(.minutes(10))) func whoWaitsGoesOnWhenObserversWereTold() async throws {
    let (reader, writer) = (try Reader(configuration), try Store(configuration, isolation: nil))
    await reader.begin()
    #expect(try await reader.counts(at: nil) == [0])
    for age in 1...5 { try writer.write { try writer.add(Dog(age: age)) } }
    #expect(try await reader.counts(at: writer.version).last == 5)
    try writer.write { try writer.delete(writer.objects(Dog.self)) }
    #expect(try await reader.counts(at: nil).last == 0)
    // Nothing need be committed for one that has let go of its version.
    await reader.invalidate()
    #expect(try await reader.counts(at: nil).last == 0)
    // One that takes no turns has `refresh()`, and a task that is cancelled waits no longer.
    var codes: [StoreError.Code?] = []
    do throws(StoreError) { try await writer.waitUntilNotified() } catch { codes.append(error.code) }
    let later = writer.version.next
    let task = Task { try await reader.counts(at: later) }
    task.cancel()
    do { _ = try await task.value } catch { codes.append((error as? StoreError)?.code) }
    #expect(codes == [.wrongContext, .cancelled])
    await reader.end()
  }

  @Test(.timeLimit(.minutes(10))) func whatWasCommittedBeforeTheStoreHadAContextIsNotWaitedForInVain() async throws {
    let (reader, writer) = (try Reader(configuration), try Store(configuration, isolation: nil))
    try writer.write { try writer.add(Dog(age: 1)) }
    #expect(try await reader.counts(at: writer.version) == [])
    #expect(try await reader.counts(at: nil) == [])
  }

  @Test(.timeLimit(.minutes(10))) func theFirstCallOfAListIsWaitedForToo() async throws {
    let reader = try Reader(configuration)
    await reader.begin()
    #expect(try await reader.scoresAfterWaiting() == [2])
    await reader.end()
  }

  @Test func whoHasNoContextHearsAnErrorAndNotNothing() async throws {
    let store = try Store(configuration, isolation: nil)
    var codes: [StoreError.Code] = []
    for await change in store.objects(Dog.self).changes {
      if case .error(let error) = change { codes.append(error.code) }
    }
    #expect(codes == [.wrongContext])
    var isRefused = false
    do { for try await _ in store.changes(since: store.version) {} } catch { isRefused = StoreError.Code.wrongContext ~= error }
    #expect(isRefused)
  }

  @Test func resultsAreObservedOnAnActorThatTheBlockIsGiven() async throws {
    let store = try Store(configuration)
    let index = ShownNames()
    let token = store.objects(Dog.self).observe(on: index) { index, change in
      index.set(change.collection?.map(\.name) ?? [])
    }
    try store.write { for name in ["a", "b"] { try store.add(Dog(name: name)) } }
    await index.wait(until: ["a", "b"])
    token.stop()
  }

  // MARK: In order

  @Test func aTurnTellsTheStoreThenObjectsAndListsThenResultsAsTheyCame() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    let person = Person(name: "Ann")
    try store.write {
      try store.add(person)
      person.dogs.append(Dog(name: "Rex", age: 1))
    }
    let (dogs, rex) = (store.objects(Dog.self), person.dogs[0])
    var calls: [String] = []
    let tokens = [
      dogs.observe { _ in calls.append("first results") },
      person.dogs.observe { _ in calls.append("first list") },
      rex.observe { _ in calls.append("object") },
      dogs.sorted(by: \.age).observe { _ in calls.append("second results") },
      store.observe { _, _ in calls.append("store") },
      person.dogs.observe { _ in calls.append("second list") },
      dogs.observe { _ in calls.append("third results") },
    ]
    store.refresh()
    calls = []
    other.refresh()
    try other.write { other.objects(Dog.self)[0].age = 2 }
    store.refresh()
    #expect(
      calls == [
        "store", "first list", "object", "second list", "first results", "second results", "third results",
      ])
    for token in tokens { token.stop() }
  }

  // MARK: In its own time

  @Test func aTokenThatRestsHearsEverythingAtOnce() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    let heard = Heard()
    let token = try store.objects(Dog.self).observe(throttle: .seconds(3_600)) { heard.hear($0) }
    store.refresh()
    for _ in 0..<2 { try other.write { try other.add(Dog()) } }
    // Whoever asks for it is not made to wait.
    store.refresh()
    #expect(heard.take() == [.initial(0), Heard.update([], [0, 1])])
    token.stop()
  }

  @Test func restIsBetweenCalls() throws {
    let queue = DispatchQueue(label: "resting")
    // With how many objects it was called, and when.
    let heard = Mailbox<(count: Int, at: ContinuousClock.Instant)>(empty: (-1, .now))
    let other = try Store(configuration)
    let (store, token) = try queue.sync {
      let store = try Store(configuration, queue: queue)
      let token = try store.objects(Dog.self).observe(throttle: .milliseconds(20)) { change in
        heard.send((change.collection?.count ?? -1, .now))
      }
      return (Kept(store), token)
    }
    var calls = [heard.next()]
    for _ in 0..<50 { try other.write { try other.add(Dog()) } }
    while let last = calls.last, (0..<50).contains(last.count) { calls.append(heard.next()) }
    #expect(calls.first?.count == 0 && calls.last?.count == 50)
    // A rest begins before its call, which may be late to say when it was; but not before the call ahead of it.
    for (call, next) in zip(calls, calls.dropFirst(2)) { #expect(call.at.duration(to: next.at) >= .milliseconds(20)) }
    token.stop()
    queue.sync { store.drop() }
  }

  // MARK: Old values

  @Test func deletedAndModifiedObjectsAreSeenAsTheyWere() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    try other.write { for age in 1...4 { try other.add(Dog(name: "dog \(age)", age: age)) } }
    var seen: [String] = []
    let token = try store.objects(Dog.self).observe(includingOldValues: true) { change in
      guard let details = change.details else { return }
      seen += details.deletedObjects(Dog.self).map { "-\($0.name)" } + details.modifiedObjects(Dog.self).map { "~\($0.name)" }
    }
    store.refresh()
    other.refresh()
    let dogs = other.objects(Dog.self).toArray()
    try other.write { dogs[1].name = "on the way" }
    try other.write {
      dogs[1].name = "new"
      try other.delete(dogs[2])
    }
    store.refresh()
    #expect(seen == ["-dog 3", "~dog 2"])
    // Of the store's own writes too.
    seen = []
    try store.write { store.objects(Dog.self)[0].name = "mine" }
    try store.write { try store.delete(store.objects(Dog.self)[0]) }
    store.refresh()
    // The second write told of the first before it began.
    #expect(seen == ["~dog 1", "-mine"])
    token.stop()
  }

  // MARK: Who is not told

  @Test func aTokenIgnoresAnAuthor() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    try other.write { for age in 1...4 { try other.add(Dog(name: "\(age)", age: age)) } }
    let (deaf, all, object) = (Heard(), Heard(), Heard())
    let dogs = store.objects(Dog.self).sorted(by: \.age)
    let tokens = [dogs.observe { deaf.hear($0) }, dogs.observe { all.hear($0) }]
    tokens[0].ignore(author: "import")
    store.refresh()
    var ages: [Int] = []
    let rex = store.objects(Dog.self)[0]
    let watching = rex.observe { if case .change(let found) = $0 { ages += found.compactMap { _ in rex.age } } }
    watching.ignore(author: "import")
    store.refresh()
    _ = (deaf.take(), all.take(), object.take())
    try other.write(author: "import") { try other.add(Dog(name: "0", age: 0)) }
    store.refresh()
    #expect(deaf.take() == [] && all.take() == [Heard.update([], [0])])
    // Positions are those of what it knows: the import's row is there.
    try other.write(author: "import") { try other.add(Dog(name: "-1", age: -1)) }
    try other.write(author: "me") { other.objects(Dog.self).where { $0.name == "3" }.first?.age = 33 }
    try other.write(author: "import") { other.objects(Dog.self).where { $0.name == "4" }.first?.age = 44 }
    store.refresh()
    #expect(deaf.take() == [Heard.update([], [], [4])])
    #expect(all.take() == [Heard.update([], [0], [3, 4], new: [4, 5])])
    try other.write(author: "import") { other.objects(Dog.self).where { $0.name == "1" }.first?.age = 2 }
    store.refresh()
    #expect(ages == [])
    try other.write { other.objects(Dog.self).where { $0.name == "1" }.first?.age = 3 }
    store.refresh()
    #expect(ages == [3])
    for token in tokens + [watching] { token.stop() }
  }

  /// The token is there at once, the observation when the other context comes to it.
  @Test func anAuthorIsIgnoredAlsoBeforeTheObservationHasBegun() throws {
    let store = try Store(configuration)
    let dog = Dog(name: "Rex", age: 1)
    try store.write { try store.add(dog) }
    let (queue, gate) = (DispatchQueue(label: "observing"), Signal())
    queue.async { _ = gate.wait() }
    let (elsewhere, here) = (Mailbox<String>(empty: ""), HeardObject(\.name))
    let tokens = [
      dog.observe(on: queue) { change in
        if case .change(let properties) = change { elsewhere.send(properties.map(\.name).joined()) }
      },
      dog.observe { here.hear($0) },
    ]
    for token in tokens { token.ignore(author: "import") }
    try store.write(author: "import") { dog.age = 2 }
    gate.fire()
    queue.sync {}
    _ = store.notifierWork
    store.refresh()
    #expect(here.take() == [])
    try store.write { dog.name = "Max" }
    store.refresh()
    #expect(elsewhere.next() == "name" && here.take() == ["name"])
    for token in tokens { token.stop() }
    queue.sync {}
  }

  @Test func aSilentWriteIsToldToNobodyHere() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    let dog = Dog(name: "Rex", age: 1)
    try store.write { try store.add(dog) }
    let (here, there) = (Heard(), Heard())
    var changes: [String] = []
    let tokens = [
      store.objects(Dog.self).observe { here.hear($0) }, other.objects(Dog.self).observe { there.hear($0) },
      dog.observe { if case .change(let found) = $0 { changes += found.map { "\($0.name) \($0.oldValue ?? .null)" } } },
    ]
    store.refresh()
    other.refresh()
    _ = (here.take(), there.take())
    try store.write(silently: true) {
      try store.add(Dog(name: "silent"))
      dog.age = 2
    }
    store.refresh()
    other.refresh()
    #expect(here.take() == [] && there.take() == [] && changes == [])
    try store.write {
      try store.add(Dog(name: "loud"))
      dog.age = 3
    }
    store.refresh()
    other.refresh()
    #expect(here.take() == [Heard.update([], [2], [0])] && there.take() == [Heard.update([], [2], [0])])
    #expect(changes == ["age \(Value.int(2))"])
    for token in tokens { token.stop() }
  }

  // MARK: Work

  @Test func aThousandTokensCostWhatChanged() throws {
    let store = try Store(configuration)
    let dogs = (0..<1_000).map { Dog(name: "\($0)") }
    try store.write { for dog in dogs { try store.add(dog) } }
    var calls = 0
    let tokens = dogs.map { $0.observe { _ in calls += 1 } }
    store.refresh()
    let before = store.notifierWork
    try store.write { dogs[500].age = 1 }
    store.refresh()
    let after = store.notifierWork
    #expect(calls == 1 && after.watchesTested - before.watchesTested == 1 && after.evaluations == before.evaluations)
    for token in tokens { token.stop() }
  }

  /// Each finds what is its own in the commit without looking at what is the others'.
  @Test func aCommitThatTouchesEveryWatchCostsNotTheirSquare() throws {
    let store = try Store(configuration)
    let count = 5_000
    let people = (0..<count).map { Person(name: "\($0)") }
    try store.write { try store.add(people) }
    var calls = 0
    let tokens = people.map { $0.observe { _ in calls += 1 } }
    store.refresh()
    let before = store.notifierWork
    try store.write {
      for person in people {
        person.age = 1
        person.scores.append(1)
      }
    }
    store.refresh()
    let after = store.notifierWork
    #expect(calls == count && after.watchesTested - before.watchesTested == count)
    // Two searches among 5,000 entries, of 13 steps each, and the entries found.
    #expect((1...count * 30).contains(after.searchSteps - before.searchSteps))
    for token in tokens { token.stop() }
  }

  @Test func aCommitThatCannotTouchAQueryAsksNothing() throws {
    let store = try Store(configuration)
    try store.write { for age in 0..<50 { try store.add(Dog(name: "\(age)", age: age)) } }
    let heard = Heard()
    let dogs = store.objects(Dog.self)
    let tokens = [
      try dogs.where { $0.age < 40 }.sorted(by: \.age).observe(observingProperties: []) { heard.hear($0) },
      try dogs.sorted(by: \.age).limited(to: 5).observe(observingProperties: []) { heard.hear($0) },
      try dogs.distinct(by: \.age).observe(observingProperties: []) { heard.hear($0) },
    ]
    store.refresh()
    _ = heard.take()
    let before = store.notifierWork
    try store.write { for dog in dogs { dog.name += "!" } }
    try store.write { try store.add(Person(name: "nobody's")) }
    store.refresh()
    #expect(heard.take() == [] && store.notifierWork == before)
    for token in tokens { token.stop() }
  }

  // MARK: Windows

  @Test func windowsAreKeptRowByRow() throws {
    let store = try Store(configuration)
    try store.write { for age in 0..<20 { try store.add(Dog(name: "\(age)", age: age * 10)) } }
    let heard = Heard()
    let sorted = store.objects(Dog.self).sorted(by: \.age)
    let window = sorted.offset(by: 2).limited(to: 3)
    #expect(sorted.upkeep == .rowByRow && window.upkeep == .window)
    #expect(store.objects(Dog.self).distinct(by: \.name).upkeep == .askedAgain)
    let token = window.observe { heard.hear($0) }
    store.refresh()
    let made = store.notifierWork
    #expect(heard.take() == [.initial(3)] && window.map(\.age) == [20, 30, 40])
    // Before the window: everything moves on by one.
    try store.write { try store.add(Dog(name: "new", age: 5)) }
    store.refresh()
    #expect(heard.take() == [Heard.update([2], [0])] && window.map(\.age) == [10, 20, 30])
    // Behind it: nothing.
    try store.write { sorted[10].age = 95 }
    store.refresh()
    #expect(heard.take() == [])
    try store.write { sorted[3].name = "x" }
    store.refresh()
    #expect(heard.take() == [Heard.update([], [], [1])])
    try store.write { try store.delete(sorted.limited(to: 19)) }
    store.refresh()
    #expect(heard.take() == [Heard.update([0, 1, 2])] && window.count == 0)
    let after = store.notifierWork
    #expect(after.evaluations == made.evaluations && after.rebuilds == made.rebuilds)
    token.stop()
  }
}

/// Brings a store back to the queue it belongs to, to be let go of there.
private final class Kept: @unchecked Sendable {
  // Sound because it is touched in `queue.sync` alone.
  private var store: Store?
  init(_ store: Store) { self.store = store }
  func drop() { store = nil }
}

/// What another thread sends, one by one.
final class Mailbox<Letter: Sendable>: Sendable {
  private let letters = Mutex<[Letter]>([])
  private let signal = Signal()
  private let empty: Letter

  init(empty: Letter) { self.empty = empty }

  func send(_ letter: Letter) {
    letters.withLock { $0.append(letter) }
    signal.fire()
  }

  /// Waits for the next letter; `empty` when none comes.
  func next() -> Letter { next(seconds: 900) ?? empty }

  /// The same, for a wait that a failure alone makes long; nil when none comes.
  func next(seconds: Int) -> Letter? {
    signal.wait(seconds: seconds) ? letters.withLock { $0.isEmpty ? nil : $0.removeFirst() } : nil
  }
}
