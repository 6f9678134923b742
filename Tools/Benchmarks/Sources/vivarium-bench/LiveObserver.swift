import Dispatch
import Foundation
import Synchronization
import Vivarium

/// An observer of a live query of W10, W11 and W15 on a queue of its own.
final class LiveObserver {
  /// What is observed.
  enum Question: String {
    /// `done == false` by `due`: seven rows of ten.
    case sorted
    /// The same without an order.
    case unsorted
    /// `project == 417` by `due`: a row of a thousand, by an index.
    case small
    /// `done == false` by `priority`, then `due`.
    case twoKeys
    /// `done == false` by `title`.
    case text

    func results(in store: Store) -> Results<TaskItem> {
      let all = store.objects(TaskItem.self)
      return switch self {
      case .sorted: all.where { $0.done == false }.sorted(by: \.due)
      case .unsorted: all.where { $0.done == false }
      case .small: all.where { $0.project == LiveObserver.project }.sorted(by: \.due)
      case .twoKeys: all.where { $0.done == false }.sorted(by: [SortKey(\TaskItem.priority), SortKey(\TaskItem.due)])
      case .text: all.where { $0.done == false }.sorted(by: \.title)
      }
    }
  }

  static let project: Int64 = 417

  /// The newest version that was heard of, when, and how many change sets came.
  struct Heard: Sendable {
    var version: UInt64 = 0
    var time = 0.0
    var count = 0
  }

  private let queue = DispatchQueue(label: "bench.observer")
  private let heard = Ear()
  private var store: Store?
  private var token: NotificationToken?

  /// Shared with the observing block. `onChange` runs on the observer's queue.
  private final class Ear: Sendable {
    let state = Mutex(Heard())
    let bell = DispatchSemaphore(value: 0)
  }

  /// Returns once the observer has its first result.
  init(
    _ configuration: Store.Configuration, _ question: Question = .sorted,
    onChange: @escaping @Sendable (Double) -> Void = { _ in }
  ) throws {
    let heard = heard
    try queue.sync {
      let store = try Store(configuration, queue: queue)
      token = question.results(in: store).observe { change in
        let time = Clock.wall()
        let version = change.details?.toVersion.rawValue
        heard.state.withLock { state in
          state.time = time
          if let version {
            state.version = version
            state.count += 1
          }
        }
        if version != nil { onChange(time) }
        heard.bell.signal()
      }
      self.store = store
    }
    if heard.bell.wait(timeout: .now() + .seconds(Silence.limit)) == .timedOut {
      throw Silence(listener: "an observer that waits for its first result")
    }
  }

  /// Waits until the observer has a version.
  func wait(for version: Version) throws -> Heard {
    while true {
      let state = heard.state.withLock { $0 }
      if state.version >= version.rawValue { return state }
      if heard.bell.wait(timeout: .now() + .seconds(Silence.limit)) == .timedOut {
        throw Silence(listener: "an observer at version \(state.version), \(version.rawValue) was committed,")
      }
    }
  }

  var count: Int { heard.state.withLock { $0.count } }

  func stop() {
    queue.sync {
      token?.stop()
      token = nil
      store = nil
    }
  }
}

/// A contestant whose queries can be observed.
protocol LiveContestant: Contestant {
  var configuration: Store.Configuration { get }
  func observe(_ question: LiveObserver.Question) throws -> LiveObserver
  /// Sets `due` of these ids in one durable transaction. Calls `begin` right before the commit.
  func moveDues(_ ids: [Int], _ random: inout SplitMix, begin: () -> Void) throws -> Version
  /// The same with `title`.
  func rename(_ ids: [Int], _ random: inout SplitMix, begin: () -> Void) throws -> Version
}

extension Course {
  /// Ids of open tasks, which W10's query holds.
  func openIDs(_ k: Int, _ data: Dataset, _ random: inout SplitMix) -> [Int] {
    var ids: Set<Int> = []
    while ids.count < k {
      let id = random.below(count)
      if !data.rows[id].done { ids.insert(id) }
    }
    return Array(ids)
  }

  /// Ids of the tasks that W10.small's query holds, of those that are there for certain: the data has more for later inserts.
  private func smallIDs(_ data: Dataset) -> [Int] {
    (0..<count).filter { data.rows[$0].project == LiveObserver.project }
  }

