import Foundation
import StorageInterface
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// A child that inherits an open store has nothing of it: every call says so, and the parent goes on unharmed.
@Suite struct ForkTests {
  private static func calls(
    _ engine: SQLiteEngine, _ read: any ReadTransaction, _ write: any WriteTransaction, _ table: TableEntry
  ) throws -> [(String, () throws -> Void)] {
    let number = table.column(named: "id")
    let text = table.column(named: "name")
    let blob = table.column(named: "blob")
    let list = table.column(named: "scores")
    let best = table.column(named: "best")
    let index = table.index("id")
    let key = ObjectKey(1)
    let words = UnsafeMutablePointer<Int64>.allocate(capacity: 1)
    let nulls = UnsafeMutablePointer<Bool>.allocate(capacity: 1)
    func reading(_ what: String, _ from: any StorageReading) -> [(String, () throws -> Void)] {
      [
        ("\(what) count", { _ = try from.count(table.id) }), ("\(what) contains", { _ = try from.contains(table.id, key) }),
        ("\(what) word", { _ = try from.word(number, key) }), ("\(what) bytes", { try from.bytes(text, key) { _ in } }),
        ("\(what) scan", { try from.scan(table.id, [number.property], from: ObjectKey(0), hints: []) { _ in .proceed } }),
        ("\(what) keys", { try from.keys(in: index, .all, descending: false) { _ in .proceed } }),
        ("\(what) key equalTo", { _ = try from.key(in: index, equalTo: 1) }),
        ("\(what) count in", { _ = try from.count(in: index, .all) }),
        ("\(what) elementCount", { _ = try from.elementCount(list, key) }),
        ("\(what) elements", { try from.elements(list, key, 0..<5) { _ in .proceed } }),
        ("\(what) sources", { try from.sources(of: key, through: best) { _ in .proceed } }),
        ("\(what) history", { try from.history(after: Version(0)) { _ in .proceed } }),
        ("\(what) window", { _ = try from.powers.windows?.window(number, containing: key) }),
        ("\(what) window of data", { _ = try from.powers.windows?.window(blob, containing: key) }),
        ("\(what) gathering", {
          try withUnsafePointer(to: Int64(1)) { keys throws in
            try from.powers.gathering?.words(
              number, of: UnsafeBufferPointer(start: keys, count: 1), into: words, nulls: nulls)
          }
        }),
        ("\(what) total", { _ = try from.powers.aggregates?.total(of: number, .sum) }),
      ]
    }
    return reading("read", read) + reading("write", write) + [
      ("latestVersion", { _ = try engine.latestVersion() }), ("beginRead", { _ = try engine.beginRead() }),
      ("beginWrite", { _ = try engine.beginWrite(.after(.zero)) }),
      ("addCommitListener", { _ = try engine.addCommitListener {} }), ("statistics", { _ = try engine.statistics() }),
      ("syncCommits", { try engine.syncCommits() }), ("reclaimSpace", { _ = try engine.reclaimSpace(.after(.zero)) }),
      ("verifyStructure", { try engine.verifyStructure(read) { _ in } }),
      ("insert", { try write.insert(table, ["id": .int(9)]) }), ("delete", { try write.delete(table.id, key) }),
      ("delete all", { _ = try write.delete(table.id, all: [1]) }),
      ("set word", { try write.set(number, key, word: 5) }), ("set bytes", { try write.set(text, key, .string("x")) }),
      ("edit", { try write.edit(list, key, .clear) }), ("edit insert", { try write.edit(list, key, .insert(at: 0, [.double(1)])) }),
      ("savepoint", { try write.beginSavepoint() }), ("release", { try write.releaseSavepoint() }),
      ("undo", { try write.rollbackToSavepoint() }), ("setCatalog", { try write.setCatalog(read.catalog) }),
      ("commit", { _ = try write.commit(CommitRecord(), .full) }), ("commit again", { _ = try write.commit(CommitRecord(), .relaxed) }),
    ]
  }

  private static func isRefused(_ call: () throws -> Void) -> Bool {
    do {
      try call()
      return false
    } catch { return (error as? StorageError)?.code == .forked }
  }

  /// The numbers of the calls that were not refused, as the child wrote them.
  private static func runInChild(_ body: () -> [Int]) throws -> [Int] {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    let child = forkedProcess()
    if child == 0 {
      let bad = body()
      bad.withUnsafeBytes { _ = write(ends[1], $0.baseAddress, $0.count) }
      _exit(bad.isEmpty ? 0 : 1)
    }
    try #require(child > 0)
    close(ends[1])
    var bad = [Int](repeating: 0, count: 512)
    let count = bad.withUnsafeMutableBytes { Foundation.read(ends[0], $0.baseAddress, $0.count) }
    close(ends[0])
    var status: Int32 = -1
    waitpid(child, &status, 0)
    #expect(status == 0)
    return Array(bad.prefix(max(0, count) / 8))
  }

  @Test func everyCallOfAForkedChildIsRefusedAndTheParentsWriteCounts() async throws {
    let place = Place()
    await #expect(processExitsWith: .success) { [path = place.path as String] in
      let engine = try #require(try SQLiteBackend(path: path).open(OpenOptions()) as? SQLiteEngine)
      let table = try #require(try engine.adopt(.everything)["Thing"])
      try engine.write { write in
        let key = try write.insert(table, ["id": .int(1), "name": .string("one")])
        try write.edit(table.column(named: "scores"), key, .insert(at: 0, [.double(1), .double(2)]))
      }
      let read = try engine.beginRead()
      // In a window, where no statement is run to read it.
      #expect(try read.word(table.column(named: "id"), ObjectKey(1)) == 1)
      let write = try engine.beginWrite(.never)
      try write.insert(table, ["id": .int(2), "name": .string("two")])
      let calls = try ForkTests.calls(engine, read, write, table)
      let bad = try ForkTests.runInChild {
        let bad = calls.indices.filter { !ForkTests.isRefused(calls[$0].1) }
        read.end()
        write.end()
        engine.close()
        return bad
      }
      #expect(bad.map { calls[$0].0 } == [])
      #expect(try write.commit(CommitRecord(), .full) == Version(3))
      #expect(try read.count(table.id) == 1)
      read.end()
      try engine.write { try $0.insert(table, ["id": .int(3)]) }
      engine.close()
      let again = try SQLiteBackend(path: path).open(OpenOptions())
      #expect(try again.beginRead().count(table.id) == 3)
    }
  }

  @Test func aChildThatForksInsideALentClosureReadsNoFurther() async throws {
    let place = Place()
    await #expect(processExitsWith: .success) { [path = place.path as String] in
      let engine = try SQLiteBackend(path: path).open(OpenOptions())
      let table = try #require(try engine.adopt(.everything)["Thing"])
      try engine.write { write in for id in 0..<5000 { try write.insert(table, ["id": .int(Int64(id))]) } }
      let read = try engine.beginRead()
      var child: pid_t = -1
      var batches = 0
      let id = table.column(named: "id").property
      do throws(StorageError) {
        try read.scan(table.id, [id], from: ObjectKey(0), hints: []) { _ in
          batches += 1
          if child < 0 { child = forkedProcess() }
          return .proceed
        }
        if child == 0 { _exit(1) }
      } catch {
        if child == 0 { _exit(error.code == .forked && batches == 1 ? 0 : 2) }
        throw error
      }
      var status: Int32 = -1
      waitpid(child, &status, 0)
      #expect(status == 0)
      #expect(batches > 3)
      #expect(try read.count(table.id) == 5000)
    }
  }
}
