import Dispatch
import Foundation
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// Collections observed where stores live: actors, queues, run loops, tasks; under writers of other threads.
@Suite struct CollectionContextTests {
  /// Two results whose sizes always sum up to the same, and one block of each.
  @Test(arguments: Engine.allCases) func allBlocksOfATurnSeeOneVersion(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let writer = try Store(configuration)
    try writer.write { for i in 0..<40 { try writer.add(Book(title: "\(i)", isLent: i < 10)) } }
    let queue = DispatchQueue(label: "test.shelves")
    let done = Signal()
    let shelves = try queue.sync { try Shelves(configuration, queue, done) }
    for i in 0..<200 {
      // One comes back, another goes.
      try writer.write {
        let (lent, home) = (writer.objects(Book.self).where { $0.isLent }, writer.objects(Book.self).where { !$0.isLent })
        let (a, b) = (lent[i % 10], home[i % 30])
        a.isLent = false
        b.isLent = true
      }
    }
    let version = writer.version
    #expect(done.wait { queue.sync { shelves.version >= version } })
    queue.sync {
      #expect(shelves.faults == [] && shelves.calls > 2)
      shelves.end()
    }
  }

  @Test func anActorIteratesChanges() async throws {
    let (configuration, directory) = Engine.memory.place()
    defer { withExtendedLifetime(directory) {} }
    let reader = Reader()
    let started = Signal()
    async let seen = reader.read(configuration, until: 25, started)
    let writer = try Store(configuration)
    for i in 0..<25 { try writer.write { try writer.add(Book(title: "\(i)")) } }
    let (counts, sum) = try await seen
    #expect(counts.last == 25 && sum == 25)
    #expect(zip(counts, counts.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test func aCancelledTaskEndsItsIteration() async throws {
    let (configuration, directory) = Engine.memory.place()
    defer { withExtendedLifetime(directory) {} }
    let reader = Reader()
    let started = Signal()
    let task = Task { try await reader.read(configuration, until: 1, started) }
    await elsewhere { _ = started.wait() }
    task.cancel()
    #expect(try await task.value.counts == [0])
  }

  /// Writes by a busy thread, and as many here of which the observer is never told: what it knows follows from what it was told
  /// and what was written here alone, and is right after every one.
  @Test func skippedWritesAreNeverToldAndOthersNeverLost() throws {
    let (configuration, directory) = Engine.memory.place()
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    var (known, told): ([String], [String]) = ([], [])
    let books = store.objects(Book.self).sorted(by: \.pages)
    let token = books.observe { change in
      if case .update(let books, let deletions, let insertions, _) = change {
        for position in deletions.reversed() { known.remove(at: position) }
        for position in insertions {
          known.insert(books[position].title, at: position)
          told.append(books[position].title)
        }
      }
    }
    store.refresh()
    let rounds = environmentNumber("VIVARIUM_SKIPS", default: 1_000)
    let (stop, ended) = (Signal(), Signal())
    let writer = Thread {
      if let other = try? Store(configuration) {
        var i = 0
        while stop.count == 0 {
          i += 1
          try? other.write { try other.add(Book(title: "other \(i)", pages: i * 7 % 1_000)) }
        }
      }
      ended.fire()
    }
    writer.start()
    var faults = 0
    for i in 0..<rounds {
      try store.beginWrite()
      if known.count != books.count { faults += 1 }
      let book = Book(title: "own \(i)", pages: i * 13 % 1_000)
      try store.add(book)
      try store.commitWrite(withoutNotifying: [token])
      if let row = books.firstIndex(of: book) { known.insert(book.title, at: row) }
      if i % 32 == 0, known != books.map(\.title) { faults += 1 }
    }
    #expect(faults == 0)
    stop.fire()
    #expect(ended.wait())
    store.refresh()
    #expect(!told.contains { $0.hasPrefix("own") })
    #expect(known == books.map(\.title))
    token.stop()
  }
}

/// Two results of one store on a queue, with the rule that holds in every version.
private final class Shelves: @unchecked Sendable {
  // Sound because the test uses it inside `queue.sync` alone, and its blocks run on that queue.
  private let store: Store
  private var tokens: [NotificationToken] = []
  private(set) var faults: [String] = []
  private(set) var calls = 0
  var version: Version { store.version }

  init(_ configuration: Store.Configuration, _ queue: DispatchQueue, _ done: Signal) throws {
    store = try Store(configuration, queue: queue)
    let lent = store.objects(Book.self).where { $0.isLent }
    let home = store.objects(Book.self).where { !$0.isLent }.sorted(by: \.title)
    for results in [lent, home] {
      tokens.append(
        results.observe { [unowned self] _ in
          calls += 1
          if lent.count != 10 || home.count != 30 { faults.append("\(lent.count) + \(home.count)") }
          done.fire()
        })
    }
    tokens.append(store.observe { _, _ in done.fire() })
  }

  func end() { for token in tokens { token.stop() } }
}

private actor Reader {
  /// The counts in each change, and the sum of what was inserted, until there are so many books.
  func read(
    _ configuration: Store.Configuration, until count: Int, _ started: Signal
  ) async throws -> (counts: [Int], sum: Int) {
    let store = try Store(configuration)
    var counts: [Int] = []
    var sum = 0
    for await change in store.objects(Book.self).changes {
      switch change {
      case .initial(let books):
        counts.append(books.count)
        sum = books.count
      case .update(let books, let deletions, let insertions, _):
        counts.append(books.count)
        sum += insertions.count - deletions.count
      case .error(let error): throw error
      }
      started.fire()
      if sum >= count { break }
    }
    return (counts, sum)
  }
}
