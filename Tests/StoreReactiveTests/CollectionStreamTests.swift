import StoreReactive
import Testing
import Vivarium
import VivariumTestSupport

@Suite struct CollectionStreamTests {
  private func add(_ store: Store, _ numbers: Int...) throws {
    try store.write { for number in numbers { try store.add(Lap(number: number)) } }
  }

  @Test func theCollectionComesAtOnceAndAfterEveryChange() throws {
    let store = try makeStore()
    try add(store, 1)
    var counts: [Int] = []
    let stream = Live.collection(from: store.objects(Lap.self)).sink(receiveCompletion: { _ in }) { counts.append($0.count) }
    #expect(counts == [1])
    store.refresh()
    #expect(counts == [1])
    try add(store, 2)
    store.refresh()
    #expect(counts == [1, 2])
    stream.cancel()
    try add(store, 3)
    store.refresh()
    #expect(counts == [1, 2])
  }

  @Test func anAsynchronousStartComesWithTheNextTurn() throws {
    let store = try makeStore()
    try add(store, 1)
    var heard: [String] = []
    let stream = Live.arrayWithChangeset(from: store.objects(Lap.self), synchronousStart: false)
      .sink(receiveCompletion: { _ in }) { laps, changes in heard.append("\(laps.count) \(changes?.inserted ?? [-1])") }
    #expect(heard.isEmpty)
    store.refresh()
    #expect(heard == ["1 [-1]"])
    try add(store, 2)
    store.refresh()
    #expect(heard == ["1 [-1]", "2 [1]"])
    stream.cancel()
  }

  @Test func changesetsCountFromTheValueBefore() throws {
    let store = try makeStore()
    try add(store, 1, 2, 3)
    var shown: [Int] = []
    var sets: [LiveChanges?] = []
    let stream = Live.arrayWithChangeset(from: store.objects(Lap.self).sorted(by: \.number))
      .sink(receiveCompletion: { _ in }) { laps, changes in
        shown = laps.map(\.number)
        sets.append(changes)
      }
    try store.write {
      try store.delete(store.objects(Lap.self).where { $0.number == 1 })
      store.object(Lap.self, forPrimaryKey: 3)?.time = 9
      try store.add(Lap(number: 0))
    }
    store.refresh()
    #expect(shown == [0, 2, 3])
    #expect(sets == [nil, LiveChanges(deleted: [0], inserted: [0], updated: [2], updatedInNew: [2])])
    stream.cancel()
  }

  @Test func onlyTheNamedPropertiesCount() throws {
    let store = try makeStore()
    try add(store, 1)
    var values = 0
    let stream = Live.collection(from: store.objects(Lap.self), keyPaths: [\.number])
      .sink(receiveCompletion: { _ in }) { _ in values += 1 }
    store.refresh()
    try store.write { store.objects(Lap.self).first?.time = 5 }
    store.refresh()
    #expect(values == 1)
    stream.cancel()
  }

  @Test func aWrongQuestionFailsTheStream() throws {
    let store = try makeStore()
    var failure: StoreError?
    let stream = Live.array(from: store.objects(Lap.self).sorted(byKeyPath: "nothing"))
      .sink(receiveCompletion: { if case .failure(let error) = $0 { failure = error } }, receiveValue: { _ in })
    #expect(failure != nil)
    stream.cancel()
  }

  @Test func aSlowSubscriberGetsTheNetDifference() throws {
    let store = try makeStore()
    try add(store, 1)
    let slow = SlowSubscriber<([Lap], LiveChanges?)>()
    Live.arrayWithChangeset(from: store.objects(Lap.self).sorted(by: \.number)).subscribe(slow)
    #expect(slow.values.isEmpty)
    slow.take()
    #expect(slow.values.count == 1)
    for number in 2...50 {
      try add(store, number)
      store.refresh()
    }
    try store.write { try store.delete(store.objects(Lap.self).where { $0.number < 40 }) }
    store.refresh()
    #expect(slow.values.count == 1)
    slow.take()
    store.refresh()
    #expect(slow.values.count == 2 && slow.values.last?.0.map(\.number) == Array(40...50))
    #expect(slow.values.last?.1 == LiveChanges(deleted: [0], inserted: Array(0...10)))
    slow.cancel()
  }

  @Test func aSlowSubscriberToTwoCollectionsGetsTheNewestPair() throws {
    let store = try makeStore()
    let lap = Lap(number: 1)
    try store.write { try store.add(lap) }
    store.refresh()
    let slow = SlowSubscriber<(Lap, Results<Timer>)>()
    Live.combineLatest(lap, store.objects(Timer.self)).subscribe(slow)
    slow.take()
    for id in 1...3 {
      try store.write {
        lap.time = id
        try store.add(Timer(id: id))
      }
      store.refresh()
    }
    #expect(slow.values.count == 1)
    slow.take()
    store.refresh()
    #expect(slow.values.count == 2 && slow.values.last?.0.time == 3 && slow.values.last?.1.count == 3)
    slow.cancel()
  }

