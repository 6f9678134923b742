import Dispatch
import StorageCoordination
import StorageInterface
import Synchronization

/// The order in which the stores of one process write a file, and the means to wait for it. Any thread.
///
/// `WriterStateMachine` makes all decisions, under the only lock here; engine and waiters are used outside the lock, and the worker
/// only gets its work under it.
/// Asynchronous writes wait for the worker before they enter the engine's queue. So that a synchronous write does not overtake
/// them, they take a place in a line here when requested, and so does a synchronous write that finds the line occupied. If the line
/// is empty, it goes straight to the engine, whose queue is shared by all processes.
final class WriterQueue: Sendable {
  /// What is waited for once: a place in line, or a fetch.
  final class Waiter: Sendable, Equatable {
    private let turn = WakeUp()

    static func == (a: Waiter, b: Waiter) -> Bool { a === b }

    /// Blocks until woken; false past the deadline.
    func wait(_ deadline: Deadline) -> Bool { turn.wait(deadline) }

    fileprivate func wake() { turn.wake() }
  }

  // Sound because a write transaction is bound to no thread, only to one owner at a time, and the machine gives it only to the
  // first that asks.
  private struct Right: @unchecked Sendable {
    let write: any WriteTransaction
  }

  private let machine = Mutex(WriterStateMachine<WriteSite, Waiter, Right>())
  private let engine: any StorageEngine
  /// Runs asynchronous writes in the order of their requests.
  private let worker = DispatchQueue(label: "vivarium.writer")
  private static let isWorker = DispatchSpecificKey<Bool>()

  init(_ engine: any StorageEngine) {
    self.engine = engine
    worker.setSpecific(key: WriterQueue.isWorker, value: true)
  }

  // MARK: - The line

  /// The number of places in the line.
  var count: Int { machine.withLock { $0.line.count } }

  /// Takes the last place, and runs `body` on the worker after everything submitted before: there it waits until the place is at the
  /// front, asks the engine, and leaves. Both in one step: if the places had another order than the worker's work, the worker would
  /// wait for a place whose own work comes later.
  func join(_ place: Waiter, _ body: @escaping @Sendable () -> Void) {
    machine.withLock { machine in
      worker.async(execute: body)
      return machine.join(place)
    }?.wake()
  }

  /// Leaves the place, so that the next one comes to the front. Idempotent.
  func leave(_ waiter: Waiter) { machine.withLock { $0.leave(waiter) }?.wake() }

  // MARK: - The right

  /// The right to write for a store, now: one that is already there, or a new one. Blocks until the deadline at most.
  func right(for owner: UInt64, at site: WriteSite, _ deadline: Deadline) throws(StoreError) -> any WriteTransaction {
    let patience = WriterStateMachine<WriteSite, Waiter, Right>.Patience(
      isEndless: deadline.remaining == nil, mayStand: DispatchQueue.getSpecific(key: WriterQueue.isWorker) != true)
    while true {
      switch machine.withLock({ $0.ask(owner, at: site, patience, Waiter()) }) {
      case .take(let right): return right.write
      case .begin: return try begin(deadline)
      case .stand(let waiter):
        defer { leave(waiter) }
        guard waiter.wait(deadline) else { throw StoreError(StorageError.lateForWrite) }
        return try begin(deadline)
      case .await(let waiter):
        guard waiter.wait(deadline) else {
          perform(machine.withLock { $0.gaveUp(waiter) })
          throw StoreError(StorageError.lateForWrite)
        }
        if case .success(let write) = take(waiter) { return write }
      case .refuse(.openFurtherUp(let open)): throw .openFurtherUp(begun: "\(open.place)")
      case .refuse(.waitsForItself(let open)): throw .waitsForItself(begun: "\(open.place)")
      }
    }
  }

  private func begin(_ deadline: Deadline) throws(StoreError) -> any WriteTransaction {
    try storing { () throws(StorageError) in try engine.beginWrite(deadline) }
  }

  /// Keeps the right while the store's observers are notified, for writes of theirs.
  func keep(_ write: any WriteTransaction, for owner: UInt64, at site: WriteSite) {
    let right = Right(write: write)
    machine.withLock { $0.keep(right, for: owner, at: site) }
  }

  /// Takes the right back after observers were notified; nil if one of them wrote with it.
  func takeBack(_ owner: UInt64) -> (any WriteTransaction)? { machine.withLock { $0.takeBack(owner) }?.write }

  /// Records that a store has opened its write.
  func opened(_ owner: UInt64, at site: WriteSite) { machine.withLock { $0.opened(owner, at: site) } }

  /// Runs `body`, which ends a store's write.
  func ending<R>(_ owner: UInt64, _ body: () -> R) -> R {
    machine.withLock { $0.willEnd(owner) }
    defer { machine.withLock { $0.ended(owner) } }
    return body()
  }

  /// Runs `body` in a store's open write.
  func running<R>(_ owner: UInt64, at site: WriteSite, _ body: () throws -> R) rethrows -> R {
    machine.withLock { $0.beginBody(owner, at: site) }
    defer { machine.withLock { $0.endBody(owner) } }
    return try body()
  }

  // MARK: - Fetching

  /// Begins a write on the worker for a store that continues in a turn. Calls `arrived` there, once.
  func fetch(for owner: UInt64, at site: WriteSite, _ deadline: Deadline, arrived: @escaping @Sendable (Waiter) -> Void) -> Waiter {
    let waiter = Waiter()
    machine.withLock { $0.fetch(owner, at: site, waiter) }
    worker.async { [self] in
      let made = Result { () throws(StoreError) in Right(write: try begin(deadline)) }
      perform(machine.withLock { $0.came(waiter, made) })
      arrived(waiter)
    }
    return waiter
  }

  /// The result of a fetch, for the first caller; nil if it has not arrived, or was taken.
  func take(_ waiter: Waiter) -> Result<any WriteTransaction, StoreError>? {
    machine.withLock { $0.take(waiter) }.map { taken in taken.map { $0.write } }
  }

  /// Whether the fetch's right has not been taken yet, arrived or not.
  func isFetched(_ waiter: Waiter) -> Bool { machine.withLock { $0.isFetched(waiter) } }

  /// Abandons a fetch: its store will not take the right.
  func abandon(_ waiter: Waiter) { perform(machine.withLock { $0.abandon(waiter) }) }

  private func perform(_ action: WriterStateMachine<WriteSite, Waiter, Right>.Action) {
    switch action {
    case .none: break
    case .wake(let waiter): waiter.wake()
    case .release(let right): right.write.end()
    }
  }
}

extension StoreError {
  fileprivate static func openFurtherUp(begun: String) -> StoreError {
    StoreError(
      .alreadyInWrite,
      "A write of another store of this file is open further up on this thread (it began at \(begun)), and ends after this one.",
      remedy: "Pass the store of the open write on, and write with that.", details: ["begun": begun])
  }

  fileprivate static func waitsForItself(begun: String) -> StoreError {
    StoreError(
      .alreadyInWrite, "Another store of this file has a write open (it began at \(begun)) where this one would wait for its end.",
      remedy: "Commit or cancel that write first, write within it, or give the store a 'writeTimeout'.", details: ["begun": begun])
  }
}
