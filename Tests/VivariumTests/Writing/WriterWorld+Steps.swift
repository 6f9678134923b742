import StorageInterface
import StoreValues

@testable import Vivarium

extension WriterWorld {
  private func fail(_ message: String) -> Violation { Violation(description: "\(message): \(key)") }

  mutating func happen(_ event: Event) throws {
    let i = event.actor
    switch event.verb {
    case .lock: try lock(i)
    case .work: try work()
    case .fail: come(.failure(StoreError(StorageError.lateForWrite)))
    case .giveUp: giveUp(i)
    case .alternative:
      machine.keep(1, for: UInt64(i), at: actors[i].site)
      actors[i].step = .keeping
    case .go: try go(i)
    }
    try check()
  }

  private mutating func go(_ i: Int) throws {
    let (owner, site) = (UInt64(i), actors[i].site)
    switch actors[i].step {
    case .idle: try begin(i)
    case .standing(let waiter):
      if machine.line.first != waiter { throw fail("\(waiter) overtakes") }
      lockLine.append(.actor(i))
      actors[i].step = .locking(waiter)
    case .awaiting(let waiter):
      woken.remove(waiter)
      if case .success = machine.take(waiter) { actors[i].step = .having(mayKeep: true) } else { actors[i].step = .idle }
    case .fetching(let waiter):
      turns.remove(waiter)
      switch machine.take(waiter) {
      case .success: actors[i].step = .having(mayKeep: true)
      case .failure: actors[i].step = .late
      case nil: fetch(i)
      }
    case .having:
      if actors[i].role != .foreign {
        if case .open = machine.holder { throw fail("a second writer") }
        machine.opened(owner, at: site)
        machine.beginBody(owner, at: site)
        if case .synchronous(_, leavesOpen: true) = actors[i].role { machine.endBody(owner) }
      }
      actors[i].step = .open
    case .keeping: actors[i].step = machine.takeBack(owner) == nil ? .idle : .having(mayKeep: false)
    case .open:
      if actors[i].role != .foreign {
        machine.endBody(owner)
        machine.willEnd(owner)
      }
      actors[i].step = .ending
    case .ending:
      isLocked = false
      actors[i].step = .released
    case .released:
      if actors[i].role != .foreign { machine.ended(owner) }
      actors[i].step = .done
      if actors[i].role == .queued { jobs.removeFirst() }
    default: throw fail("nothing to do for \(i)")
    }
  }

  private mutating func begin(_ i: Int) throws {
    switch actors[i].role {
    case .foreign:
      lockLine.append(.actor(i))
      actors[i].step = .locking(nil)
    case .queued:
      wake(machine.join(i))
      if machine.line.last != i { throw fail("\(i) is not the last in line") }
      jobs.append(Job(actor: i, waiter: i))
      actors[i].step = .standing(i)
    case .turning: fetch(i)
    case .synchronous(let isEndless, _):
      switch machine.ask(UInt64(i), at: actors[i].site, .init(isEndless: isEndless, mayStand: true), i) {
      case .take: actors[i].step = .having(mayKeep: true)
      case .await(let waiter): actors[i].step = .awaiting(waiter)
      case .stand(let waiter):
        woken.remove(waiter)
        if machine.line.last != i || machine.line.count < 2 { throw fail("\(i) is not the last in line") }
        actors[i].step = .standing(waiter)
      case .begin:
        lockLine.append(.actor(i))
        actors[i].step = .locking(nil)
      case .refuse: actors[i].step = .refused
      }
    }
  }

  private mutating func fetch(_ i: Int) {
    let waiter = 100 + i * 10 + actors[i].fetches % 2
    actors[i].fetches = 1 - actors[i].fetches
    woken.remove(waiter)
    machine.fetch(UInt64(i), at: actors[i].site, waiter)
    jobs.append(Job(actor: i, waiter: waiter))
    actors[i].step = .fetching(waiter)
  }

  /// The engine gives its lock to the first of its line.
  private mutating func lock(_ i: Int) throws {
    isLocked = true
    if case .job = lockLine.removeFirst() { return come(.success(1)) }
    guard case .locking(let place) = actors[i].step else { throw fail("\(i) was not waiting") }
    if let place { wake(machine.leave(place)) }
    actors[i].step = .having(mayKeep: actors[i].role != .foreign)
  }

  /// The worker goes on with the first of its jobs.
  private mutating func work() throws {
    let job = jobs[0]
    guard actors[job.actor].role == .queued else {
      lockLine.append(.job(job.waiter))
      return jobs[0].isLocking = true
    }
    if actors[job.actor].isOver { return jobs = Array(jobs.dropFirst()) }
    if machine.line.first != job.waiter { throw fail("\(job.waiter) overtakes") }
    lockLine.append(.actor(job.actor))
    jobs[0].isLocking = true
    actors[job.actor].step = .locking(job.waiter)
  }

  private mutating func come(_ result: Result<Int, StoreError>) {
    let job = jobs.removeFirst()
    lockLine.removeAll { $0 == .job(job.waiter) }
    perform(machine.came(job.waiter, result))
    if actors[job.actor].step == .fetching(job.waiter) { turns.insert(job.waiter) }
  }

  private mutating func giveUp(_ i: Int) {
    switch actors[i].step {
    case .standing(let waiter): wake(machine.leave(waiter))
    case .locking(let place):
      if let place { wake(machine.leave(place)) }
      lockLine.removeAll { $0 == .actor(i) }
      if actors[i].role == .queued { jobs.removeFirst() }
    case .awaiting(let waiter): perform(machine.gaveUp(waiter))
    case .fetching(let waiter):
      turns.remove(waiter)
      perform(machine.abandon(waiter))
    default: break
    }
    actors[i].step = actors[i].role == .queued ? .cancelled : actors[i].role == .turning ? .gone : .late
  }

  private mutating func perform(_ action: TestMachine.Action) {
    switch action {
    case .none: break
    case .wake(let waiter): woken.insert(waiter)
    case .release: isLocked = false
    }
  }

  private mutating func wake(_ waiter: Int?) { if let waiter { woken.insert(waiter) } }

  /// What holds after every step.
  private func check() throws {
    var rights = 0
    if case .kept = machine.holder { rights += 1 }
    for fetch in machine.fetches { if case .arrived(.success) = fetch.phase { rights += 1 } }
    for actor in actors {
      switch actor.step {
      case .having, .open, .ending: rights += 1
      default: break
      }
    }
    if rights != (isLocked ? 1 : 0) { throw fail("\(rights) rights") }
    if let first = machine.line.first, !woken.contains(first) { throw fail("\(first) is first in line and asleep") }
    for (i, actor) in actors.enumerated() where actor.isOver {
      if machine.line.contains(i) { throw fail("\(i) left a place") }
      if machine.fetches.contains(where: { $0.owner == UInt64(i) }) { throw fail("\(i) left a fetch") }
    }
    if isOver { try checkEnd() }
  }

  private func checkEnd() throws {
    guard case .nobody = machine.holder, machine.body == nil, machine.line.isEmpty, machine.fetches.isEmpty, !isLocked else {
      throw fail("traces are left")
    }
  }

  /// Everybody was served, or said that they would not be.
  func checkStuck() throws { if !isOver { throw fail("forgotten") } }
}
