import Dispatch
import Foundation
import Synchronization
import Vivarium

/// One running handler of messages of one type.
final class Handling<M: Message>: HandlerWork, @unchecked Sendable {
  // Sound because everything that is not constant is accessed on `queue` alone: `begin`, `turn` and `end` are called there, and the
  // results of work outside the store are delivered there. `stopped` is atomic.

  enum Body: Sendable {
    case inside(@Sendable (M, Store) throws -> Void)
    case outside(@Sendable (MessageJob<M>) async throws -> @Sendable (M, Store) throws -> Void)
  }

  let queue: DispatchQueue
  let name: String
  let configuration: Store.Configuration
  let rules: HandlingRules
  let key: (@Sendable (M) -> String?)?
  let body: Body
  /// Distinguishes the claims of this handler from those of others.
  let owner = UUID().uuidString
  let status = HandlerStatus()
  private let stopped = Atomic(false)

  var store: Store?
  private var token: NotificationToken?
  var isWorkingOutside = false
  /// Whether the handler was stopped during work outside the store whose result is still to be written.
  var isEnding = false
  /// When a turn comes by itself, by a clock that nobody sets.
  private var wakeTime: ContinuousClock.Instant?
  /// Whether the store records that this handler runs.
  var isAnnounced = false
  /// Messages up to this key may have killed an earlier handler: each is begun in a write of its own.
  var carefulUpTo: Int64 = 0
  /// The receipt of the message that was begun in this way.
  var begun: String?
  /// This name has finished every pending message up to this key. Reset from time to time.
  var doneUpTo: Int64 = 0
  var lastWhole: ContinuousClock.Instant?
  /// When messages begin whose receipts say a time that is too far off.
  var farOff: [String: ContinuousClock.Instant] = [:]
  /// When ages of messages were last checked.
  var lastAgeing: ContinuousClock.Instant?
  /// How many messages were too many when `trim` last looked, and stayed because a name owes them; less those that this handler has
  /// handled since. Reset from time to time.
  var keptBack = 0
  var lastKeeping: ContinuousClock.Instant?
  /// The key of the receipt that `sweep` examined last.
  var swept: Int64 = 0
  /// What kind of error the last write failed with; nil if it did not.
  private var failure: String?

  init(
    _ queue: DispatchQueue, _ name: String, _ configuration: Store.Configuration, _ rules: HandlingRules,
    _ key: (@Sendable (M) -> String?)?, _ body: Body
  ) {
    self.queue = queue
    self.name = name
    self.configuration = configuration
    self.rules = rules
    self.key = key
    self.body = body
  }

  deinit { LiveHandlers.remove(owner) }

  private var isStopped: Bool { stopped.load(ordering: .acquiring) }
  func stop() { stopped.store(true, ordering: .releasing) }

  func begin() throws(StoreError) {
    let store = try Store(configuration, queue: queue)
    if let error = store.objects(M.self).error ?? store.objects(MessageReceipt.self).error { throw error }
    try register(store)
    self.store = store
    token = store.observe { [weak self] _, _ in self?.schedule() }
    schedule()
  }

  func end() {
    token?.stop()
    isEnding = true
    if isWorkingOutside { return }
    withdraw()
    token = nil
    store = nil
    status.change(to: .ended(nil))
  }

  func schedule() { queue.async { [weak self] in self?.turn() } }

  /// Handles one message. If it found one, schedules another turn, so that other work on the queue runs in between.
  private func turn() {
    guard !isStopped, !isWorkingOutside, let store else { return }
    do {
      switch body {
      case .inside(let body): try dealInside(store, body)
      case .outside(let body): try claim(store, body)
      }
      // What comes from now on cannot be seen.
      if let outdated = store.outdated { throw outdated }
    } catch {
      failed(error)
    }
  }

  /// Something was written.
  func succeeded() {
    guard failure != nil else { return }
    failure = nil
    StoreLog.warning("The message handler '\(name)' can write again.")
    status.change(to: .running)
  }

  /// The store could not be read or written: ends, or tries again with the next commit or in a second. Reported once for each kind of
  /// error, however many tries it takes.
  func failed(_ error: any Error) {
    let code = (error as? StoreError)?.code
    if let code, Self.lastingErrors.contains(code) {
      StoreLog.warning("The message handler '\(name)' ends: \(error)")
      status.change(to: .ended(error))
      stop()
      return end()
    }
    wake(at: Date().addingTimeInterval(1))
    // What was deleted with the write may be there again.
    (lastAgeing, lastKeeping) = (nil, nil)
    let kind = code?.rawValue ?? "\(error)"
    if failure == kind { return }
    failure = kind
    StoreLog.warning("The message handler '\(name)' could not write, and tries again: \(error)")
    status.change(to: .failing(error))
  }

  /// Those that a store, as it is open now, does not get over.
  private static var lastingErrors: Set<StoreError.Code> { [.newerSchema, .readOnly, .corrupt, .replaced, .closed] }

  /// Schedules a turn for a time, unless something else causes one before. For one that is far off a turn looks again.
  func wake(at time: Date?) {
    guard let time else { return }
    let seconds = min(max(time.timeIntervalSinceNow, 0.001), 86_400)
    let due = ContinuousClock.now + .seconds(seconds)
    if let wakeTime, wakeTime <= due { return }
    wakeTime = due
    queue.asyncAfter(deadline: .now() + seconds) { [weak self] in
      // The clocks of queues and of dates differ: this may fire a little early, and is then scheduled again.
      self?.wakeTime = nil
      self?.turn()
    }
  }
}
