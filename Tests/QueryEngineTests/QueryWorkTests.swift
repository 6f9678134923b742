import Foundation
import QueryEngine
import QueryModel
import StorageInterface
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// What questions cost on the engines, in counts: a lost index, chunks that are looked at for nothing and a full sort under a
/// limit show here, not on a clock.
@Suite struct QueryWorkTests {
  private static let rows = 6_000

  /// Tasks: `project` is the row modulo 100, `rank` and `level` grow with it, `title` is "task <row>".
  private final class Tasks {
    let engine: any StorageEngine
    let catalog: Catalog
    private let folder = TemporaryDirectory("work")

    init(_ engine: CorpusTests.Engine) throws {
      self.engine = try engine.backend(folder).open(OpenOptions())
      catalog = try self.engine.adopt(
        Schema([
          ObjectSchema(
            name: "Task",
            properties: [
              .scalar("project", .int64, indexed: true), .scalar("rank", .int64), .scalar("level", .double),
              .scalar("title", .string, indexed: true), .scalar("done", .bool), .scalar("due", .date), .link("parent", to: "Task"),
              .list("parts", ofLinksTo: "Task"), .scalar("weight", .double, indexed: true),
            ], indexes: [IndexSchema(properties: ["done", "rank"], isUnique: false)])
        ]))
      let table = try #require(catalog["Task"])
      try self.engine.write { write in
        for i in 0..<QueryWorkTests.rows {
          let key = try write.insert(
            table,
            ["project": .int(Int64(i % 100)), "rank": .int(Int64(i)), "level": .double(Double(i) / 4), "title": .string("task \(i)"),
              "done": .bool(i % 2 == 0), "due": .date(Timestamp(secondsSinceReferenceDate: Double(i))), "weight": .double(Double(i % 50))])
          if i > 0 { try write.set(table.column(named: "parent"), key, word: key.rawValue - 1) }
        }
      }
    }

    deinit { engine.close() }

    func bound(_ text: String) throws -> BoundQuery { try BoundQuery(Query(type: "Task", parsing: text), in: catalog) }

    /// The work of reading the keys and of counting, and how many there are.
    func work(_ text: String) throws -> (keys: QueryStatistics, count: QueryStatistics, found: Int) {
      let reading = try engine.beginRead()
      defer { reading.end() }
      var (keys, count) = (QueryStatistics(), QueryStatistics())
      let found = try bound(text).keys(in: reading, statistics: &keys).count
      #expect(try bound(text).count(in: reading, statistics: &count) == found)
      return (keys, count, found)
    }
  }

  @Test(arguments: [CorpusTests.Engine.memory, .lmdb])
  func whatAnIndexAnswersReadsItsEntriesAndNoRow(_ engine: CorpusTests.Engine) throws {
    let tasks = try Tasks(engine)
    defer { withExtendedLifetime(tasks) {} }
    for (condition, found, runs) in [
      ("project == 7", 60, 1), ("project IN {3, 5, 5}", 120, 2), ("project BETWEEN {3, 4}", 120, 1), ("project < 2", 120, 1),
      ("title BEGINSWITH 'task 599'", 11, 1), ("title == 'task 77'", 1, 1), ("done == YES AND rank >= 5900", 50, 1),
      ("rank == 10 AND done == YES", 1, 1), ("weight == 3", 120, 1), ("weight > 48", 120, 1),
    ] {
      let work = try tasks.work(condition)
      #expect(work.found == found, "\(condition)")
      #expect(work.keys.entriesRead == found && work.keys.rowsRead == 0 && work.keys.rowsScanned == 0, "\(condition): \(work.keys)")
      #expect(work.count.entriesRead == 0 && work.count.rowsScanned == 0 && work.count.runsCounted == runs, "\(condition): \(work.count)")
    }
  }

