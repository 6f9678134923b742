import Dispatch
import Foundation
import StoreValues
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

@Suite struct NotificationTests {
  @Test func everyCommitOfAnybodyIsTold() throws {
    let configuration = makeConfiguration()
    let (one, two) = (try Store(configuration), try Store(configuration))
    var heard: [Int] = []
    let token = two.observe { notification, store in
      #expect(notification == .didChange && !store.isInWriteTransaction)
      heard.append(store.objects(Dog.self).count)
    }
    try one.write { try one.add(Dog()) }
    try one.write { try one.add(Dog()) }
    #expect(heard.isEmpty)
    two.refresh()
    #expect(heard == [2])
    try two.write { try two.add(Dog()) }
    two.refresh()
    #expect(heard == [2, 3])
    #expect(token.stop() && !token.stop())
    try one.write { try one.add(Dog()) }
    two.refresh()
    #expect(heard == [2, 3])
  }

  @Test func anObserverOfAStoreIsSkippedLikeAnyOther() throws {
    let configuration = makeConfiguration()
    let (one, two) = (try Store(configuration), try Store(configuration))
    var heard = ""
    let token = one.observe { _, store in heard += " a\(store.objects(Dog.self).count)" }
    let other = one.observe { _, store in heard += " b\(store.objects(Dog.self).count)" }
    func take() -> String {
      one.refresh()
      defer { heard = "" }
      return heard
    }
    try one.write(withoutNotifying: [token]) { try one.add(Dog()) }
    #expect(take() == " b1")
    try one.write { try one.add(Dog()) }
    #expect(take() == " a2 b2")
    // A write that comes to nothing takes the skip with it.
    try one.write(withoutNotifying: [token]) { _ = 0 }
    #expect(throws: CancellationError.self) {
      try one.write(withoutNotifying: [token]) {
        try one.add(Dog())
        throw CancellationError()
      }
    }
    try two.write { try two.add(Dog()) }
    #expect(take() == " a3 b3")
    // By another store too, and what waits is told.
    try two.write(withoutNotifying: [token]) { try two.add(Dog()) }
    #expect(take() == " b4")
    try two.write { try two.add(Dog()) }
    try two.write(withoutNotifying: [token]) { try two.add(Dog()) }
    #expect(take() == " a6 b6")
    token.stop()
    other.stop()
  }

  @Test func beginningAWriteTellsWhatItBringsBeforeItOpens() throws {
    let configuration = makeConfiguration()
    let (one, two) = (try Store(configuration), try Store(configuration))
    var states: [Bool] = []
    let token = two.observe { _, store in states.append(store.isInWriteTransaction) }
    try one.write { try one.add(Dog()) }
    try two.write { #expect(states == [false]) }
    token.stop()
  }

  @Test func aBlockMayStopOthersAndRegister() throws {
    let store = try makeStore()
    var heard = ""
    var tokens: [NotificationToken] = []
    tokens.append(
      store.observe { _, store in
        heard += "a"
        if heard == "a" {
          tokens[1].stop()
          tokens.append(store.observe { _, _ in heard += "c" })
        }
      })
    tokens.append(store.observe { _, _ in heard += "b" })
    try store.write { try store.add(Dog()) }
    store.refresh()
    #expect(heard == "a")
    try store.write { try store.add(Dog()) }
    store.refresh()
    #expect(heard == "aac")
    for token in tokens { token.stop() }
  }

  @Test func aQueueStoreHearsByItself() throws {
    let queue = DispatchQueue(label: "test.observer")
    let configuration = makeConfiguration()
    let told = Signal()
    let count = Mutex(0)
    let observing = try queue.sync { try Observing(configuration, queue, told) { seen in count.withLock { $0 = seen } } }
    let writer = try Store(configuration)
    try writer.write { try writer.add(Dog()) }
    #expect(told.wait { count.withLock { $0 } == 1 })
    queue.sync { observing.end() }
  }

  @Test func anActorHearsByItself() async throws {
    let watcher = try Watcher(makeConfiguration())
    try await watcher.begin()
    let configuration = watcher.configuration
    let writer = try Store(configuration)
    try writer.write { try writer.add(Dog()) }
    #expect(await watcher.first() == 1)
    await watcher.end()
  }

  @Test func withoutAutorefreshARefreshIsAskedFor() async throws {
    var configuration = makeConfiguration()
    configuration.autorefresh = false
    let watcher = try Watcher(configuration)
    try await watcher.begin()
    let writer = try Store(configuration)
    try writer.write { try writer.add(Dog()) }
    #expect(await watcher.first() == 0)
    await watcher.end()
  }
}

/// A store on a queue. Touched on that queue alone.
private final class Observing: @unchecked Sendable {
  // Sound because the tests use it inside `queue.sync` alone.
  private let store: Store
  private let token: NotificationToken

  init(
    _ configuration: Store.Configuration, _ queue: DispatchQueue, _ told: Signal, _ seen: @escaping @Sendable (Int) -> Void
  ) throws {
    store = try Store(configuration, queue: queue)
    token = store.observe { _, store in
      seen(store.objects(Dog.self).count)
      told.fire()
    }
  }

  func end() { token.stop() }
}

private actor Watcher {
  let configuration: Store.Configuration
  private let store: Store
  private var token: NotificationToken?
  private var counts: [Int] = []
  private var waiting: CheckedContinuation<Int, Never>?

  /// The store is opened where there is no isolation yet.
  init(_ configuration: Store.Configuration) throws {
    self.configuration = configuration
    store = try Store(configuration)
  }

  func begin() throws {
    token = store.observe { [weak self] _, store in
      let count = store.objects(Dog.self).count
      self?.assumeIsolated { $0.heard(count) }
    }
  }

  private func heard(_ count: Int) {
    counts.append(count)
    waiting?.resume(returning: count)
    waiting = nil
  }

  func first() async -> Int {
    if let count = counts.first { return count }
    return await withCheckedContinuation { waiting = $0 }
  }

  func end() { token?.stop() }
}
