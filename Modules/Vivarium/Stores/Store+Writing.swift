import ChangeTracker
import Dispatch
import Notifications
import Storage
import Synchronization

extension Store {
  /// Whether a write of this store is open.
  public var isInWriteTransaction: Bool { writing != nil }

  /// Opens a write from the newest version. Observers first hear of what that brings. Waits for other writers, of
  /// other processes too, for at most `Configuration.writeTimeout`.
  ///
  /// `.alreadyInWrite` when one is open, `.writeTimeout`, `.readOnly`, `.wrongContext`, `.readOnlyOperation`.
  ///
  /// - Parameter timeout: how long to wait for other writers; nil: as the configuration says.
  public func beginWrite(timeout: Duration? = nil) throws(StoreError) {
    try checkContext("beginWrite")
    guard !isReadOnly else { throw .readOnlyOperation("'beginWrite'") }
    guard writing == nil else {
      throw StoreError(
        .alreadyInWrite, "A write of this store is open already.",
        remedy: "Write within it; transactions do not nest.")
    }
    let deadline = (timeout ?? configuration.writeTimeout).map { Deadline.after($0) } ?? .never
    let transaction = try reserveWrite(deadline)
    if transaction.version != snapshot.version {
      // Somebody committed while this store waited: a cancel must come back to that version.
      do throws(StoreError) { try advance() } catch {
        transaction.end()
        throw error
      }
    }
    writing = RecordedTransaction(transaction, origin: origin)
    read(from: transaction)
  }

  /// The right to write, with observers told of everything before it. Somebody may commit between the two; then it is
  /// given up and asked for again, a few times: what waits after that is told after the write.
  private func reserveWrite(_ deadline: Deadline) throws(StoreError) -> any WriteTransaction {
    var attempt = 0
    while true {
      attempt += 1
      deliver(waits: true)
      guard writing == nil else {
        throw StoreError(.alreadyInWrite, "An observer's block opened a write of this store and left it open.")
      }
      let transaction = try storing { () throws(StorageError) in try shared.engine.beginWrite(deadline) }
      if transaction.version == snapshot.version || resultObservers.isEmpty || attempt == 20 { return transaction }
      transaction.end()
    }
  }

  /// Commits the open write. Afterwards the store is at the new version, and every observer will hear of it, but those of
  /// `tokens`: they know what the write did, and hear of everything else as ever.
  ///
  /// ```swift
  /// try store.beginWrite()
  /// try store.delete(messages[row])
  /// table.deleteRow(at: row)
  /// try store.commitWrite(withoutNotifying: [token])
  /// ```
  ///
  /// When it throws, the write is over and nothing of it is visible.
  public func commitWrite(
    withoutNotifying tokens: [NotificationToken] = [], author: String? = nil, durability: Durability? = nil
  ) throws(StoreError) {
    guard let write = writing else { throw .notInWrite("'commitWrite'") }
    dropWindows()
    writing = nil
    let result = Result { () throws(StorageError) in
      try write.isEmpty
        ? nil
        : commit(
          write, without: tokens.compactMap { $0.subject as? ResultObservation }, author ?? configuration.author,
          durability ?? configuration.durability)
    }
    write.end()
    read(from: snapshot)
    switch result {
    case .success(nil): scheduleTurnIfBehind()
    case .success: try? advance()  // a snapshot that cannot be had now is had at the next refresh
    case .failure(let error):
      commitActions = []
      throw StoreError(error)
    }
    let actions = commitActions
    commitActions = []
    for action in actions { action() }
  }

  private func commit(
    _ write: RecordedTransaction, without observations: [ResultObservation], _ author: String?, _ durability: Durability
  ) throws(StorageError) -> Version {
    let time = Store.now
    return try shared.commitGate.withLock { _ throws(StorageError) in
      if observations.isEmpty { return try write.commit(author: author, timeMilliseconds: time, durability) }
      var record = write.record
      record.version = write.transaction.version.next
      record.author = author
      return try shared.results.commit(write.transaction, record, skipping: observations) { () throws(StorageError) in
        try write.commit(author: author, timeMilliseconds: time, durability)
      }
    }
  }

  /// Undoes the open write: every object is as it was, objects created in it are invalid. Nothing without one.
  public func cancelWrite() {
    guard let write = writing else { return }
    commitActions = []
    dropWindows()
    writing = nil
    write.end()
    read(from: snapshot)
    scheduleTurnIfBehind()
  }

  /// Runs `body` in a write, here and now, and returns what it returns. When `body` throws, everything is undone and
  /// the same error is thrown on. A body may commit or cancel by itself.
  @discardableResult
  public func write<R>(
    withoutNotifying tokens: [NotificationToken] = [], author: String? = nil, durability: Durability? = nil,
    _ body: () throws -> R
  ) throws -> R {
    try beginWrite()
    do {
      let result = try body()
      if writing != nil { try commitWrite(withoutNotifying: tokens, author: author, durability: durability) }
      return result
    } catch {
      cancelWrite()
      throw error
    }
  }

  /// Runs `body` in a write on another thread, with a store of its own; the caller is suspended, not blocked. Writes run in
  /// the order in which they were asked for. When this returns, the calling store sees what was written.
  ///
  /// `.cancelled` when the task is cancelled before the write begins.
  @discardableResult
  public func write<R: Sendable>(
    withoutNotifying tokens: [NotificationToken] = [], author: String? = nil, durability: Durability? = nil,
    isolation: isolated (any Actor)? = #isolation, _ body: @escaping @Sendable (Store) throws -> R
  ) async throws -> R {
    if Task.isCancelled { throw StoreError.cancelledWrite }
    let (shared, configuration) = (shared, configuration)
    let isWanted = StopFlag()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Result<R, any Error>, Never>) in
        shared.worker.async {
          continuation.resume(
            returning: Result {
              guard isWanted.isActive else { throw StoreError.cancelledWrite }
              let store = try Store(configuration, shared, home: .manual)
              return try store.write(withoutNotifying: tokens, author: author, durability: durability) { try body(store) }
            })
        }
      }
    } onCancel: {
      isWanted.stop()
    }
    if writing == nil { refresh() }
    return try result.get()
  }

  /// The open write, for a call that needs one.
  func openWrite(for what: @autoclosure () -> String) throws(StoreError) -> RecordedTransaction {
    if let writing { return writing }
    try checkContext(what())
    if isReadOnly { throw .readOnlyOperation(what()) }
    throw .notInWrite(what())
  }

  /// Throws when the calling code runs elsewhere than the store's context, as far as that can be told: actors check
  /// at compile time.
  func checkContext(_ what: String) throws(StoreError) {
    switch home {
    case .queue(let queue):
      let current = DispatchQueue.getSpecific(key: Store.currentQueue)
      if current == ObjectIdentifier(queue) { return }
      throw .wrongContext(what, expected: "queue '\(queue.label)'", actual: current == nil ? "no queue of a store" : "another queue")
    case .runLoop(let loop):
      if loop.isCurrent { return }
      throw .wrongContext(what, expected: "the thread of the store's run loop", actual: "another thread")
    case .actor, .manual: return
    }
  }
}

extension StoreError {
  fileprivate static var cancelledWrite: StoreError {
    StoreError(.cancelled, "The task was cancelled before the write began.")
  }

  fileprivate static func wrongContext(_ what: String, expected: String, actual: String) -> StoreError {
    StoreError(
      .wrongContext, "'\(what)' was called on \(actual), and the store belongs to \(expected).",
      remedy: "Open a store in each context, and pass an ObjectReference between them.",
      details: ["expected": expected, "actual": actual])
  }
}
