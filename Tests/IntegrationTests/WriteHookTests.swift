import Foundation
import StoreValues
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

private struct Stop: Error {}

@Suite struct WriteHookTests {
  /// What hooks said, in order.
  private final class Log: Sendable {
    private let lines = Mutex<[String]>([])
    func add(_ line: String) { lines.withLock { $0.append(line) } }
    func take() -> [String] {
      lines.withLock { lines in
        defer { lines = [] }
        return lines
      }
    }
  }

  @Test(arguments: Engine.allCases) func eachRunsOnceAfterTheCommitInTheOrderOfAsking(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let (store, log) = (try Store(configuration), Log())
    let before = store.version
    try store.write {
      try store.afterCommit { version in
        log.add("first \(version == store.version && version > before) \(store.isInWriteTransaction) \(store.objects(Book.self).count)")
      }
      try store.afterRollback { log.add("never") }
      try store.add(Book(title: "a"))
      try store.afterCommit { _ in log.add("second") }
      #expect(log.take().isEmpty)
    }
    #expect(log.take() == ["first true false 1", "second"])
    try store.write { try store.add(Book(title: "b")) }
    #expect(log.take().isEmpty)
    // One that changes nothing is committed too, and makes no version.
    let version = store.version
    try store.write { try store.afterCommit { log.add("\($0 == version)") } }
    #expect(log.take() == ["true"])
  }

  @Test func aWriteThatIsUndoneRunsTheOthers() throws {
    let (store, log) = (try Store(Engine.memory.place().configuration), Log())
    try store.beginWrite()
    try store.afterCommit { _ in log.add("never") }
    try store.afterRollback { log.add("cancelled \(store.objects(Book.self).count) \(store.isInWriteTransaction)") }
    try store.add(Book())
    store.cancelWrite()
    #expect(log.take() == ["cancelled 0 false"])
    #expect(throws: Stop.self) {
      try store.write {
        try store.afterRollback { log.add("thrown") }
        throw Stop()
      }
    }
    #expect(log.take() == ["thrown"])
    for ask in [{ try store.afterCommit { _ in } }, { try store.afterRollback {} }] {
      do {
        try ask()
        Issue.record("there is no write")
      } catch let error as StoreError {
        #expect(error.code == .notInWrite)
      }
    }
  }

  @Test(arguments: Engine.allCases) func whateverFailsOneOfTheTwoRuns(engine: Engine) throws {
    var calls = 1
    while calls < 100 {
      let (configuration, directory) = engine.place()
      defer { withExtendedLifetime(directory) {} }
      let (plan, log) = (FaultPlan(.full), Log())
      var faulty = configuration
      faulty.backend = ForwardingBackend(configuration.backend) { FaultyEngine($0, plan) }
      let store = try Store(faulty)
      plan.arm(at: calls)
      var isWritten = true
      var isAsked = false
      do {
        try store.write {
          try store.afterCommit { _ in log.add("committed") }
          try store.afterRollback { log.add("undone") }
          isAsked = true
          try store.add(Author(name: "A"))
        }
      } catch {
        isWritten = false
      }
      let wasMet = plan.disarm()
      #expect(log.take() == (isWritten ? ["committed"] : isAsked ? ["undone"] : []), "call \(calls)")
      if !wasMet { break }
      calls += 1
    }
    #expect(calls > 2 && calls < 100)
  }

  @Test(arguments: Engine.allCases) func aSavepointThatIsUndoneTakesItsOwnBack(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let (store, log) = (try Store(configuration), Log())
    func ask(_ name: String) throws {
      try store.afterCommit { _ in log.add("\(name) committed") }
      try store.afterRollback { log.add("\(name) undone") }
    }
    func parts() throws {
      try ask("whole")
      try store.savepoint {
        try ask("kept")
        try? store.savepoint {
          try ask("inner")
          try store.savepoint { try ask("innermost") }
          throw Stop()
        }
      }
      try ask("last")
      #expect(log.take().isEmpty)
    }
    try store.write { try parts() }
    #expect(log.take() == ["whole committed", "kept committed", "inner undone", "innermost undone", "last committed"])
    try store.beginWrite()
    try parts()
    store.cancelWrite()
    #expect(log.take() == ["whole undone", "kept undone", "inner undone", "innermost undone", "last undone"])
  }

  @Test(arguments: Engine.allCases) func aHookMayWriteAndOthersMayWriteMeanwhile(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let (store, other, log) = (try Store(configuration), try Store(configuration), Log())
    var counts: [Int] = []
    let token = store.objects(Book.self).observe { change in counts.append(change.collection?.count ?? -1) }
    store.refresh()
    try store.write {
      try store.add(Book(title: "a"))
      try store.afterCommit { _ in
        // The right to write is nobody's.
        try? other.write { try other.add(Book(title: "others")) }
        try? store.write {
          try store.add(Book(title: "hooks"))
          try store.afterCommit { _ in log.add("inner \(store.objects(Book.self).map(\.title).joined(separator: " "))") }
        }
        log.add("outer")
      }
      try store.afterCommit { _ in log.add("next \(store.objects(Book.self).count)") }
    }
    #expect(log.take() == ["inner a others hooks", "outer", "next 3"])
    store.refresh()
    // What came before the hook's write was told before it opened.
    #expect(counts == [0, 2, 3])
    token.stop()
  }

  @Test func asynchronousWritesRunThemOnTheWorkerBeforeTheyAreDone() async throws {
    let (configuration, log) = (Engine.memory.place().configuration, Log())
    let store = try Store(configuration)
    try await store.write { store in
      try store.add(Book(title: "a"))
      try store.afterCommit { _ in log.add("\(store.objects(Book.self).count)") }
    }
    #expect(log.take() == ["1"])
    do {
      try await store.write { store in
        try store.afterRollback { log.add("undone") }
        throw Stop()
      }
    } catch is Stop {}
    #expect(log.take() == ["undone"])
  }
}
