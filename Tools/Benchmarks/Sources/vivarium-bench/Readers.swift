import Foundation
import Synchronization
import Vivarium

/// What the readers of W19 share: when to stop, and what they did.
private final class Readers: Sendable {
  struct Work {
    var isOver = false
    /// CPU seconds of a count, one for each reader.
    var costs: [Double] = []
    var failure: String?
  }

  let work = Mutex(Work())
  let done = DispatchSemaphore(value: 0)

  /// Counts W5a's condition in a store of its own, always in the newest version, until it is over. CPU time, as readers may be more
  /// than there are cores.
  func count(_ configuration: Store.Configuration) {
    defer { done.signal() }
    do {
      let store = try Store(configuration)
      let tasks = store.objects(TaskItem.self)
      var (counts, sum) = (0, 0)
      let start = Clock.ownCPU()
      repeat {
        store.refresh()
        sum &+= tasks.where { $0.priority >= 7 && $0.done == false }.count
        counts += 1
      } while work.withLock({ !$0.isOver })
      let cost = (Clock.ownCPU() - start) / Double(counts)
      work.withLock { $0.costs.append(sum == 0 ? .nan : cost) }
    } catch {
      work.withLock { $0.failure = "\(error)" }
    }
  }
}

extension Course {
  /// W19: readers that count, each on snapshots of its own, beside a writer of 200 commits a second.
  func readersBesideAWriter(_ contestant: VivariumContestant) throws {
    guard wants("W19") else { return }
    var random = SplitMix(seed: 19)
    let commitsAlone = try readers(0, commits: true, contestant, &random).longest
    let alone = try readers(1, commits: false, contestant, &random).cost
    let (cost, longest) = try readers(8, commits: true, contestant, &random)
    line("W19.alone", alone, alone, "CPU of a count, one reader and no writer")
    line("W19.readers", cost, cost, "CPU of a count, the slowest of eight readers beside 200 commits a second")
    line("W19.commit.alone", commitsAlone, 0, "the longest of 200 relaxed commits in a second, without readers")
    line("W19.commit", longest, 0, "the same beside eight readers")
  }

  /// A second of it: CPU of a count of the slowest reader, and the longest commit.
  private func readers(
    _ count: Int, commits: Bool, _ contestant: VivariumContestant, _ random: inout SplitMix
  ) throws -> (cost: Double, longest: Double) {
    let readers = Readers()
    let configuration = contestant.configuration
    for _ in 0..<count { Thread.detachNewThread { readers.count(configuration) } }
    var longest = 0.0
    let start = Clock.wall()
    for i in 1...200 {
      if commits { longest = max(longest, try contestant.commitOne(random.below(self.count))) }
      usleep(UInt32(max(0, (start + Double(i) * 0.005 - Clock.wall()) * 1e6)))
    }
    readers.work.withLock { $0.isOver = true }
    for _ in 0..<count { readers.done.wait() }
    let work = readers.work.withLock { $0 }
    if let failure = work.failure { throw SQLiteFailure(description: "a reader failed: \(failure)") }
    return (work.costs.max() ?? 0, longest)
  }

  /// W20: memory of three live sorted queries, without what is mapped from files.
  func liveMemory(_ contestant: VivariumContestant) throws {
    let observers = try [LiveObserver.Question.sorted, .twoKeys, .text].map { try contestant.observe($0) }
    line("W20.live", 0, 0, bytes: Resources.ownMemory(), "own memory with three live sorted queries")
    for observer in observers { observer.stop() }
  }

  /// W21: objects added one by one to an observed list, in one write.
  func appends(_ name: String, _ count: Int, _ contestant: VivariumContestant) throws {
    let appended = try contestant.appends(count)
    line(name, appended.commit, 0, check: "\(appended.heard)", "\(count) objects added to an observed list: the write")
    line(name + ".heard", appended.seconds, 0, "from the commit's return until the observer has its change set")
  }
}

/// How long W21 took.
struct Appended {
  var commit = 0.0
  var seconds = 0.0
  /// Elements that the change set says were inserted.
  var heard = 0
}

extension VivariumContestant {
  /// Sets one object's `priority`, relaxed; how long the write took, its waiting included.
  func commitOne(_ id: Int) throws -> Double {
    let start = Clock.wall()
    try store.write(durability: .relaxed) {
      store.object(TaskItem.self, forPrimaryKey: Int64(id))?.priority = Int64(id % 7)
    }
    return Clock.wall() - start
  }

  func appends(_ count: Int) throws -> Appended {
    try store.write { try store.add(Board()) }
    let observer = try ListObserver(configuration)
    defer { observer.stop() }
    guard let board = store.objects(Board.self).last else { return Appended() }
    let start = Clock.wall()
    try store.write {
      for id in 0..<count {
        if let task = store.object(TaskItem.self, forPrimaryKey: Int64(id)) { board.tasks.append(task) }
      }
    }
    let end = Clock.wall()
    let heard = try observer.wait()
    return Appended(commit: end - start, seconds: max(0, heard.time - end), heard: heard.count)
  }
}

/// An observer of the last board's list, on a queue of its own.
private final class ListObserver {
  private let queue = DispatchQueue(label: "bench.list")
  private var store: Store?
  private var token: NotificationToken?
  private let ear = Ear()

  private final class Ear: Sendable {
    /// When the change set came, and how many elements it says were inserted.
    let heard = Mutex<(time: Double, count: Int)>((0, 0))
    let bell = DispatchSemaphore(value: 0)
  }

  /// Returns once the observer has the list as it is.
  init(_ configuration: Store.Configuration) throws {
    let ear = ear
    try queue.sync {
      let store = try Store(configuration, queue: queue)
      token = store.objects(Board.self).last?.tasks.observe { change in
        let time = Clock.wall()
        var inserted = 0
        if case .update(_, _, let insertions, _) = change { inserted = insertions.count }
        ear.heard.withLock { $0 = (time, inserted) }
        ear.bell.signal()
      }
      self.store = store
    }
    _ = try wait()
  }

  func wait() throws -> (time: Double, count: Int) {
    if ear.bell.wait(timeout: .now() + .seconds(Silence.limit)) == .timedOut { throw Silence(listener: "an observer of a list") }
    return ear.heard.withLock { $0 }
  }

  func stop() {
    queue.sync {
      token?.stop()
      token = nil
      store = nil
    }
  }
}
