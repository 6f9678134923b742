import Dispatch
import Testing
import Vivarium
import VivariumTestSupport

/// Writes of a store that come while the library's queue has not begun to watch an object yet.
@Suite struct LateObservationTests {
  private let configuration = makeConfiguration()
  private let queue = DispatchQueue(label: "observing")
  /// Lets the library's queue go on.
  private let gate = Signal()
  private let heard = HeardObject()

  /// A store of the queue, and another one, which has added a person.
  private func makeStores() throws -> (Store, Store) {
    let store = try queue.sync { try Store(configuration, queue: queue) }
    let other = try Store(configuration)
    try other.write { try other.add(Person(name: "Ann", age: 1)) }
    return (store, other)
  }

  /// Observes the person, and holds the library's queue up before that begins. On the queue of the store.
  private func observe(in store: Store) throws -> (Person, NotificationToken) {
    store.refresh()
    let person = try #require(store.objects(Person.self).first)
    store.notifierQueue.async { [gate] in _ = gate.wait() }
    return (person, person.observe { [heard] in heard.hear($0) })
  }

  private func edit(_ store: Store, _ body: (Person) -> Void) throws {
    try store.write { body(try #require(store.objects(Person.self).first)) }
  }

  /// An object's observer has no first call that could show what there is. So what others committed is told before the write opens, and
  /// after the write the observer knows all there is.
  ///
  /// `isHearing`: whether the library keeps something else for the store, and takes turns with it meanwhile.
  @Test(arguments: [false, true]) func anObserverIsToldOfOthersBeforeAWriteThatSkipsIt(isHearing: Bool) throws {
    let (store, other) = try makeStores()
    let beside = queue.sync { isHearing ? store.objects(Dog.self).observe { _ in } : nil }
    let (person, token) = try queue.sync { try observe(in: store) }
    try edit(other) {
      $0.age = 2
      $0.scores.append(1)
    }
    try queue.sync {
      var told: [String] = []
      try store.write(withoutNotifying: [token]) {
        told = heard.take()
        person.name = "Bea"
        gate.fire()
      }
      #expect(told == ["age 1 -> 2, scores -[] +[0] ~[]"])
      // The queue, which comes to it now, tells nothing twice.
      store.refresh()
      #expect(heard.take() == [])
    }
    try edit(other) {
      $0.name = "Cas"
      $0.age = 3
      $0.scores.append(2)
    }
    queue.sync {
      store.refresh()
      #expect(heard.take() == ["name Bea -> Cas, age 2 -> 3, scores -[] +[1] ~[]"])
      token.stop()
      beside?.stop()
    }
  }

  /// The store shows what it has moved to in a write that changes nothing, too.
  @Test func anObserverIsToldOfOthersBeforeAWriteThatMakesNothing() throws {
    let (store, other) = try makeStores()
    let (person, token) = try queue.sync { try observe(in: store) }
    try edit(other) { $0.age = 2 }
    try queue.sync {
      try store.beginWrite()
      #expect(person.age == 2 && heard.take() == ["age 1 -> 2"])
      try store.commitWrite(silently: true)
    }
    gate.fire()
    queue.sync {
      store.refresh()
      #expect(heard.take() == [])
      token.stop()
    }
  }

  @Test func oneThatAWriteHasBegunLeavesNothingWhenItIsStopped() throws {
    let (store, other) = try makeStores()
    let (person, token) = try queue.sync { try observe(in: store) }
    try edit(other) { $0.age = 2 }
    try queue.sync {
      try store.write { person.name = "Bea" }
      #expect(heard.take() == ["age 1 -> 2"])
      token.stop()
    }
    gate.fire()
    #expect(store.notifierWork.watches == 0 && store.notifierWork.places == 0)
    queue.sync {}
  }
}
