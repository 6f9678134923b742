import StoreReactive
import Testing
import Vivarium

@Suite struct ObjectStreamTests {
  private func lap(_ store: Store) throws -> Lap {
    let lap = Lap(number: 1, time: 10)
    try store.write { try store.add(lap) }
    store.refresh()
    return lap
  }

  @Test func theObjectComesAtOnceAndAfterEveryChange() throws {
    let store = try makeStore()
    let lap = try lap(store)
    var times: [Int] = []
    let stream = Live.object(from: lap).sink(receiveCompletion: { _ in }) { times.append($0.time) }
    #expect(times == [10])
    try store.write { lap.time = 20 }
    store.refresh()
    #expect(times == [10, 20])
    stream.cancel()
    try store.write { lap.time = 30 }
    store.refresh()
    #expect(times == [10, 20])
  }

  @Test func deletionFailsTheStreamAndEndsIt() throws {
    let store = try makeStore()
    let lap = try lap(store)
    var failure: StoreError.Code?
    let stream = Live.object(from: lap, emitInitialValue: false)
      .sink(receiveCompletion: { if case .failure(let error) = $0 { failure = error.code } }, receiveValue: { _ in Issue.record("A value.") })
    try store.write { try store.delete(lap) }
    store.refresh()
    #expect(failure == .objectDeleted)
    stream.cancel()
  }

  /// Its observers follow the new object, and the first instance is of none.
  @Test func anObjectThatIsMadeAgainWithItsPrimaryKeyGoesOnAsTheNewOne() throws {
    let store = try makeStore()
    let lap = try lap(store)
    var (times, pairs): ([Int], [Int]) = ([], [])
    let stream = Live.object(from: lap).sink(receiveCompletion: { _ in }) { times.append($0.time) }
    let pair = Live.combineLatest(lap, store.objects(Timer.self)).sink(receiveCompletion: { _ in }) { pairs.append($0.0.time) }
    try store.write {
      try store.delete(lap)
      try store.add(Lap(number: 1, time: 20))
    }
    store.refresh()
    #expect(times == [10, 20] && pairs == [10, 20])
    try store.write { store.object(Lap.self, forPrimaryKey: 1)?.time = 30 }
    store.refresh()
    #expect(times == [10, 20, 30] && pairs == [10, 20, 30])
    stream.cancel()
    pair.cancel()
  }

  @Test func everyPropertyThatChangedIsOneValue() throws {
    let store = try makeStore()
    let lap = try lap(store)
    var changes: [String] = []
    let stream = Live.propertyChanges(of: lap).sink(receiveCompletion: { _ in }) { change in
      changes.append("\(change.name) \(change.oldValue ?? .null) \(change.newValue ?? .null)")
    }
    try store.write { lap.time = 20 }
    store.refresh()
    #expect(changes == ["time \(Value.int(10)) \(Value.int(20))"])
    stream.cancel()
  }

  @Test func aSlowSubscriberHearsOfAPropertyOnce() throws {
    let store = try makeStore()
    let lap = try lap(store)
    let slow = SlowSubscriber<PropertyChange>()
    Live.propertyChanges(of: lap).subscribe(slow)
    slow.take()
    for time in [20, 30, 40] {
      try store.write { lap.time = time }
      store.refresh()
    }
    #expect(slow.values.map(\.newValue) == [.int(20)])
    slow.take()
    #expect(slow.values.map(\.newValue) == [.int(20), .int(40)] && slow.values.last?.oldValue == .int(20))
    slow.cancel()
  }
}