  @Test(arguments: [CorpusTests.Engine.memory, .lmdb])
  func whatIsLeftIsAskedOfTheRowsTheIndexGives(_ engine: CorpusTests.Engine) throws {
    let tasks = try Tasks(engine)
    defer { withExtendedLifetime(tasks) {} }
    for condition in ["project == 7 AND level < 100", "project == 7 AND title CONTAINS '99'", "project == 7 AND parent.rank > 50"] {
      let work = try tasks.work(condition)
      #expect(work.keys.entriesRead == 60 && work.keys.rowsRead == 60 && work.keys.rowsScanned == 0, "\(condition): \(work.keys)")
      #expect(work.count.rowsRead == 60 && work.count.rowsScanned == 0, "\(condition): \(work.count)")
    }
    // The links of the rows that pass the rest, and of no others.
    let links = try tasks.work("rank < 100 AND parent.project == 3")
    #expect(links.found == 1 && links.keys.rowsRead == 100 && links.keys.rowsScanned < 2_100)
  }

  @Test(arguments: [CorpusTests.Engine.memory, .lmdb])
  func chunksWhoseBoundsRuleThemOutAreNotGiven(_ engine: CorpusTests.Engine) throws {
    let tasks = try Tasks(engine)
    defer { withExtendedLifetime(tasks) {} }
    for (condition, found) in [
      ("rank == 3000", 1), ("rank BETWEEN {3000, 3009}", 10), ("rank IN {3000, 3001}", 2), ("level > 700 AND level < 701", 3),
      ("due == T978310207:0", 1), ("rank > 3000 AND rank < 3005 AND title CONTAINS 'task'", 4), ("rank > 100000", 0),
      ("rank == 3000.5", 0),
    ] {
      let work = try tasks.work(condition)
      #expect(work.found == found, "\(condition)")
      #expect(work.keys.rowsScanned <= 2_100 && work.count.rowsScanned <= 2_100, "\(condition) looked at \(work.keys.rowsScanned) rows")
    }
  }

  @Test(arguments: [CorpusTests.Engine.memory, .lmdb])
  func aLimitKeepsTheBestAndSortsNoMore(_ engine: CorpusTests.Engine) throws {
    let tasks = try Tasks(engine)
    defer { withExtendedLifetime(tasks) {} }
    for sort in [
      "SORT(level DESC)", "SORT(title ASC)", "SORT(project DESC, level ASC)", "SORT(parent.rank DESC)", "SORT((parts.@count) ASC, rank DESC)",
      "SORT(done ASC, due DESC)",
    ] {
      let limited = try tasks.work("rank >= 0 \(sort) LIMIT(50)")
      #expect(limited.found == 50)
      #expect(limited.keys.rowsHeld <= 512, "\(sort) held \(limited.keys.rowsHeld) rows")
      let all = try tasks.work("rank >= 0 \(sort)")
      #expect(all.keys.rowsHeld == QueryWorkTests.rows, "\(sort)")
      let reading = try tasks.engine.beginRead()
      defer { reading.end() }
      let (first, whole) = (try tasks.bound("rank >= 0 \(sort) LIMIT(50)").keys(in: reading), try tasks.bound("rank >= 0 \(sort)").keys(in: reading))
      #expect(first == Array(whole.prefix(50)), "\(sort)")
    }
    // The first object is the best of all, not the head of a sorted list.
    let reading = try tasks.engine.beginRead()
    #expect(try tasks.bound("rank >= 0 SORT(level DESC)").first(in: reading) == ObjectKey(Int64(QueryWorkTests.rows)))
  }

  @Test(arguments: [CorpusTests.Engine.memory, .lmdb])
  func aScanReadsTheColumnsItAsksAboutAndNoOthers(_ engine: CorpusTests.Engine) throws {
    let tasks = try Tasks(engine)
    defer { withExtendedLifetime(tasks) {} }
    let reading = try tasks.engine.beginRead()
    defer { reading.end() }
    for (condition, columns) in [
      ("level > 3 AND done == YES", ["done", "level"]), ("rank > 3 SORT(level ASC)", ["rank", "level"]), ("TRUEPREDICATE SORT(due ASC)", ["due"]),
      ("level > 3 OR rank == 2", ["rank", "level"]),
    ] {
      let explanation = try tasks.bound(condition).explain(in: reading)
      #expect(explanation.access == .scan && Set(explanation.columns) == Set(columns), "\(condition): \(explanation)")
    }
  }

