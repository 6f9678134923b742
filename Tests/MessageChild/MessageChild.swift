import Dispatch
import Foundation
import MessageSamples
import StorageLMDB
import StoreMessages
import Vivarium
import VivariumTestSupport

/// A process that sends or handles messages, and dies without warning where it is told to:
///
///     message-child send PATH FIRST COUNT           sends, and is killed right after the commit
///     message-child inside PATH SEED ODDS NAME      handles in the store until nothing waits for NAME; dies once in ODDS steps
///     message-child outside PATH SEED ODDS NAME LOG the same by work outside the store, which it writes down
///     message-child poison PATH NUMBER NAME         handles in the store until nothing waits; dies of one message
@main struct MessageChild {
  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 4 else { exit(2) }
    let configuration = Samples.configuration(arguments[2])
    let numbers = arguments[3...].map { Int($0) ?? 0 }
    switch arguments[1] {
    case "send": try send(configuration, first: numbers[0], count: numbers[1])
    case "inside": try handleInside(configuration, Dice(numbers[0], numbers[1]), arguments[5])
    case "outside": try handleOutside(configuration, Dice(numbers[0], numbers[1]), arguments[5], log: arguments[6])
    case "poison": try handlePoison(configuration, number: numbers[0], name: arguments[4])
    default: exit(2)
    }
  }

  static func die() -> Never {
    kill(getpid(), SIGKILL)
    // Not reached: nothing comes after SIGKILL.
    exit(9)
  }

  /// Dies while what comes next goes on: the commit of what a handler did, most of the times.
  private static func dieSoon(after microseconds: Int) {
    DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(microseconds)) { die() }
  }

  private static func send(_ configuration: Store.Configuration, first: Int, count: Int) throws {
    let store = try Store(configuration, isolation: nil)
    try store.write { for number in first..<first + count { try store.add(Work(number: number)) } }
    die()
  }

  private static func handlePoison(_ configuration: Store.Configuration, number: Int, name: String) throws {
    var rules = HandlingRules()
    rules.attemptsMax = 3
    let handler = try MessageHandler.handle(Work.self, named: name, in: configuration, rules: rules) { work, store in
      try Samples.perform(work, in: store)
      if work.number == number { die() }
    }
    try wait(configuration) { $0.pending == 0 }
    handler.stop()
  }

  private static func handleInside(_ configuration: Store.Configuration, _ dice: Dice, _ name: String) throws {
    var rules = HandlingRules()
    // Here the dice kill, and no message is to blame.
    rules.attemptsMax = 1_000
    let handler = try MessageHandler.handle(
      Work.self, named: name, in: configuration, rules: rules, orderedBy: { $0.group }
    ) { work, store in
      if dice.falls() { die() }
      try Samples.perform(work, in: store, by: name)
      if dice.falls() { die() }
      if dice.falls() { dieSoon(after: dice.microseconds()) }
    }
    try wait(configuration) { $0.open(for: name) == 0 }
    handler.stop()
  }

  private static func handleOutside(_ configuration: Store.Configuration, _ dice: Dice, _ name: String, log: String) throws {
    var rules = HandlingRules()
    rules.lease = .milliseconds(200)
    rules.attemptsMax = 1_000
    let handler = try MessageHandler.handle(
      Work.self, named: name, in: configuration, rules: rules,
      outside: { job in
        if dice.falls() { die() }
        try append("\(job.idempotencyKey)\n", to: log)
        if dice.falls() { die() }
        return { work, store in
          try Samples.perform(work, in: store, by: name)
          if dice.falls() { die() }
          if dice.falls() { dieSoon(after: dice.microseconds()) }
        }
      })
    try wait(configuration) { $0.open(for: name) == 0 }
    handler.stop()
  }

  private static func append(_ line: String, to path: String) throws {
    let file = open(path, O_WRONLY | O_APPEND | O_CREAT, 0o644)
    guard file >= 0 else { throw StoreError(.io, "The log cannot be opened.") }
    _ = line.withCString { write(file, $0, strlen($0)) }
    close(file)
  }

  private static func wait(_ configuration: Store.Configuration, until isDone: @escaping (Observer) -> Bool) throws {
    let changed = Signal()
    let queue = DispatchQueue(label: "child")
    let observer = try queue.sync { try Observer(configuration, queue, changed) }
    _ = changed.wait { queue.sync { isDone(observer) } }
    queue.sync { observer.end() }
  }
}

/// Says once in so many throws that it is over, and how soon. Any thread.
final class Dice: Sendable {
  private let random: Locked<SeededGenerator>
  private let odds: Int

  init(_ seed: Int, _ odds: Int) {
    random = Locked(SeededGenerator(seed: UInt64(seed)))
    self.odds = odds
  }

  /// Up to what a commit takes that waits for the disk.
  func microseconds() -> Int { random.with { $0.below(3_000) } }

  func falls() -> Bool { odds > 0 && random.with { $0.oneIn(odds) } }
}
