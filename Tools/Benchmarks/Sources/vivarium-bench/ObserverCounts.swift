import Dispatch
import Foundation
import Synchronization
import Vivarium

/// Many tokens of one store on a queue of its own, for what observers cost: how often a block was called, and when last.
private final class Crowd {
  private let queue = DispatchQueue(label: "bench.crowd")
  private var store: Store?
  private var tokens: [NotificationToken] = []
  private let heard = Ear()

  private final class Ear: Sendable {
    let calls = Mutex(0)
    let bell = DispatchSemaphore(value: 0)

    func hear() {
      calls.withLock { $0 += 1 }
      bell.signal()
    }
  }

  /// `observe` makes the tokens, on the queue; its block is to be called for every call of theirs.
  init(
    _ configuration: Store.Configuration, awaiting first: Int,
    _ observe: (Store, @escaping @Sendable () -> Void) throws -> [NotificationToken]
  ) throws {
    let heard = heard
    try queue.sync {
      let store = try Store(configuration, queue: queue)
      tokens = try observe(store) { heard.hear() }
      self.store = store
    }
    try wait(for: first)
    // What was asked for last is done when the queue has had its turn.
    queue.sync {}
  }

  /// Waits for so many calls.
  func wait(for count: Int) throws {
    for _ in 0..<count where heard.bell.wait(timeout: .now() + .seconds(Silence.limit)) == .timedOut {
      throw Silence(listener: "one of several observers")
    }
  }

  func stop() {
    queue.sync {
      for token in tokens { token.stop() }
      tokens = []
      store = nil
    }
  }
}

extension Course {
  /// What more observers cost: CPU of the process from a commit's start until the last of them has heard.
  func observers(_ contestant: any LiveContestant, _ data: Dataset, _ random: inout SplitMix) throws {
    for (name, count) in [("W10.one", 1), ("W10.five", 5)] where wants(name) && count <= self.count {
      let crowd = try Crowd(contestant.configuration, awaiting: count) { store, hear in
        (0..<count).map { _ in
          store.objects(TaskItem.self).where { $0.done == false }.sorted(by: \.due).observe { _ in hear() }
        }
      }
      try commits(name, 100, of: contestant, data, &random, "commit of 100 changes, \(count) tokens of one query") {
        try crowd.wait(for: count)
      }
      crowd.stop()
    }
    let ids = openIDs(min(1_000, count / 2), data, &random)
    for (name, count) in [("W10.token", 1), ("W10.tokens", ids.count)] where wants(name) {
      let crowd = try Crowd(contestant.configuration, awaiting: 0) { store, hear in
        ids.prefix(count).compactMap { id in
          store.object(TaskItem.self, forPrimaryKey: Int64(id))?.observe { _ in hear() }
        }
      }
      try commits(name, ids: [ids[0]], of: contestant, data, &random, "commit of 1 change, \(count) tokens of objects") {
        try crowd.wait(for: 1)
      }
      crowd.stop()
    }
    if wants("W10.observe") { try callers(contestant) }
  }

  private func commits(
    _ name: String, _ k: Int = 0, ids: [Int]? = nil, of contestant: any LiveContestant, _ data: Dataset,
    _ random: inout SplitMix, _ note: String, _ wait: () throws -> Void
  ) throws {
    var (walls, cpus): ([Double], [Double]) = ([], [])
    for _ in 0..<31 {
      let ids = ids ?? openIDs(k, data, &random)
      var (start, cpu) = (0.0, 0.0)
      _ = try contestant.moveDues(ids, &random) { (start, cpu) = (Clock.wall(), Clock.cpu()) }
      try wait()
      walls.append(Clock.wall() - start)
      cpus.append(Clock.cpu() - cpu)
    }
    line(name, walls.sorted()[15], cpus.sorted()[15], note)
  }

  /// What `observe` takes of whoever calls it, while nobody observes that query yet.
  private func callers(_ contestant: any LiveContestant) throws {
    let queue = DispatchQueue(label: "bench.caller")
    var walls: [Double] = []
    try queue.sync {
      let store = try Store(contestant.configuration, queue: queue)
      for i in 0..<7 {
        let results = store.objects(TaskItem.self).where { $0.done == false && $0.priority != Int64(100 + i) }.sorted(by: \.due)
        let start = Clock.wall()
        let token = results.observe { _ in }
        walls.append(Clock.wall() - start)
        token.stop()
      }
    }
    line("W10.observe", walls.sorted()[3], 0, "a call of observe of a new query, on the caller")
  }
}
