import Dispatch
import Foundation
import StorageLMDB
import StorageSQLite
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// The same as the child's.
@Model final class Mark {
  @PrimaryKey var number = 0
  var rank = 0
}

/// Several processes write and observe one store, and some of them are killed.
@Suite(.serialized) struct ProcessTests {
  @Test(arguments: ["lmdb", "sqlite"]) func whatAnotherProcessCommitsIsToldAsChanges(kind: String) throws {
    let place = Place(kind: kind)
    let store = try Store(place.configuration)
    let watcher = try Watcher(place.configuration)
    let writer = try place.child("write")
    for seed in 1...40 {
      writer.say("\(seed)")
      #expect(writer.line() == "done")
      if seed % 4 == 0 { try store.write { try store.add(Mark(number: 1_000 + seed, rank: seed % 100)) } }
    }
    #expect(watcher.reaches(place.numbers(store)))
    #expect(writer.end())
    watcher.stop()
  }

  @Test(arguments: ["lmdb", "sqlite"]) func everyKindOfObserverHearsOfAnotherProcess(kind: String) throws {
    let place = Place(kind: kind)
    let queue = DispatchQueue(label: "test.kinds")
    let kinds = HeardKinds()
    var tokens: [NotificationToken] = []
    try queue.sync {
      let store = try Store(place.configuration, queue: queue)
      // What the child sets with its first line.
      let mark = Mark(number: 31, rank: 99)
      try store.write { try store.add(mark) }
      let marks = store.objects(Mark.self)
      tokens = [
        store.observe { _, _ in kinds.hear("store") },
        mark.observe { if case .change(let properties) = $0 { kinds.hear("object \(properties.map(\.name))") } },
        marks.observe { if case .update = $0 { kinds.hear("results") } else { kinds.hear("first results") } },
        marks.observe(.min(of: \.rank)) { if case .update = $0 { kinds.hear("number") } else { kinds.hear("first number") } },
      ]
    }
    #expect(kinds.reach(["first results", "first number"]))
    let writer = try place.child("write")
    writer.say("1")
    #expect(writer.line() == "done")
    #expect(kinds.reach(["store", "object [\"rank\"]", "results", "number"]))
    #expect(writer.end())
    queue.sync { for token in tokens { token.stop() } }
    tokens = []
    queue.sync {}
  }

  @Test(arguments: ["lmdb", "sqlite"]) func resultsKnowWhatAnotherProcessTouched(kind: String) throws {
    let place = Place(kind: kind)
    let store = try Store(place.configuration)
    // Those of which the child sets the rank with its first line.
    try store.write { for number in [31, 38] { try store.add(Mark(number: number, rank: 99)) } }
    let (all, sorted) = (store.objects(Mark.self), store.objects(Mark.self).where { $0.rank < 200 }.sorted(by: \.rank))
    _ = (all.toArray(), sorted.toArray())
    let writer = try place.child("write")
    writer.say("1")
    #expect(writer.line() == "done")
    #expect(store.refresh())
    let before = store.evaluationCount
    #expect(all.map(\.number) == [31, 38] && store.evaluationCount == before)
    #expect(sorted.map(\.rank) == sorted.map(\.rank).sorted() && sorted.map(\.rank) != [99, 99])
    #expect(store.evaluationCount == before + 1)
    #expect(writer.end())
  }

  @Test(arguments: ["lmdb", "sqlite"]) func changesSayWhichProcessMadeThem(kind: String) throws {
    let place = Place(kind: kind)
    let store = try Store(place.configuration)
    var origins: [ChangeOrigins] = []
    let token = store.objects(Mark.self).observe { if let details = $0.details { origins.append(details.origins) } }
    store.refresh()
    let writer = try place.child("write")
    writer.say("1")
    #expect(writer.line() == "done")
    store.refresh()
    try store.write { try store.add(Mark(number: 5_000, rank: 1)) }
    store.refresh()
    #expect(origins == [.otherProcess, .ownStore])
    #expect(writer.end())
    token.stop()
  }

  @Test(arguments: [("lmdb", "observe"), ("lmdb", "observe-read-only"), ("sqlite", "observe")])
  func anotherProcessIsToldWithTheSameGuarantees(kind: String, task: String) throws {
    let place = Place(kind: kind)
    let store = try Store(place.configuration)
    try store.write { for number in 0..<20 { try store.add(Mark(number: number, rank: number * 7 % 100)) } }
    let child = try place.child(task)
    let first = try #require(ChildCall(child.line()))
    #expect(first.numbers == place.numbers(store) && first.deletions.isEmpty && first.insertions.isEmpty)
    var known = first.numbers
    for round in 0..<30 {
      try store.write {
        let marks = store.objects(Mark.self)
        marks[round % marks.count].rank = round * 13 % 120
        if round % 5 == 0 { try store.add(Mark(number: 100 + round, rank: round % 60)) }
        if round % 7 == 0 { try store.delete(marks[0]) }
      }
    }
    let wanted = place.numbers(store)
    while known != wanted {
      let call = try #require(ChildCall(child.line()))
      #expect(call.follows(known))
      known = call.numbers
    }
    #expect(child.end())
  }

