import ColumnStore
import Foundation
import StorageInterface
import StorageLMDB
import StoreValues
import Testing
import VivariumTestSupport

/// A forked child has its parent's handles and none of its locks: every call on what it inherited is `.forked`, and harms
/// nobody.
struct LMDBForkTests {
  private static let schema = Schema([
    ObjectSchema(
      "Thing", .scalar("name", .string), .scalar("rank", .int64, indexed: true), .list("numbers", of: .int64),
      .set("tags", of: .string), .map("places", of: .int64), .link("next", to: "Thing", indexed: true))
  ])

  private typealias Call = (name: String, body: () throws -> Void)

  /// Every call of an engine.
  private static func calls(_ engine: any StorageEngine, _ read: any ReadTransaction) -> [Call] {
    [
      ("latestVersion", { _ = try engine.latestVersion() }),
      ("beginRead", { _ = try engine.beginRead() }),
      ("beginWrite", { _ = try engine.beginWrite(.after(.zero)) }),
      ("addCommitListener", { _ = try engine.addCommitListener {} }),
      ("statistics", { _ = try engine.statistics() }),
      ("reclaimSpace", { _ = try engine.powers.space?.reclaimSpace(.never) }),
      ("syncCommits", { try engine.powers.syncing?.syncCommits() }),
      ("verifyStructure", { try engine.powers.structure?.verifyStructure(read) { _ in } }),
    ]
  }

  /// Every call that reads.
  private static func calls(_ tx: any StorageReading, _ thing: TableEntry, _ name: String) -> [Call] {
    let (rank, numbers) = (thing.column(named: "rank"), thing.column(named: "numbers"))
    let (tags, places, next) = (thing.column(named: "tags"), thing.column(named: "places"), thing.column(named: "next"))
    let (index, links) = (thing.index("rank"), thing.index("next"))
    let key = ObjectKey(1)
    let calls: [Call] = [
      ("count", { _ = try tx.count(thing.id) }),
      ("contains", { _ = try tx.contains(thing.id, key) }),
      ("word", { _ = try tx.word(rank, key) }),
      ("bytes", { try tx.bytes(thing.column(named: "name"), key) { _ in } }),
      ("scan", { try tx.scan(thing.id, [], from: key, hints: []) { _ in .stop } }),
      ("keys", { try tx.keys(in: index, IndexRange(), descending: false) { _ in .stop } }),
      ("count of an index", { _ = try tx.count(in: index, IndexRange()) }),
      ("count equal", { _ = try tx.count(in: index, equalTo: 1) }),
      ("elementCount", { _ = try tx.elementCount(numbers, key) }),
      ("elements", { try tx.elements(numbers, key, 0..<1) { _ in .stop } }),
      ("position", { _ = try tx.position(of: .int(1), in: numbers, key) }),
      ("contains member", { _ = try tx.contains(member: .string("x"), in: tags, key) }),
      ("value for key", { _ = try tx.value(forKey: "x", in: places, key) }),
      ("key equal", { _ = try tx.key(in: index, equal: [.int(1)]) }),
      ("key equal to a word", { _ = try tx.key(in: index, equalTo: 1) }),
      ("sources", { try tx.sources(of: key, through: next) { _ in .stop } }),
      ("sources of a link", { try tx.sources(of: ObjectLink(thing.id, key), through: next) { _ in .stop } }),
      ("history", { try tx.history(after: Version(0)) { _ in .stop } }),
      ("window", { if let windows = tx.powers.windows { _ = try windows.window(rank, containing: key) } else { throw StorageError.none } }),
      ("words", { _ = try tx.words(rank, of: Array(1...20)) }),
      ("count of links", { _ = try tx.count(in: links, IndexRange(equal: [.link(key)])) }),
    ]
    return calls.map { ("\(name): \($0.name)", $0.body) }
  }

