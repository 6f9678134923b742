import StorageInterface
import StoreValues
import Testing
import VivariumTestSupport
@testable import StorageSQLite

/// Page caches of read connections share a budget of the process.
@Suite struct PageCacheTests {
  private func open(_ place: Place, _ budget: PageCacheBudget) throws -> Connection {
    let connection = try Connection.ours(StoreFile(path: place.path), isReadOnly: true)
    connection.cacheBudget = budget
    return connection
  }

  /// Puts a budget of the test in the place of the process's, of which the connection may have taken already.
  private func give(_ budget: PageCacheBudget, to connection: Connection) {
    connection.narrowCache()
    connection.cacheBudget = budget
  }

  /// The cache's size in KiB, asked for without taking anything of the budget.
  private func kilobytes(_ connection: Connection) throws -> Int64 {
    let statement = try connection.take(StatementKey(.pin)) { "PRAGMA cache_size" }
    defer { connection.finish(statement) }
    #expect(try connection.step(statement, "ask"))
    return -statement.int64(0)
  }

  private func scan(_ connection: Connection) throws {
    let statement = try connection.take(text: "SELECT count(*) FROM _vivarium_history")
    defer { connection.finish(statement) }
    _ = try connection.step(statement, "count")
  }

  @Test func oneTakesWhatIsLeftAndNobodyTakesCrumbs() {
    let budget = PageCacheBudget(kilobytes: 4_096)
    #expect(budget.take() == 4_096)
    #expect(budget.isEmpty)
    #expect(budget.take() == 0)
    budget.giveBack(1_000)
    #expect(budget.isEmpty)
    #expect(budget.take() == 0)
    budget.giveBack(3_096)
    #expect(budget.take() == 4_096)
  }

  @Test func theFirstThatScansHasTheBudgetUntilItEnds() throws {
    let place = Place()
    let engine = try place.open()
    let budget = PageCacheBudget(kilobytes: 64 << 10)
    let (first, second) = (try open(place, budget), try open(place, budget))
    #expect(try kilobytes(first) == 8 << 10)
    try scan(first)
    try scan(second)
    #expect(try kilobytes(first) == 72 << 10)
    #expect(try kilobytes(second) == 8 << 10)
    first.narrowCache()
    #expect(try kilobytes(first) == 8 << 10)
    try scan(second)
    #expect(try kilobytes(second) == 72 << 10)
    second.shut()
    #expect(budget.take() == 64 << 10)
    engine.close()
  }

  @Test func everyReaderOfAnEngineSharesTheBudget() throws {
    let place = Place()
    let engine = try place.open()
    // The first is the connection that opened the file.
    let connections = try (0..<3).map { _ in try engine.takeReader() }
    #expect(connections.allSatisfy { $0.cacheBudget === engine.cacheBudget })
    for connection in connections { engine.giveBack(connection) }
    engine.close()
  }

  @Test func aSnapshotThatIsReadOftenTakesTheBudget() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { write in for id in 0..<10 { try write.insert(table, ["id": .int(Int64(id))]) } }
    let connection = try engine.takeReader()
    give(PageCacheBudget(kilobytes: 64 << 10), to: connection)
    engine.giveBack(connection)
    let read = try engine.beginRead()
    #expect(connection.extraKilobytes == 0)
    for i in 0..<200 { _ = try read.word(table.column(named: "small"), ObjectKey(Int64(i % 10 + 1))) }
    #expect(connection.extraKilobytes == 64 << 10)
    read.end()
  }

  @Test func theReadThatFollowsAnotherTakesTheBudgetOver() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { write in for id in 0..<10 { try write.insert(table, ["id": .int(Int64(id))]) } }
    let budget = PageCacheBudget(kilobytes: 64 << 10)
    let connections = [try engine.takeReader(), try engine.takeReader()]
    for connection in connections { give(budget, to: connection) }
    for connection in connections { engine.giveBack(connection) }
    func scan(_ read: any ReadTransaction) throws {
      for i in 0..<200 { _ = try read.word(table.column(named: "small"), ObjectKey(Int64(i % 10 + 1))) }
    }
    var read = try engine.beginRead()
    for _ in 0..<5 {
      try scan(read)
      #expect(connections.map(\.extraKilobytes).max() == 64 << 10)
      // As a store moves to a newer version.
      let next = try engine.beginRead()
      read.end()
      #expect(connections.allSatisfy { $0.extraKilobytes == 0 })
      read = next
    }
    try scan(read)
    read.end()
    // Nobody reads: the pages stay for the next read.
    for _ in 0..<3 {
      #expect(connections.map(\.extraKilobytes).max() == 64 << 10)
      try engine.beginRead().end()
    }
  }
}
