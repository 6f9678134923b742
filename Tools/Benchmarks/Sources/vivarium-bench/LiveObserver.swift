import Dispatch
import Foundation
import Synchronization
import Vivarium

/// An observer of the live query of W10, W11 and W15 (`done == false` by `due`) on a queue of its own.
final class LiveObserver {
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
  init(_ configuration: Store.Configuration, onChange: @escaping @Sendable (Double) -> Void = { _ in }) throws {
    let heard = heard
    try queue.sync {
      let store = try Store(configuration, queue: queue)
      token = store.objects(TaskItem.self).where { $0.done == false }.sorted(by: \.due).observe { change in
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
    heard.bell.wait()
  }

  /// Waits until the observer has a version.
  func wait(for version: Version) -> Heard {
    while true {
      let state = heard.state.withLock { $0 }
      if state.version >= version.rawValue { return state }
      heard.bell.wait()
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
  func observe() throws -> LiveObserver
  /// Sets `due` of these ids in one durable transaction. Calls `begin` right before the commit.
  func moveDues(_ ids: [Int], _ random: inout SplitMix, begin: () -> Void) throws -> Version
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

  func live(_ contestant: any LiveContestant, _ data: Dataset) throws {
    var random = SplitMix(seed: 10)
    for k in [1, 100, 10_000] where wants("W10.k\(k)") && count >= k * 4 {
      let observer = try contestant.observe()
      defer { observer.stop() }
      var (fromStart, fromReturn, cpus): ([Double], [Double], [Double]) = ([], [], [])
      for _ in 0..<(k == 10_000 ? 7 : 31) {
        let ids = openIDs(k, data, &random)
        var (start, cpu) = (0.0, 0.0)
        let version = try contestant.moveDues(ids, &random) { (start, cpu) = (Clock.wall(), Clock.cpu()) }
        let end = Clock.wall()
        let heard = observer.wait(for: version)
        fromStart.append(heard.time - start)
        fromReturn.append(max(0, heard.time - end))
        cpus.append(Clock.cpu() - cpu)
      }
      let middle = fromStart.count / 2
      line(
        "W10.k\(k)", fromStart.sorted()[middle], cpus.sorted()[middle],
        "commit's start to the observer having the change set")
      line(
        "W10.k\(k).view", fromReturn.sorted()[middle], cpus.sorted()[middle],
        "commit's return to the observer having the change set")
    }
    try observers(contestant, data, &random)
    if wants("W11") { try manyCommits(contestant, data, &random) }
    if wants("W15"), engine.isOnDisk { try anotherProcess(contestant, data, &random) }
  }

  private func manyCommits(
    _ contestant: any LiveContestant, _ data: Dataset, _ random: inout SplitMix
  ) throws {
    func run(_ observer: LiveObserver?) throws {
      let ids = openIDs(1_000, data, &random)
      let (wall, cpu) = (Clock.wall(), Clock.cpu())
      var last = Version(0)
      for id in ids { last = try contestant.moveDues([id], &random) {} }
      if let observer { _ = observer.wait(for: last) }
      line(
        observer == nil ? "W11.unobserved" : "W11", Clock.wall() - wall, Clock.cpu() - cpu,
        check: nil, observer.map { "1,000 commits until the last is heard of, in \($0.count) change sets" } ?? "1,000 commits, nobody listens")
    }
    try run(nil)
    let observer = try contestant.observe()
    defer { observer.stop() }
    try run(observer)
  }

  /// W15: a child process observes and says when it has each change set.
  private func anotherProcess(
    _ contestant: any LiveContestant, _ data: Dataset, _ random: inout SplitMix
  ) throws {
    let child = Process()
    let (output, input) = (Pipe(), Pipe())
    child.executableURL = Bundle.main.executableURL
    child.arguments = ["listen", "--engine", engine.rawValue, "--path", path]
    child.standardOutput = output
    child.standardInput = input
    try child.run()
    func next() -> Double {
      let text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
      return Double(text.split(separator: "\n").last ?? "") ?? .nan
    }
    _ = next()
    var seconds: [Double] = []
    for _ in 0..<31 {
      _ = try contestant.moveDues(openIDs(1, data, &random), &random) {}
      let end = Clock.wall()
      // Both clocks are the machine's.
      seconds.append(max(0, next() - end))
    }
    try input.fileHandleForWriting.close()
    child.waitUntilExit()
    line("W15", seconds.sorted()[15], 0, "commit's return to another process having the change set")
  }
}
