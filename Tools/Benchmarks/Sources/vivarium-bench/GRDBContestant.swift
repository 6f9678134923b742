import Foundation
import GRDB

/// GRDB in its fast documented form: a pool, records with numeric column indexes, a cached insert statement.
final class GRDBContestant: Contestant {
  struct Record: FetchableRecord, TableRecord {
    static let databaseTableName = "task"
    static var databaseSelection: [any SQLSelectable] {
      ["id", "title", "priority", "done", "due", "project"].map { Column($0) }
    }
    let id: Int64
    let title: String
    let priority: Int64
    let done: Bool
    let due: Double
    let project: Int64

    init(row: GRDB.Row) {
      id = row[0]
      title = row[1]
      priority = row[2]
      done = row[3]
      due = row[4]
      project = row[5]
    }
  }

  let data: Dataset
  private let path: String
  private var pool: DatabasePool

  var note: String { "GRDB 7.10.0, DatabasePool, synchronous=FULL, prepared statements" }

  init(path: String, data: Dataset) throws {
    self.data = data
    self.path = path
    pool = try GRDBContestant.open(path)
    try pool.write { database in
      try database.execute(
        sql: """
          CREATE TABLE IF NOT EXISTS task(id INTEGER PRIMARY KEY, title TEXT NOT NULL, priority INTEGER NOT NULL,
            done BOOLEAN NOT NULL, due DOUBLE NOT NULL, project INTEGER NOT NULL);
          CREATE INDEX IF NOT EXISTS task_project ON task(project)
          """)
    }
  }

  private static func open(_ path: String) throws -> DatabasePool {
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous=FULL") }
    return try DatabasePool(path: path, configuration: configuration)
  }

  private static let insertion = "INSERT INTO task(id,title,priority,done,due,project) VALUES(?,?,?,?,?,?)"

  private func insert(_ id: Int, _ database: Database) throws {
    let row = data.rows[id]
    let statement = try database.cachedStatement(sql: GRDBContestant.insertion)
    statement.setUncheckedArguments([Int64(id), data.title(id), row.priority, row.done, row.due, row.project])
    try statement.execute()
  }

  func load() throws {
    try pool.write { database in for id in data.order { try insert(Int(id), database) } }
  }

  func reopen() throws {
    try pool.close()
    pool = try GRDBContestant.open(path)
  }

  func first() throws -> Int64 {
    try pool.read { try Record.order(Column("id")).fetchOne($0)?.id ?? -1 }
  }

  func lookUps(_ ids: [Int]) throws -> Int64 {
    try pool.read { database in
      let statement = try database.cachedStatement(sql: "SELECT priority FROM task WHERE id=?")
      var sum: Int64 = 0
      for id in ids { sum += try Int64.fetchOne(statement, arguments: [id]) ?? 0 }
      return sum
    }
  }

  private func one<T: DatabaseValueConvertible>(_ type: T.Type, _ sql: String) throws -> T {
    guard let value = try pool.read({ try T.fetchOne($0, sql: sql) }) else {
      throw SQLiteFailure(description: "no value: \(sql)")
    }
    return value
  }

  func sumPriority() throws -> Int64 { try one(Int64.self, "SELECT SUM(priority) FROM task") }
  func maxDue() throws -> Double { try one(Double.self, "SELECT MAX(due) FROM task") }
  func averageDue() throws -> Double { try one(Double.self, "SELECT AVG(due) FROM task") }

  func readEverything() throws -> Int64 {
    try pool.read { database in
      var sum: Int64 = 0
      var due = 0.0
      let records = try Record.fetchCursor(database)
      while let record = try records.next() {
        sum += Int64(record.title.utf8.count) + record.priority + (record.done ? 1 : 0)
        due += record.due
      }
      return due > 0 ? sum : 0
    }
  }

  func countOpenUrgent() throws -> Int { try one(Int.self, "SELECT COUNT(*) FROM task WHERE priority>=7 AND done=0") }
  func countTitles(containing text: String) throws -> Int {
    try one(Int.self, "SELECT COUNT(*) FROM task WHERE instr(title,'\(text)')>0")
  }
  func countTitles(beginningWith text: String) throws -> Int {
    try one(Int.self, "SELECT COUNT(*) FROM task WHERE title>='\(text)' AND title<'\(text)~'")
  }

  func firstTitles(ofProject project: Int64) throws -> [String] {
    let sql = "SELECT title FROM task WHERE project=\(project) AND done=0 ORDER BY due,id LIMIT 100"
    return try pool.read { try String.fetchAll($0, sql: sql) }
  }

  func firstTitlesByPriority(limited: Bool) throws -> [String] {
    try pool.read { database in
      let sql = "SELECT title FROM task ORDER BY priority DESC,due,id" + (limited ? " LIMIT 100" : "")
      let titles = try String.fetchCursor(database, sql: sql)
      var result: [String] = []
      while result.count < 100, let title = try titles.next() { result.append(title) }
      return result
    }
  }

  func count(ofProject project: Int64) throws -> Int {
    try pool.read { database in
      let statement = try database.cachedStatement(sql: "SELECT COUNT(*) FROM task WHERE project=?")
      return try Int.fetchOne(statement, arguments: [project]) ?? 0
    }
  }

  func insertOne(_ id: Int, durable: Bool) throws {
    try pool.writeWithoutTransaction { database in
      try database.execute(sql: durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL")
      try database.inTransaction {
        try insert(id, database)
        return .commit
      }
    }
  }

  func updatePriorities(_ ids: [Int]) throws {
    try pool.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA synchronous=FULL")
      try database.inTransaction {
        let statement = try database.cachedStatement(sql: "UPDATE task SET priority=(priority+1)%10 WHERE id=?")
        for id in ids {
          statement.setUncheckedArguments([id])
          try statement.execute()
        }
        return .commit
      }
    }
  }

  func deleteDone() throws -> Int {
    try pool.write { database in
      try database.execute(sql: "DELETE FROM task WHERE done=1")
      return database.changesCount
    }
  }
}
