import Dispatch
import Foundation
import Synchronization
import Vivarium

/// One running handler of messages of one type.
final class Handling<M: Message>: HandlerWork, @unchecked Sendable {
  // Sound because what is not constant is touched on `queue` alone: `begin`, `turn` and `end` are called there, and what
  // work outside the store gives comes back to it. `stopped` is atomic.

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
  /// Tells the claims of this handler from others'.
  let owner = UUID().uuidString
  private let stopped = Atomic(false)

  private var store: Store?
  private var token: NotificationToken?
  private var isWorkingOutside = false
  private var wakeTime: Date?
  /// When messages were last looked through for old ones.
  private var lastAgeing = Date(timeIntervalSinceReferenceDate: 0)

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

  private var isStopped: Bool { stopped.load(ordering: .acquiring) }
  func stop() { stopped.store(true, ordering: .releasing) }

  func begin() throws(StoreError) {
    let store = try Store(configuration, queue: queue)
    self.store = store
    token = store.observe { [weak self] _, _ in self?.schedule() }
    schedule()
  }

  func end() {
    token?.stop()
    token = nil
    store = nil
  }

  private func schedule() { queue.async { [weak self] in self?.turn() } }

  /// Deals with one message, and asks for another turn if it found one: others on the queue get theirs in between.
  private func turn() {
    guard !isStopped, !isWorkingOutside, let store else { return }
    do {
      switch body {
      case .inside(let body): try dealInside(store, body)
      case .outside(let body): try claim(store, body)
      }
    } catch {
      // The store could not be written: its owner hears of that elsewhere. The next commit or the next second brings
      // another try.
      StoreLog.warning("The message handler '\(name)' could not write: \(error)")
      wake(at: Date().addingTimeInterval(1))
    }
  }

  /// Another turn at a time, where nothing else brings one.
  private func wake(at time: Date?) {
    guard let time else { return }
    if let wakeTime, wakeTime <= time { return }
    wakeTime = time
    queue.asyncAfter(deadline: .now() + max(time.timeIntervalSinceNow, 0.001)) { [weak self] in
      // The clocks of a queue and of dates differ: this may be a little early, and then there is a next time.
      self?.wakeTime = nil
      self?.turn()
    }
  }
}

// MARK: - Inside the store

extension Handling {
  private func dealInside(_ store: Store, _ body: (M, Store) throws -> Void) throws {
    guard try hasWork(store) else { return }
    let found: Bool = try store.write {
      guard let next = try next(store) else { return false }
      next.receipt.attempts += 1
      do {
        try store.savepoint { try body(next.message, store) }
        finish(next, store)
      } catch {
        postpone(next, error)
      }
      try trim(store)
      return true
    }
    if found { schedule() }
  }

  private func finish(_ next: Found, _ store: Store) {
    next.receipt.state = .done
    next.receipt.lastError = nil
    if !next.message.isInvalidated, next.message.status == .notProcessed { next.message.succeed() }
  }

  private func postpone(_ next: Found, _ error: any Error) {
    next.receipt.lastError = "\(error)"
    if next.receipt.attempts >= rules.attemptsMax {
      next.receipt.state = .dead
      next.message.fail(message: "\(error)")
      return
    }
    next.receipt.state = .open
    let time = Date().addingTimeInterval(rules.retryDelay(next.receipt.attempts).seconds)
    next.receipt.notBefore = time
    wake(at: time)
  }
}

// MARK: - Outside the store

extension Handling {
  private func claim(
    _ store: Store, _ body: @escaping @Sendable (MessageJob<M>) async throws -> @Sendable (M, Store) throws -> Void
  ) throws {
    guard try hasWork(store) else { return }
    let job: MessageJob<M>? = try store.write {
      guard let next = try next(store) else { return nil }
      if next.receipt.attempts >= rules.attemptsMax {
        // It was begun as often as it may be, and whoever began it died.
        postpone(next, StoreError(.attemptsExhausted, "Nobody finished the work in \(next.receipt.attempts) attempts."))
        return nil
      }
      next.receipt.state = .claimed
      next.receipt.owner = owner
      next.receipt.attempts += 1
      next.receipt.notBefore = Date().addingTimeInterval(rules.lease.seconds)
      return MessageJob(
        message: next.message.reference, idempotencyKey: next.receipt.id, attempt: next.receipt.attempts)
    }
    guard let job else { return schedule() }
    isWorkingOutside = true
    Task { [self] in
      let result: Result<@Sendable (M, Store) throws -> Void, any Error>
      do { result = .success(try await body(job)) } catch { result = .failure(error) }
      queue.async { self.settle(job, result) }
    }
  }

