import ChangeTracker
import Dispatch
import Foundation
import Notifications
import StorageInterface
import StorageReference
import StoreValues
import Synchronization
import Testing
import VivariumTestSupport

@Suite struct CommitNotifierTests {
  private let engine: any StorageEngine
  private let notifier: CommitNotifier

  init() throws {
    engine = try ReferenceBackend().open(OpenOptions())
    notifier = CommitNotifier(engine)
  }

  @Test func aQueueHearsOfACommit() throws {
    let queue = DispatchQueue(label: "test")
    let heard = Signal()
    let subscription = try notifier.subscribe(.queue(queue)) { heard.fire() }
    try engine.write { _ in }
    #expect(heard.wait())
    subscription.stop()
  }

  @Test func anActorHearsOfACommitInItsOwnTurn() async throws {
    let listener = Listener()
    try await listener.listen(notifier)
    try engine.write { _ in }
    await listener.heardOnce()
  }

  @Test func manyCommitsBeforeATurnGiveOneTurn() throws {
    let queue = DispatchQueue(label: "test")
    let turns = Atomic(0)
    let heard = Signal()
    queue.suspend()
    let subscription = try notifier.subscribe(.queue(queue)) {
      turns.add(1, ordering: .relaxed)
      heard.fire()
    }
    for _ in 0..<1_000 { notifier.wakeAll() }
    queue.resume()
    #expect(heard.wait())
    queue.sync {}
    #expect(turns.load(ordering: .relaxed) == 1)
    subscription.stop()
  }

  @Test func noTurnBeginsAfterStop() throws {
    let queue = DispatchQueue(label: "test")
    let turns = Atomic(0)
    queue.suspend()
    let subscription = try notifier.subscribe(.queue(queue)) { turns.add(1, ordering: .relaxed) }
    notifier.wakeAll()
    subscription.stop()
    queue.resume()
    queue.sync {}
    #expect(turns.load(ordering: .relaxed) == 0)
  }

  @Test func whoComesWhileTheLastOneLeavesIsHeardOf() throws {
    let engine = ListenerCount(self.engine)
    let notifier = CommitNotifier(engine)
    let context = DeliveryContext.queue(DispatchQueue(label: "test"))
    for _ in 0..<2_000 {
      let last = try notifier.subscribe(context) {}
      let next = Mutex<CommitSubscription?>(nil)
      DispatchQueue.concurrentPerform(iterations: 2) { i in
        if i == 0 { last.stop() } else { next.withLock { $0 = try? notifier.subscribe(context) {} } }
      }
      #expect(engine.count == 1)
      next.withLock { $0?.stop() }
      #expect(engine.count == 0)
    }
  }

  /// Who commits tells subscribers itself, so the bell need not ring for them; it does for commits of anybody else, also meanwhile.
  @Test func onlyCommitsOfWhichTheNotifierTellsNeedNoBell() throws {
    let engine = AskingEngine(self.engine)
    let notifier = CommitNotifier(engine)
    let heard = Signal()
    let subscription = try notifier.subscribe(.queue(DispatchQueue(label: "test"))) { heard.fire() }
    #expect(!engine.isTold)
    let results = ResultNotifier(engine, notifier)
    let write = RecordedTransaction(try engine.beginWrite(.never), origin: 0)
    _ = try results.commit(write, author: nil, timeMilliseconds: 0, .relaxed)
    write.end()
    #expect(engine.answersInCommits == [true])
    #expect(heard.wait())
    #expect(!engine.isTold)
    try engine.write { _ in }
    #expect(engine.answersInCommits == [true, false])
    // On another thread it would be another commit.
    let asked = Signal()
    let isToldThere = Mutex(true)
    try notifier.teller.telling { () throws(StorageError) in
      #expect(engine.isTold)
      Thread.detachNewThread {
        isToldThere.withLock { $0 = engine.isTold }
        asked.fire()
      }
      #expect(asked.wait())
    }
    #expect(!isToldThere.withLock { $0 })
    subscription.stop()
  }

  @Test func aSubscriptionKeepsNoActorAlive() async throws {
    weak var gone: Listener?
    do {
      let listener = Listener()
      try await listener.listen(notifier)
      gone = listener
    }
    #expect(gone == nil)
    notifier.wakeAll()
  }
}

private actor Listener {
  private var subscription: CommitSubscription?
  private var count = 0
  private var waiting: CheckedContinuation<Void, Never>?

  func listen(_ notifier: CommitNotifier) throws {
    subscription = try notifier.subscribe(.actor(self)) { [weak self] in self?.assumeIsolated { $0.hear() } }
  }

  private func hear() {
    count += 1
    waiting?.resume()
    waiting = nil
  }

  func heardOnce() async {
    if count > 0 { return }
    await withCheckedContinuation { waiting = $0 }
  }
}

/// An engine that notes what commits are answered when they ask whether the listener is told, and asks itself.
private final class AskingEngine: EngineInFront {
  let base: any StorageEngine
  private let answers = Mutex<[Bool]>([])
  private let question = Mutex<(@Sendable () -> Bool)?>(nil)

  init(_ base: any StorageEngine) { self.base = base }

  var answersInCommits: [Bool] { answers.withLock { $0 } }
  var isTold: Bool { question.withLock { $0 }?() ?? false }

  func addCommitListener(
    unless isTold: @escaping @Sendable () -> Bool, _ body: @escaping @Sendable () -> Void
  ) throws(StorageError) -> any CommitListener {
    question.withLock { $0 = isTold }
    return try base.addCommitListener(
      unless: { [self] in
        let answer = isTold()
        answers.withLock { $0.append(answer) }
        return answer
      }, body)
  }
}

/// An engine that knows how many listen to it.
private final class ListenerCount: EngineInFront {
  let base: any StorageEngine
  private let listening = Atomic(0)
  var count: Int { listening.load(ordering: .acquiring) }

  init(_ base: any StorageEngine) { self.base = base }

  private final class Listener: CommitListener {
    private let base: any CommitListener
    private let owner: ListenerCount
    private let isOver = Atomic(false)
    init(_ base: any CommitListener, _ owner: ListenerCount) { (self.base, self.owner) = (base, owner) }
    func stop() {
      base.stop()
      if !isOver.exchange(true, ordering: .acquiringAndReleasing) {
        owner.listening.subtract(1, ordering: .acquiringAndReleasing)
      }
    }
  }

  func addCommitListener(
    unless isTold: @escaping @Sendable () -> Bool, _ body: @escaping @Sendable () -> Void
  ) throws(StorageError) -> any CommitListener {
    let listener = Listener(try base.addCommitListener(unless: isTold, body), self)
    listening.add(1, ordering: .acquiringAndReleasing)
    return listener
  }
}
