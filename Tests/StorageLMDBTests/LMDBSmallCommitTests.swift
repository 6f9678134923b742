import Foundation
import StorageConformance
import StorageInterface
import StoreValues
import Testing
import VivariumTestSupport

@testable import ColumnStore
@testable import StorageLMDB

/// What a commit of one object writes to a file.
@Suite struct LMDBSmallCommitTests {
  private static let schema = Schema([
    ObjectSchema(
      "Task", .scalar("id", .int64, primaryKey: true), .scalar("title", .string), .scalar("priority", .int64),
      .scalar("project", .int64, indexed: true))
  ])

  private static func row(_ id: Int) -> [String: Value] {
    ["id": .int(Int64(id)), "title": .string("Task number \(id)"), "priority": .int(Int64(id % 10)),
      "project": .int(Int64(id &* 7_919 % 1_009))]
  }

  /// The pages of a file that differ after each of some commits of one object, those that make fresh rows a chunk among them.
  private func pages(_ engine: ColumnEngine, _ path: String) throws -> [Int] {
    let table = try #require(try engine.adopt(LMDBSmallCommitTests.schema)["Task"])
    try engine.write { write in for id in 0..<60_000 { try write.insert(table, LMDBSmallCommitTests.row(id)) } }
    // Until old commit records go.
    for id in 60_000..<60_450 { try engine.write { try $0.insert(table, LMDBSmallCommitTests.row(id)) } }
    var counts: [Int] = []
    var before = try Data(contentsOf: URL(fileURLWithPath: path))
    for id in 60_450..<60_850 {
      try engine.write { try $0.insert(table, LMDBSmallCommitTests.row(id)) }
      let after = try Data(contentsOf: URL(fileURLWithPath: path))
      counts.append(LMDBSmallCommitTests.difference(before, after))
      before = after
    }
    return counts
  }

  /// How many pages of a file are others, or are new.
  private static func difference(_ before: Data, _ after: Data) -> Int {
    before.withUnsafeBytes { before in
      after.withUnsafeBytes { after in
        stride(from: 0, to: after.count, by: 4_096).filter { start in
          let end = min(start + 4_096, after.count)
          if end > before.count { return true }
          let (old, new) = (UnsafeRawBufferPointer(rebasing: before[start..<end]), UnsafeRawBufferPointer(rebasing: after[start..<end]))
          return compareBytes(old, new) != 0
        }.count
      }
    }
  }

  @Test func aCommitOfOneObjectWritesFewPages() throws {
    let scratch = try Scratch()
    func counts(older: Bool) throws -> (usual: Int, sum: Int) {
      let path = scratch.file(older ? "older" : "newer")
      let store = try LMDBStore(path: path)
      if older {
        let header = FileHeader(pageSize: store.traits.pageSize, pageOverhead: store.traits.pageOverhead)
        var batch = KeyValueBatch(version: Version(0))
        batch.put(.header, header.encoded(format: 1))
        let writer = try store.acquireWriter(.never)
        try writer.apply(batch, .full)
        writer.end()
      }
      let engine = try ColumnEngine(store, OpenOptions(historyLimit: 400))
      defer { engine.close() }
      let counts = try pages(engine, path)
      return (counts.sorted()[counts.count / 2], counts.reduce(0, +))
    }
    // The background would make holes in the file, which are other pages too.
    let (older, newer) = try LMDBEnvironment.whileSpaceWaits { (try counts(older: true), try counts(older: false)) }
    #expect(newer.usual <= 9 && newer.usual + 4 <= older.usual, "\(older), \(newer)")
    // With those that make the rows a chunk.
    #expect(newer.sum * 5 <= older.sum * 4, "\(older), \(newer)")
  }

  @Test func randomHistoriesOfSmallCommitsShowWhatThePlainEngineShows() throws {
    let scratch = try Scratch()
    var run = try IndexRun(.forTest("histories of small commits in a file")) {
      try ColumnEngine(LMDBStore(path: scratch.file("store")), OpenOptions())
    }
    try run.play(environmentNumber("VIVARIUM_INDEX_COMMITS", default: 100))
  }
}
