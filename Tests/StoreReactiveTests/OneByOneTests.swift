import StoreReactive
import Testing
import Vivarium

/// Asks for one value after the other, and does something with each.
private final class OneByOne<Input>: Subscriber {
  typealias Failure = StoreError
  private let body: (Input) -> Void
  private var subscription: (any Subscription)?

  init(_ body: @escaping (Input) -> Void) { self.body = body }

  func receive(subscription: any Subscription) {
    self.subscription = subscription
    subscription.request(.max(1))
  }
  func receive(_ input: Input) -> Subscribers.Demand {
    body(input)
    return .max(1)
  }
  func receive(completion: Subscribers.Completion<StoreError>) {}
  func cancel() { subscription?.cancel() }
}

@Suite struct OneByOneTests {
  /// Beginning its write delivers what others have committed, while it has asked for nothing.
  @Test func aSubscriberThatWritesGetsWhatOthersCommitMeanwhile() throws {
    let configuration = makeConfiguration()
    let (store, other) = (try Store(configuration, isolation: nil), try Store(configuration, isolation: nil))
    let lap = Lap(number: 1, time: 10)
    try store.write { try store.add(lap) }
    store.refresh()
    other.refresh()
    let same = try #require(other.object(Lap.self, forPrimaryKey: 1))
    var times: [Int] = []
    let subscriber = OneByOne<(Lap, Results<Timer>)> { value in
      times.append(value.0.time)
      guard value.0.time == 20 else { return }
      do {
        try other.write { same.time = 30 }
        try store.write { try store.add(Todo(title: "of others")) }
      } catch { Issue.record(error) }
    }
    Live.combineLatest(lap, store.objects(Timer.self)).subscribe(subscriber)
    #expect(times == [10])
    try store.write { lap.time = 20 }
    while store.refresh() {}
    #expect(times == [10, 20, 30])
    subscriber.cancel()
  }
}
