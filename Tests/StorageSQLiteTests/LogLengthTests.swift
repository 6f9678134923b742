import Foundation
import StorageInterface
import StorageSQLite
import StoreValues
import Synchronization
import Testing
import VivariumTestSupport

/// The log begins anew while a store is open, whoever reads, as long as readers move on; and who does not is named.
@Suite struct LogLengthTests {
  /// Few by default; `VIVARIUM_COMMITS` says more.
  private static let commits = environmentNumber("VIVARIUM_COMMITS", default: 12_000)
  private static let most = 8 << 20

  private static func logBytes(_ path: String) -> Int {
    var info = stat()
    return stat(path + "-wal", &info) == 0 ? Int(info.st_size) : 0
  }

  /// Reads the newest version, and moves on whenever a commit is told.
  private final class Refreshing: Sendable {
    // A transaction may change threads, and is used under the lock.
    private struct Held: @unchecked Sendable { var read: (any ReadTransaction)? }
    private let engine: SQLiteEngine
    private let table: TableEntry
    private let held = Mutex(Held())
    private let listener = Mutex<(any CommitListener)?>(nil)
    let count = Mutex(0)

    init(_ engine: SQLiteEngine, _ table: TableEntry, then body: @escaping @Sendable () -> Void = {}) throws {
      (self.engine, self.table) = (engine, table)
      refresh()
      let made = try engine.addCommitListener { [weak self] in
        self?.refresh()
        body()
      }
      listener.withLock { $0 = made }
    }

    func refresh() {
      let found = held.withLock { held -> Int in
        held.read?.end()
        held.read = try? engine.beginRead()
        return (try? held.read?.count(table.id)) ?? -1
      }
      count.withLock { $0 = found }
    }

    func stop() {
      listener.withLock { $0 }?.stop()
      held.withLock { $0.read?.end() }
    }
  }

  private static func commit(_ count: Int, _ engine: SQLiteEngine, _ table: TableEntry, _ path: String) throws -> Int {
    var longest = 0
    for number in 0..<count {
      try engine.write(.relaxed) { try $0.set(table.column(named: "name"), ObjectKey(1), .string("name \(number)")) }
      if number % 64 == 0 { longest = max(longest, logBytes(path)) }
    }
    return longest
  }

  @Test func theLogStaysShortBesideAStoreThatRefreshes() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { try $0.insert(table, ["id": .int(1)]) }
    let store = try Refreshing(engine, table)
    // One that is refreshed by nobody's commit but the writer's own.
    var own = try engine.beginRead()
    var longest = 0
    for _ in 0..<LogLengthTests.commits / 40 {
      longest = max(longest, try LogLengthTests.commit(40, engine, table, place.path))
      own.end()
      own = try engine.beginRead()
    }
    #expect(longest <= LogLengthTests.most)
    #expect(longest > 0)
    own.end()
    store.stop()
    engine.close()
  }

  @Test func aReadThatRestsLetsGoOfTheLogAndReadsOn() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { try $0.insert(table, ["id": .int(1), "name": .string("before")]) }
    while engine.logFrames.logged < 700 { _ = try LogLengthTests.commit(20, engine, table, place.path) }
    engine.waitForCheckpoints()
    let resting = try (0..<3).map { _ in try engine.beginRead() }
    let before = try resting.map { try $0.value(table.column(named: "name"), ObjectKey(1)) }
    engine.requestCheckpoint()
    engine.waitForCheckpoints()
    // All of them, once each.
    #expect(engine.renewals == 3)
    _ = try LogLengthTests.commit(1, engine, table, place.path)
    #expect(engine.logFrames.logged < 100)
    for (read, name) in zip(resting, before) {
      #expect(try read.value(table.column(named: "name"), ObjectKey(1)) == name)
      var rows = 0
      try read.scan(table.id, [table.id("name")], from: ObjectKey(0), hints: []) { batch in
        rows += batch.count
        return .proceed
      }
      #expect(rows == 1)
      read.end()
    }
    engine.close()
  }

  @Test func theLogStaysShortBesideAStoreOfAnotherProcess() async throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { try $0.insert(table, ["id": .int(1)]) }
    let told = Signal()
    let listener = try engine.addCommitListener { told.fire() }
    async let child: Void = {
      await #expect(processExitsWith: .success) { [path = place.path as String] in
        let engine = try #require(try SQLiteBackend(path: path).open(OpenOptions()) as? SQLiteEngine)
        let table = try #require(try engine.beginRead().catalog["Thing"])
        let told = Signal()
        let store = try Refreshing(engine, table) { told.fire() }
        // Says that it is there, and goes when all is deleted.
        try engine.write { try $0.insert(table, ["id": .int(2)]) }
        #expect(told.wait { store.count.withLock { $0 } == 0 })
        store.stop()
        engine.close()
      }
    }()
    @Sendable func isThere() throws -> Bool {
      let read = try engine.beginRead()
      defer { read.end() }
      return try read.count(table.id) == 2
    }
    // The child is started by a task: a wait that kept this one's thread could keep the child from ever starting.
    #expect(await elsewhere { told.wait { (try? isThere()) == true } })
    let longest = try LogLengthTests.commit(LogLengthTests.commits, engine, table, place.path)
    #expect(longest <= LogLengthTests.most)
    try engine.write { _ = try $0.delete(table.id, all: [1, 2]) }
    await child
    listener.stop()
    engine.close()
  }

  @Test func whoHoldsTheLogIsNamedAndItsSpaceIsGivenBackWithoutACommit() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { try $0.insert(table, ["id": .int(1), "name": .string("old")]) }
    let old = try engine.beginRead()
    #expect(try engine.statistics().heldBytes == 0)
    let longest = try LogLengthTests.commit(4000, engine, table, place.path)
    engine.waitForCheckpoints()
    #expect(longest > LogLengthTests.most)
    let statistics = try engine.statistics()
    #expect(statistics.heldBytes > LogLengthTests.most)
    let pin = try #require(statistics.pins.first)
    #expect(pin.version == old.version && pin.processID == getpid())
    #expect(abs((pin.sinceMilliseconds ?? 0) - Int64(Date().timeIntervalSince1970 * 1000)) < 3_600_000)
    #expect(try old.value(table.column(named: "name"), ObjectKey(1)) == .string("old"))
    old.end()
    engine.waitForCheckpoints()
    #expect(LogLengthTests.logBytes(place.path) == 0)
    #expect(try engine.statistics().heldBytes == 0)
    let newest = try engine.beginRead()
    let name = try newest.value(table.column(named: "name"), ObjectKey(1))
    #expect(name == .string("name 3999"))
  }
}