  @Test func onSQLiteIndexesAreSearchedAndOrdersCutShort() throws {
    let tasks = try Tasks(.sqlite)
    defer { withExtendedLifetime(tasks) {} }
    let reading = try tasks.engine.beginRead()
    defer { reading.end() }
    func plan(_ text: String) throws -> (statement: String, lines: [String]) {
      guard case .engine(let statement) = try tasks.bound(text).explain(in: reading).access else { return ("", []) }
      return (statement, try SQLiteEngine.plan(of: statement, in: reading))
    }
    for condition in [
      "project == 7", "project IN {3, 5}", "project BETWEEN {3, 4}", "project BETWEEN {3, 4} AND level > 5", "title BEGINSWITH 'task 599'", "title == 'task 7'",
      "done == YES AND rank > 5900", "rank == 10 AND done == YES", "weight == 3", "weight > 48 AND title CONTAINS '1'",
    ] {
      let (statement, lines) = try plan(condition)
      #expect(lines.contains { $0.hasPrefix("SEARCH") && $0.contains("INDEX") }, "\(condition): \(statement) \(lines)")
      #expect(!lines.contains { $0.hasPrefix("SCAN") }, "\(condition): \(statement) \(lines)")
    }
    // An open range is searched where it finds few; where it finds many, and under a limit, the table is gone through.
    for condition in ["project > 98 AND level > 5", "98 < project AND done == NO", "project < 1", "project >= 99 AND title CONTAINS '9'"] {
      let (statement, lines) = try plan(condition)
      #expect(lines.contains { $0.hasPrefix("SEARCH") && $0.contains("INDEX") }, "\(condition): \(statement) \(lines)")
      let keys = try tasks.bound(condition).keys(in: reading)
      #expect(!keys.isEmpty && keys == keys.sorted(), "\(condition)")
    }
    for condition in ["project > 20 AND level > 5", "project > 98 LIMIT(1)"] {
      let (statement, lines) = try plan(condition)
      #expect(lines.contains { $0.hasPrefix("SCAN") } && !lines.contains { $0.contains("TEMP B-TREE") }, "\(condition): \(statement) \(lines)")
    }
    // An index that has the order needs no sorter; where one is needed it is told the limit.
    #expect(try !plan("TRUEPREDICATE SORT(project ASC) LIMIT(10)").lines.contains { $0.contains("TEMP B-TREE") })
    #expect(try !plan("TRUEPREDICATE SORT(weight ASC) LIMIT(10)").lines.contains { $0.contains("TEMP B-TREE") })
    for sort in ["SORT(level DESC)", "SORT(project DESC, level ASC)", "SORT(due ASC, title DESC)"] {
      #expect(try plan("rank >= 0 \(sort) LIMIT(10)").statement.hasSuffix("LIMIT ?"), "\(sort)")
      let work = try tasks.work("rank >= 0 \(sort) LIMIT(10)")
      #expect(work.keys.entriesRead == 10 && work.keys.rowsHeld == 0, "\(sort): \(work.keys)")
    }
    // One statement each, and none that reads a row by itself. Kept statements are counted, those of questions are not kept.
    for condition in ["project == 7", "rank > 5 AND done == YES", "title CONTAINS 'task 59' SORT(level DESC) LIMIT(3)"] {
      let bound = try tasks.bound(condition)
      let before = SQLiteEngine.useCount(of: reading)
      _ = try bound.keys(in: reading)
      #expect(SQLiteEngine.useCount(of: reading) == before, "\(condition)")
      _ = try bound.count(in: reading)
      #expect(SQLiteEngine.useCount(of: reading) - before <= 1, "\(condition)")
    }
  }
}