  @Test func nothingComesOnceTheStreamIsCancelledEvenWithinATurn() throws {
    let store = try makeStore()
    var heard: [String] = []
    var second: AnyCancellable?
    let first = Live.collection(from: store.objects(Lap.self)).dropFirst().sink(receiveCompletion: { _ in }) { _ in
      heard.append("first")
      second?.cancel()
    }
    second = Live.collection(from: store.objects(Lap.self)).dropFirst().sink(receiveCompletion: { _ in }) { _ in
      heard.append("second")
    }
    store.refresh()
    try add(store, 1)
    store.refresh()
    #expect(heard == ["first"])
    first.cancel()
  }

  @Test func savedTokensLeaveTheirStreamsOut() throws {
    let store = try makeStore()
    let saved = SavedTokens()
    var counts: [Int] = []
    let stream = Live.collection(from: store.objects(Lap.self)).saving(in: saved)
      .sink(receiveCompletion: { _ in }) { counts.append($0.count) }
    store.refresh()
    try store.write(withoutNotifying: saved.tokens) { try store.add(Lap(number: 1)) }
    store.refresh()
    #expect(counts == [0] && saved.tokens.count == 1)
    try add(store, 2)
    store.refresh()
    #expect(counts == [0, 2])
    stream.cancel()
    #expect(saved.tokens.isEmpty)
  }

  @Test func whatIsOfDifferentStoresIsNotCombined() throws {
    let (store, other) = (try makeStore(), try makeStore())
    let lap = Lap(number: 1)
    func code<T>(_ stream: LivePublisher<T>) -> StoreError.Code? {
      var code: StoreError.Code?
      let subscription = stream.sink(
        receiveCompletion: { if case .failure(let error) = $0 { code = error.code } },
        receiveValue: { _ in Issue.record("There is nothing to give.") })
      subscription.cancel()
      return code
    }
    #expect(code(Live.combineLatest(store.objects(Lap.self), other.objects(Lap.self))) == .wrongStore)
    #expect(code(Live.combineLatest(lap, store.objects(Lap.self))) == .notManaged)
    try other.write { try other.add(lap) }
    #expect(code(Live.combineLatest(lap, store.objects(Lap.self))) == .wrongStore)
    try other.write { try other.delete(lap) }
    #expect(code(Live.combineLatest(lap, other.objects(Lap.self))) == .objectDeleted)
    let wrong = store.objects(Lap.self).filter("nonsense == 1")
    #expect(code(Live.combineLatest(wrong, store.objects(Lap.self))) == store.objects(Lap.self).filter("nonsense == 1").error?.code)
  }

  @Test func twoCollectionsTogetherComeOncePerVersion() throws {
    let store = try makeStore()
    var seen: [[Int]] = []
    let stream = Live.combineLatest(store.objects(Lap.self), store.objects(Timer.self))
      .sink(receiveCompletion: { _ in }) { laps, timers in seen.append([laps.count, timers.count]) }
    store.refresh()
    try store.write {
      try store.add(Lap(number: 1))
      try store.add(Timer(id: 1))
    }
    store.refresh()
    try add(store, 2)
    store.refresh()
    #expect(seen == [[0, 0], [1, 1], [2, 1]])
    stream.cancel()
  }

  @Test func theStoreComesAfterEveryCommit() throws {
    let store = try makeStore()
    var heard = 0
    let stream = Live.store(store).sink(receiveCompletion: { _ in }) { _, notification in
      #expect(notification == .didChange)
      heard += 1
    }
    try add(store, 1)
    store.refresh()
    #expect(heard == 1)
    stream.cancel()
  }

  @Test func everyStreamFailsOnceANewerProgramHasMigratedTheFile() throws {
    let store = try makeStore()
    try add(store, 1)
    var failures: [String] = []
    func note(_ name: String, _ completion: Subscribers.Completion<StoreError>) {
      if case .failure(let error) = completion { failures.append("\(name) \(error.code.rawValue)") }
    }
    let lap = try #require(store.objects(Lap.self).first)
    let streams = [
      Live.store(store).sink(receiveCompletion: { note("store", $0) }, receiveValue: { _ in }),
      Live.object(from: lap).sink(receiveCompletion: { note("object", $0) }, receiveValue: { _ in }),
      Live.collection(from: store.objects(Lap.self)).sink(receiveCompletion: { note("results", $0) }, receiveValue: { _ in }),
    ]
    store.refresh()
    var newer = store.configuration
    newer.schemaVersion = 1
    newer.migration = { _, _ in }
    _ = try Store(newer, isolation: nil)
    store.refresh()
    #expect(failures == ["store newerSchema", "object newerSchema", "results newerSchema"])
    let late = Live.store(store).sink(receiveCompletion: { note("late", $0) }, receiveValue: { _ in })
    #expect(failures.last == "late newerSchema")
    for stream in streams + [late] { stream.cancel() }
  }
}

/// Asks for one value at a time.
final class SlowSubscriber<Input>: Subscriber {
  typealias Failure = StoreError
  private(set) var values: [Input] = []
  private var subscription: (any Subscription)?

  func receive(subscription: any Subscription) { self.subscription = subscription }
  func receive(_ input: Input) -> Subscribers.Demand {
    values.append(input)
    return .none
  }
  func receive(completion: Subscribers.Completion<StoreError>) {}
  func take() { subscription?.request(.max(1)) }
  func cancel() { subscription?.cancel() }
}
