import Dispatch
import Foundation
import Vivarium

/// A program whose `main` is not asynchronous, and that observes on its main thread.
///
/// The store is opened for the main actor (`actor`), the main queue (`queue`) or the main run loop (`run-loop`), and the thread is served
/// by `RunLoop.main.run()` (`run-loop`) or by `dispatchMain()` (`dispatch`).
@MainActor enum MainThread {
  private static var observation: Observation?
  private static var others: [Store] = []

  /// Observes until the input ends. A line of it is a number: a mark of that number is written on the main actor.
  static func observe(_ configuration: Store.Configuration, in context: String, servedBy way: String) throws -> Never {
    // A call that never comes ends the program, and with it the test that waits for it.
    alarm(300)
    observation = Observation(try open(configuration, context))
    // Stores of the same thread, however it is named, do not get in each other's way.
    others = try ["actor", "queue", "run-loop"].map { try open(configuration, $0) }
    Thread.detachNewThread {
      while let line = readLine(), let number = Int(line) { Task { @MainActor in MainThread.add(number) } }
      Task { @MainActor in MainThread.end() }
    }
    if way == "dispatch" { dispatchMain() }
    RunLoop.main.run()
    // The main thread's loop has the main queue to wait for, and never returns.
    exit(3)
  }

  private static func open(_ configuration: Store.Configuration, _ context: String) throws -> Store {
    switch context {
    case "queue": return try Store(configuration, queue: .main)
    case "run-loop": return try Store(configuration, runLoop: .main)
    default: return try Store(configuration)
    }
  }

  private static func add(_ number: Int) {
    do { try observation?.add(number) } catch { WatchChild.say("\(error)") }
  }

  private static func end() {
    observation?.end()
    exit(0)
  }
}