  @Test(arguments: ["lmdb", "sqlite"]) func aProcessThatIsKilledWhileItObservesHarmsNobody(kind: String) throws {
    let place = Place(kind: kind)
    let store = try Store(place.configuration)
    try store.write { for number in 0..<20 { try store.add(Mark(number: number, rank: number)) } }
    let watcher = try Watcher(place.configuration)
    let children = [try place.child("observe"), try place.child("observe")]
    for child in children { _ = try #require(ChildCall(child.line())) }
    for round in 0..<10 {
      try store.write { store.objects(Mark.self)[round].rank += 50 }
      if round == 4 { children[0].kill() }
    }
    let wanted = place.numbers(store)
    #expect(watcher.reaches(wanted))
    var known: [Int] = []
    while known != wanted { known = try #require(ChildCall(children[1].line())).numbers }
    #expect(children[1].end())
    // Nobody holds an old version for the one that is gone.
    watcher.stop()
    for rank in 0..<5 { try store.write { store.objects(Mark.self)[0].rank = rank } }
    #expect(numbersOf(store).count == wanted.count)
  }

  private func numbersOf(_ store: Store) -> [Int] { store.objects(Mark.self).where { $0.rank < 100 }.map(\.number) }

  @Test(arguments: ["lmdb", "sqlite"]) func aProcessThatIsKilledInsideAWriteHarmsNobody(kind: String) throws {
    let place = Place(kind: kind)
    let store = try Store(place.configuration)
    try store.write { for number in 0..<20 { try store.add(Mark(number: number, rank: number)) } }
    let watcher = try Watcher(place.configuration)
    #expect(watcher.reaches(Array(0..<20)))
    for round in 0..<3 {
      let child = try place.child("hang")
      #expect(child.line() == "open")
      child.kill()
      // The right to write is free again, and nothing of the write is there.
      try store.write { try store.add(Mark(number: 100 + round, rank: 50 + round)) }
      #expect(watcher.reaches(Array(0..<20) + (0...round).map { 100 + $0 }))
    }
    watcher.stop()
  }
}

/// A store's place, and how to open it.
private struct Place {
  let kind: String
  let folder = TemporaryDirectory("processes")
  var path: String { folder.file("store").path }

  var configuration: Store.Configuration {
    let url = URL(fileURLWithPath: path)
    let configuration: Store.Configuration = kind == "lmdb" ? .lmdb(url, models: Mark.self) : .sqlite(url, models: Mark.self)
    return configuration.byHand
  }

  func child(_ task: String) throws -> WatchingChild { try WatchingChild(kind, path, task) }

  /// The marks below rank 100 by rank, as a store of this thread has them.
  func numbers(_ store: Store) -> [Int] {
    store.refresh()
    return store.objects(Mark.self).where { $0.rank < 100 }.sorted(by: \.rank).map(\.number)
  }
}

/// Which kinds of observers were told.
private final class HeardKinds: Sendable {
  private let kinds = Mutex<Set<String>>([])
  private let arrived = Signal()

  func hear(_ kind: String) {
    kinds.withLock { _ = $0.insert(kind) }
    arrived.fire()
  }

  /// Waits until all of them were.
  func reach(_ wanted: Set<String>) -> Bool { arrived.wait { kinds.withLock { $0.isSuperset(of: wanted) } } }
}

/// An observer of this process, on a queue of its own: each change set applied to what it knew.
private final class Watcher {
  private final class Told: Sendable {
    private let state = Mutex((numbers: [Int](), faults: 0))
    let heard = Signal()

    var numbers: [Int] { state.withLock { $0.numbers } }
    var faults: Int { state.withLock { $0.faults } }

    func hear(_ change: CollectionChange<Results<Mark>>) {
      let now = change.collection?.map(\.number) ?? []
      state.withLock { state in
        if case .update(_, let deletions, let insertions, let modifications) = change {
          var replayed = state.numbers
          let modified = modifications.map { state.numbers[$0] }
          for position in deletions.reversed() { replayed.remove(at: position) }
          for position in insertions { replayed.insert(now[position], at: position) }
          if replayed != now || modified != modifications.new.map({ now[$0] }) { state.faults += 1 }
        }
        state.numbers = now
      }
      heard.fire()
    }
  }

  private let queue = DispatchQueue(label: "watching here")
  private let told = Told()
  private let token: NotificationToken

  init(_ configuration: Store.Configuration) throws {
    let (queue, told) = (queue, told)
    token = try queue.sync {
      let store = try Store(configuration, queue: queue)
      return store.objects(Mark.self).where { $0.rank < 100 }.sorted(by: \.rank).observe { told.hear($0) }
    }
  }

  /// Waits until the marks are these, and says whether every change set led from what was told to what was there.
  func reaches(_ numbers: [Int]) -> Bool {
    told.heard.wait { told.numbers == numbers } && told.faults == 0
  }

  func stop() {
    token.stop()
    queue.sync {}
  }
}