  /// Every call that writes.
  private static func calls(_ write: any WriteTransaction, _ thing: TableEntry) -> [Call] {
    let (name, rank, numbers) = (thing.column(named: "name"), thing.column(named: "rank"), thing.column(named: "numbers"))
    let (tags, places) = (thing.column(named: "tags"), thing.column(named: "places"))
    let key = ObjectKey(1)
    return [
      ("insert", { _ = try write.insert(thing, ["rank": .int(1)]) }),
      ("delete", { try write.delete(thing.id, key) }),
      ("delete all", { _ = try write.delete(thing.id, all: [1]) }),
      ("set word", { try write.set(rank, key, word: 3) }),
      ("set bytes", { try write.set(name, key, .string("x")) }),
      ("edit", { try write.edit(numbers, key, .insert(at: 0, [.int(1)])) }),
      ("insert member", { _ = try write.insert(member: .string("x"), into: tags, key) }),
      ("remove member", { _ = try write.remove(member: .string("x"), from: tags, key) }),
      ("set for key", { _ = try write.set(.int(1), forKey: "x", in: places, key) }),
      ("remove key", { _ = try write.remove(key: "x", from: places, key) }),
      ("setCatalog", { try write.setCatalog(write.catalog) }),
      ("beginSavepoint", { try write.beginSavepoint() }),
      ("releaseSavepoint", { try write.releaseSavepoint() }),
      ("rollbackToSavepoint", { try write.rollbackToSavepoint() }),
      ("adopt", { _ = try write.writePowers.history?.commit(adopting: [], .full) }),
      ("commit", { _ = try write.commit(CommitRecord(author: "child"), .full) }),
    ]
  }

  @Test func everyCallOfAForkedChildIsRefused() async throws {
    let scratch = try Scratch()
    let path = scratch.file("a")
    await #expect(processExitsWith: .success) { [path = path as String] in
      let engine = try LMDBBackend(path: path).open(OpenOptions())
      let catalog = try engine.adopt(LMDBForkTests.schema)
      let thing = try #require(catalog["Thing"])
      try engine.write { write in for rank in 1...30 { try write.insert(thing, ["rank": .int(Int64(rank))]) } }
      let read = try engine.beginRead()
      // What was read once may be in memory.
      #expect(try read.word(thing.column(named: "rank"), ObjectKey(1)) == 1)
      let write = try engine.beginWrite(.never)
      try write.set(thing.column(named: "rank"), ObjectKey(2), word: 7)
      let calls = LMDBForkTests.calls(engine, read) + LMDBForkTests.calls(read, thing, "read")
        + LMDBForkTests.calls(write, thing, "write") + LMDBForkTests.calls(write, thing)
      let child = forkedProcess()
      if child == 0 {
        var wrong: [String] = []
        for call in calls {
          do {
            try call.body()
            wrong.append("\(call.name): no error")
          } catch {
            let code = (error as? StorageError)?.code
            if code != .forked { wrong.append("\(call.name): \(code?.rawValue ?? "\(error)")") }
          }
        }
        let announces = engine.powers.announcing?.announce(Version(1), label: "child") != nil
        read.end()
        write.end()
        engine.close()
        for line in wrong { print(line) }
        fflush(nil)
        _exit(wrong.isEmpty && !announces ? 0 : 1)
      }
      try #require(child > 0)
      var status: Int32 = -1
      waitpid(child, &status, 0)
      #expect(status == 0)
      // The parent has lost nothing by it.
      #expect(try read.word(thing.column(named: "rank"), ObjectKey(2)) == 2)
      _ = try write.commit(CommitRecord(author: "parent"), .full)
      let after = try engine.beginRead()
      #expect(try after.word(thing.column(named: "rank"), ObjectKey(2)) == 7 && after.count(thing.id) == 30)
    }
  }
}

extension StorageError {
  fileprivate static var none: StorageError { StorageError(.misuse, .statement, "There is no such power.") }
}
