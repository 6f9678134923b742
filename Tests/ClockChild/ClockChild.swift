import ClockJump
import Foundation
import MessageSamples
import StorageCoordination
import StorageInterface
import StorageLMDB
import StorageMemory
import StorageSQLite
import StoreMessages
import Synchronization
import Vivarium
import VivariumTestSupport

/// A process whose clock of dates jumps. It prints "done", or what went wrong.
///
///     clock-child waits FOLDER    waits for the right to write, and says if a wait was for a time of that clock
///     clock-child retries         handles messages while the clock is set a year forward, and eleven years back
@main struct ClockChild {
  private static let year: Int64 = 365 * 86_400

  static func main() throws {
    let arguments = CommandLine.arguments
    switch arguments.count {
    case 3 where arguments[1] == "waits": try wait(in: arguments[2])
    case 2 where arguments[1] == "retries": try retry()
    default: print("usage")
    }
  }

  // MARK: The right to write

  private static func wait(in folder: String) throws {
    // Threads of Dispatch that have nothing to do wait in that way, too.
    clock_watch()
    let locks: [any WriterLock] = [LocalWriterLock(), try FileWriterLock(path: folder + "/lock.coord")]
    for lock in locks { try wait(for: lock) }
    let stores: [Store.Configuration] = [
      .memory("clock", models: Effect.self), .lmdb(URL(filePath: folder + "/lmdb"), models: Effect.self),
      .sqlite(URL(filePath: folder + "/sqlite"), models: Effect.self),
    ]
    for configuration in stores { try wait(behind: configuration) }
    print(clock_waits() == 0 ? "done" : "\(clock_waits()) waits were for a time of the clock of dates")
  }

  private static func wait(for lock: any WriterLock) throws {
    let hold = try lock.acquire(.never)
    if (try? lock.acquire(.after(.milliseconds(5)))) != nil { print("a lock was given twice") }
    let isWaiting = onThread {
      clock_watch()
      (try? lock.acquire(.after(.seconds(3_600))))?.release()
    }
    clock_jump(year)
    hold.release()
    while isWaiting.count == 0 { sched_yield() }
  }

  /// Writes that come too late, in line and behind an open one.
  private static func wait(behind configuration: Store.Configuration) throws {
    var late = configuration
    late.writeTimeout = .milliseconds(5)
    let holder = try Store(configuration, isolation: nil)
    try holder.beginWrite()
    let other = try Store(late, isolation: nil)
    if (try? other.write {}) != nil { print("a write did not wait") }
    let request = try Store(configuration, isolation: nil).writeAsync { try $0.add(Effect(number: 1)) }
    if (try? other.write {}) != nil { print("a write did not wait in line") }
    _ = request.cancel()
    holder.cancelWrite()
    try holder.write { try holder.add(Effect(number: 2)) }
  }

  // MARK: Messages

  private struct Refusal: Error {}

  /// Each message fails once. The first would wait for an hour, were it not for the clock; the second is not to wait for that hour, and the
  /// third not for the years that the clock is behind.
  private static func retry() throws {
    var configuration = Store.Configuration.memory("clock", models: Work.self, Effect.self, MessageReceipt.self)
    configuration.manualDelivery = true
    let store = try Store(configuration, isolation: nil)
    let tried = Mutex<Set<Int>>([])
    var rules = HandlingRules()
    rules.attemptsMax = 1_000
    rules.retryDelay = { _ in tried.withLock { $0.count } == 1 ? .seconds(3_600) : .milliseconds(200) }
    let handler = try MessageHandler.handle(Work.self, named: "a", in: configuration, rules: rules) { work, store in
      if tried.withLock({ $0.insert(work.number).inserted }) { throw Refusal() }
      try Samples.perform(work, in: store)
    }
    try send(1, in: store)
    try wait(store, for: "the first failure") { isTried(1, $0) }
    clock_jump(year)
    try send(2, in: store)
    try wait(store, for: "what was to wait for an hour, and what came later") { Samples.pendingCount($0) == 0 }
    try send(3, in: store)
    try wait(store, for: "the last failure") { isTried(3, $0) }
    clock_jump(-11 * year)
    try wait(store, for: "what failed before the clock was set back") { Samples.pendingCount($0) == 0 }
    handler.stop()
    print("done")
  }

  private static func send(_ number: Int, in store: Store) throws { try store.write { try store.add(Work(number: number)) } }

  /// Whether a message was begun at least once.
  private static func isTried(_ number: Int, _ store: Store) -> Bool {
    store.objects(MessageReceipt.self).filter { $0.message != "" && $0.attempts > 0 }.count >= number
  }

  /// The bound is one that only a failure ever meets, by a clock that nobody sets.
  private static func wait(_ store: Store, for what: String, until isDone: (Store) -> Bool) throws {
    let bound = ContinuousClock.now + .seconds(120)
    while true {
      store.refresh()
      if isDone(store) { return }
      guard ContinuousClock.now < bound else { throw StoreError(.io, "There was never \(what).") }
      sched_yield()
    }
  }
}