  private func settle(_ job: MessageJob<M>, _ result: Result<@Sendable (M, Store) throws -> Void, any Error>) {
    isWorkingOutside = false
    defer { schedule() }
    guard let store else { return }
    do {
      try store.write {
        guard let message = store.resolve(job.message),
          let receipt = store.object(MessageReceipt.self, forPrimaryKey: job.idempotencyKey),
          // The lease may have ended, and somebody else be at it.
          receipt.state == .claimed, receipt.owner == owner
        else { return }
        let found = Found(message: message, receipt: receipt)
        do {
          let effect = try result.get()
          try store.savepoint { try effect(message, store) }
          finish(found, store)
        } catch {
          postpone(found, error)
        }
        try trim(store)
      }
    } catch {
      StoreLog.warning("The message handler '\(name)' could not write: \(error)")
    }
  }
}

extension StoreError.Code {
  /// A message was begun as often as its handler's rules allow, and never finished.
  public static let attemptsExhausted = Self(rawValue: "attemptsExhausted")
}

// MARK: - Finding

extension Handling {
  struct Found {
    let message: M
    let receipt: MessageReceipt
  }

  private func pending(_ store: Store) -> Results<M> {
    store.objects(M.self).matching("status", .int(Int64(MessageStatus.notProcessed.rawValue)))
  }

  /// Whether to open a write at all. A store that waits for nothing writes nothing.
  private func hasWork(_ store: Store) throws -> Bool {
    store.refresh()
    return try choose(store) != nil
  }

  /// The next message in a write, with its receipt.
  private func next(_ store: Store) throws -> Found? {
    guard let choice = try choose(store) else { return nil }
    if let receipt = choice.receipt { return Found(message: choice.message, receipt: receipt) }
    let receipt = MessageReceipt(id: receiptID(choice.message), message: choice.message.objectIdentifier)
    try store.add(receipt)
    return Found(message: choice.message, receipt: receipt)
  }

  private func receiptID(_ message: M) -> String { "\(name)/\(M._$name)/\(message._$key)" }

  /// The first message that may be begun now. A message that may not keeps back those after it with the same key.
  private func choose(_ store: Store) throws -> (message: M, receipt: MessageReceipt?)? {
    let now = Date()
    var heldBack: Set<String> = []
    var earliest: Date?
    for message in pending(store) {
      let key = key?(message)
      if let key, heldBack.contains(key) { continue }
      let receipt = store.object(MessageReceipt.self, forPrimaryKey: receiptID(message))
      switch receipt?.state {
      case .done, .dead: continue
      case nil: return (message, nil)
      case .open, .claimed:
        guard let receipt, receipt.notBefore > now else { return (message, receipt) }
        if let key { heldBack.insert(key) }
        earliest = min(earliest ?? receipt.notBefore, receipt.notBefore)
      }
    }
    wake(at: earliest)
    return nil
  }
}

// MARK: - Keeping

extension Handling {
  /// Deletes messages that were dealt with, and their receipts, by the rules. Their age is looked at once a minute.
  private func trim(_ store: Store) throws {
    guard let retention = rules.retention else { return }
    let now = Date()
    let isAgeing = retention.age != nil && now.timeIntervalSince(lastAgeing) > 60
    guard isAgeing || retention.count != nil else { return }
    let settled = [MessageStatus.success, .error].flatMap { status in
      store.objects(M.self).matching("status", .int(Int64(status.rawValue))).toArray()
    }
    var gone: Set<M> = []
    if isAgeing, let age = retention.age {
      lastAgeing = now
      let oldest = now.addingTimeInterval(-age.seconds)
      gone.formUnion(settled.filter { $0.updatedAt < oldest })
    }
    if let count = retention.count, settled.count > count {
      gone.formUnion(settled.sorted { $0.updatedAt < $1.updatedAt }.prefix(settled.count - count))
    }
    for message in gone {
      let receipts = store.objects(MessageReceipt.self).where { $0.message == message.objectIdentifier }
      try store.delete(receipts)
      try store.delete(message)
    }
  }
}
