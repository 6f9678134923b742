import StorageInterface
import StoreValues

@testable import Vivarium

/// Where an actor of a test stands. Without a context it belongs to its thread.
struct TestSite: WritingSite, Hashable {
  var thread: Int
  var context: Int?

  func isSameThread(as other: Self) -> Bool { thread == other.thread }
  func isSameContext(as other: Self) -> Bool { context != nil && context == other.context }
  func holdsUp(_ waiting: Self) -> Bool { isSameContext(as: waiting) || (context == nil && isSameThread(as: waiting)) }
}

typealias TestMachine = WriterStateMachine<TestSite, Int, Int>

/// A store, or another process, that writes once.
struct WorldActor {
  enum Role: Hashable {
    /// Writes here and now. Without patience it may give up wherever it waits. Its write may be left open over turns.
    case synchronous(isEndless: Bool, leavesOpen: Bool = false)
    /// Writes on the worker, and may be cancelled.
    case queued
    /// Has the worker fetch the right for a turn of its context, and may be gone before.
    case turning
    /// Another process, of which nothing is known but that it has the engine's lock.
    case foreign
  }

  enum Step: Hashable {
    case idle, standing(Int), awaiting(Int), locking(Int?), fetching(Int)
    /// The right is in its hands.
    case having(mayKeep: Bool)
    case keeping, open, ending, released
    case refused, late, cancelled, gone, done
  }

  var role: Role
  var site: TestSite
  /// The actor whose observers, or whose write's code, this one is called by.
  var host: Int?
  var step = Step.idle
  /// How often it had something fetched.
  var fetches = 0

  init(_ role: Role, thread: Int, context: Int? = nil, host: Int? = nil) {
    self.role = role
    self.site = TestSite(thread: thread, context: context)
    self.host = host
  }

  var isOver: Bool { [.refused, .late, .cancelled, .gone, .done].contains(step) }
  var mayGiveUp: Bool { if case .synchronous(isEndless: false, _) = role { true } else { false } }

  /// Whether it is on its thread and its context now, so that nobody else is.
  var isInside: Bool {
    if isOver || step == .idle { return false }
    switch role {
    case .synchronous(_, let leavesOpen): return !(leavesOpen && step == .open)
    case .turning: if case .fetching = step { return false } else { return true }
    case .queued, .foreign: return false
    }
  }
}

/// Everything round the machine, made of numbers: threads, contexts, the worker and the engine's lock. It does in single steps what
/// `WriterQueue` and stores do, and checks in each that the right is in one hand, and in none only when the lock is free.
struct WriterWorld {
  enum Requester: Hashable {
    case actor(Int)
    case job(Int)
  }

  struct Job: Hashable {
    var actor: Int
    var waiter: Int
    var isLocking = false
  }

  struct Event: Hashable {
    enum Verb: Hashable { case go, alternative, giveUp, lock, work, fail }
    var verb: Verb
    /// Of an actor, or of the worker's job.
    var actor: Int
  }

  struct Violation: Error, CustomStringConvertible {
    var description: String
  }

  var machine = TestMachine()
  var actors: [WorldActor]
  var lockLine: [Requester] = []
  var isLocked = false
  var jobs: [Job] = []
  var woken: Set<Int> = []
  /// Fetches whose turn is due.
  var turns: Set<Int> = []

  init(_ actors: [WorldActor]) { self.actors = actors }

  var isOver: Bool { actors.allSatisfy(\.isOver) && jobs.isEmpty }

  /// The same for worlds that go on in the same way.
  var key: String {
    let steps = actors.map { "\($0.step)\($0.fetches)" }.joined(separator: ",")
    let fetches = machine.fetches.map { "\($0.waiter)\($0.owner ?? 99)\($0.phase)" }
    return "\(steps)|\(machine.holder)|\(machine.body.map { $0.owner } ?? 99)|\(machine.line)|\(fetches)|\(lockLine)|\(isLocked)|"
      + "\(jobs)|\(woken.sorted())|\(turns.sorted())"
  }
}

// MARK: - What can happen

extension WriterWorld {
  var events: [Event] {
    var events: [Event] = []
    for i in actors.indices {
      let actor = actors[i]
      func add(_ verb: Event.Verb) { events.append(Event(verb: verb, actor: i)) }
      // A store can go from anywhere.
      if case .fetching = actor.step { add(.giveUp) }
      if actor.isOver || !mayMove(i) { continue }
      switch actor.step {
      case .standing(let waiter):
        if actor.role == .queued {
          add(.giveUp)
        } else {
          if woken.contains(waiter) { add(.go) }
          if actor.mayGiveUp { add(.giveUp) }
        }
      case .awaiting(let waiter):
        if woken.contains(waiter) { add(.go) }
        if actor.mayGiveUp { add(.giveUp) }
      case .locking:
        if lockLine.first == .actor(i), !isLocked { add(.lock) }
        if actor.mayGiveUp || actor.role == .queued { add(.giveUp) }
      case .fetching(let waiter):
        if turns.contains(waiter) { add(.go) }
      case .having(let mayKeep):
        add(.go)
        if mayKeep { add(.alternative) }
      default: add(.go)
      }
    }
    if let job = jobs.first {
      let isQueued = actors[job.actor].role == .queued
      if !job.isLocking, !isQueued || isReady(job) { events.append(Event(verb: .work, actor: job.actor)) }
      if job.isLocking, !isQueued {
        if lockLine.first == .job(job.waiter), !isLocked { events.append(Event(verb: .lock, actor: job.actor)) }
        events.append(Event(verb: .fail, actor: job.actor))
      }
    }
    return events
  }

  private func isReady(_ job: Job) -> Bool { actors[job.actor].isOver || woken.contains(job.waiter) }

  /// A thread does one thing at a time, and so does a context; one that is called by another goes before it.
  private func mayMove(_ i: Int) -> Bool {
    if actors.contains(where: { $0.host == i && $0.isInside }) { return false }
    if let host = actors[i].host {
      let step = actors[host].step
      return actors[i].isInside || step == .keeping || step == .open || actors[host].isOver
    }
    return !actors.indices.contains { j in
      guard j != i, actors[j].host == nil, actors[j].isInside else { return false }
      return actors[j].site.isSameThread(as: actors[i].site) || actors[j].site.isSameContext(as: actors[i].site)
    }
  }
}