  func live(_ contestant: any LiveContestant, _ data: Dataset) throws {
    var random = SplitMix(seed: 10)
    for k in [1, 100, 10_000] where wants("W10.k\(k)") && count >= k * 4 {
      let cpu = try watched("W10.k\(k)", .sorted, contestant, rounds: k == 10_000 ? 7 : 31) { openIDs(k, data, &random) }
      guard k == 1, wants("W10.cpu") else { continue }
      let alone = try unwatched(contestant) { openIDs(1, data, &random) }
      line("W10.cpu", max(0, cpu - alone), max(0, cpu - alone), "CPU of the process beyond that of the commit, 1 change")
    }
    if wants("W10.unsorted") {
      _ = try watched("W10.unsorted", .unsorted, contestant, rounds: 31) { openIDs(1, data, &random) }
    }
    if wants("W10.small") {
      let ids = smallIDs(data)
      if !ids.isEmpty {
        _ = try watched("W10.small", .small, contestant, rounds: 31) { [ids[random.below(ids.count)]] }
      }
    }
    for (name, question) in [("W18.two", LiveObserver.Question.twoKeys), ("W18.text", .text)] {
      for (name, k) in [(name, 1), (name + ".k100", 100)] where wants(name) && count >= k * 4 {
        _ = try watched(name, question, contestant, rounds: 31) { openIDs(k, data, &random) }
      }
    }
    try observers(contestant, data, &random)
    if wants("W11") { try manyCommits(contestant, data, &random) }
    if wants("W15"), engine.isOnDisk {
      try anotherProcess("W15", .sorted, contestant) { openIDs(1, data, &random) }
      let ids = smallIDs(data)
      if !ids.isEmpty { try anotherProcess("W15.small", .small, contestant) { [ids[random.below(ids.count)]] } }
    }
  }

  /// Commits changes of some ids under an observer and reports the medians of both times. Returns the median CPU time.
  private func watched(
    _ name: String, _ question: LiveObserver.Question, _ contestant: any LiveContestant, rounds: Int, _ ids: () -> [Int]
  ) throws -> Double {
    let observer = try contestant.observe(question)
    defer { observer.stop() }
    var random = SplitMix(seed: 11)
    var (fromStart, fromReturn, cpus): ([Double], [Double], [Double]) = ([], [], [])
    for _ in 0..<rounds {
      var (start, cpu) = (0.0, 0.0)
      let begin = { (start, cpu) = (Clock.wall(), Clock.cpu()) }
      let version =
        question == .text
        ? try contestant.rename(ids(), &random, begin: begin) : try contestant.moveDues(ids(), &random, begin: begin)
      let end = Clock.wall()
      let heard = try observer.wait(for: version)
      fromStart.append(heard.time - start)
      fromReturn.append(max(0, heard.time - end))
      cpus.append(Clock.cpu() - cpu)
    }
    let cpu = cpus.sorted()[rounds / 2]
    line(name, fromStart.sorted()[rounds / 2], cpu, "commit's start to the observer having the change set")
    line(name + ".view", fromReturn.sorted()[rounds / 2], cpu, "commit's return to the observer having the change set")
    return cpu
  }

  /// The median CPU time of the same commits while nobody observes.
  private func unwatched(_ contestant: any LiveContestant, _ ids: () -> [Int]) throws -> Double {
    var random = SplitMix(seed: 12)
    var cpus: [Double] = []
    for _ in 0..<31 {
      var cpu = 0.0
      _ = try contestant.moveDues(ids(), &random) { cpu = Clock.cpu() }
      cpus.append(Clock.cpu() - cpu)
    }
    return cpus.sorted()[15]
  }

  private func manyCommits(
    _ contestant: any LiveContestant, _ data: Dataset, _ random: inout SplitMix
  ) throws {
    func run(_ observer: LiveObserver?) throws {
      let ids = openIDs(1_000, data, &random)
      let (wall, cpu) = (Clock.wall(), Clock.cpu())
      var last = Version(0)
      for id in ids { last = try contestant.moveDues([id], &random) {} }
      if let observer { _ = try observer.wait(for: last) }
      line(
        observer == nil ? "W11.unobserved" : "W11", Clock.wall() - wall, Clock.cpu() - cpu,
        check: nil,
        observer.map { "1,000 commits until the last is heard of, in \($0.count) change sets" } ?? "1,000 commits, nobody listens")
    }
    try run(nil)
    let observer = try contestant.observe(.sorted)
    defer { observer.stop() }
    try run(observer)
  }

  /// W15: a child process observes and says when it has each change set.
  private func anotherProcess(
    _ name: String, _ question: LiveObserver.Question, _ contestant: any LiveContestant, _ ids: () -> [Int]
  ) throws {
    var random = SplitMix(seed: name.utf8.reduce(13) { $0 &* 31 &+ UInt64($1) })
    let child = try ListeningProcess(engine, path: path, question)
    var seconds: [Double] = []
    for _ in 0..<31 {
      _ = try contestant.moveDues(ids(), &random) {}
      let end = Clock.wall()
      seconds.append(max(0, try child.next() - end))
    }
    try child.stop()
    line(name, seconds.sorted()[15], 0, "commit's return to another process having the change set")
  }
}
