import CBenchSQLite

struct SQLiteFailure: Error, CustomStringConvertible {
  let description: String
}

/// SQLite through its C API, as a careful program would use it: prepared statements, WAL, the id as rowid.
final class RawSQLite: Contestant {
  let data: Dataset
  private let path: String
  private var database: OpaquePointer?
  private var statements: [String: OpaquePointer] = [:]
  private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  var note: String {
    "SQLite \(String(cString: sqlite3_libversion())), WAL, synchronous=FULL, cache 256 MiB, mmap 4 GiB"
  }

  init(path: String, data: Dataset) throws {
    self.data = data
    self.path = path
    try open()
    try execute(
      """
      CREATE TABLE IF NOT EXISTS task(id INTEGER PRIMARY KEY, title TEXT NOT NULL, priority INTEGER NOT NULL,
        done INTEGER NOT NULL, due REAL NOT NULL, project INTEGER NOT NULL);
      CREATE INDEX IF NOT EXISTS task_project ON task(project);
      """)
  }

  deinit { close() }

  private func open() throws {
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2(path, &database, flags, nil) == SQLITE_OK else { throw failure("open") }
    try execute(
      """
      PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-262144;
      PRAGMA mmap_size=4294967296; PRAGMA temp_store=MEMORY;
      """)
  }

  private func close() {
    for statement in statements.values { sqlite3_finalize(statement) }
    statements = [:]
    sqlite3_close(database)
    database = nil
  }

  private func failure(_ what: String) -> SQLiteFailure {
    SQLiteFailure(description: "\(what): \(String(cString: sqlite3_errmsg(database)))")
  }

  private func execute(_ sql: String) throws {
    if sqlite3_exec(database, sql, nil, nil, nil) != SQLITE_OK { throw failure(sql) }
  }

  private func prepare(_ sql: String) throws -> OpaquePointer {
    if let statement = statements[sql] { return statement }
    var statement: OpaquePointer?
    guard sqlite3_prepare_v3(database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK,
      let statement
    else { throw failure(sql) }
    statements[sql] = statement
    return statement
  }

  private func run(_ statement: OpaquePointer) throws {
    let code = sqlite3_step(statement)
    sqlite3_reset(statement)
    if code != SQLITE_DONE { throw failure("step") }
  }

  private func transaction(_ body: () throws -> Void) throws {
    try run(prepare("BEGIN IMMEDIATE"))
    try body()
    try run(prepare("COMMIT"))
  }

  private func insert(_ id: Int) throws {
    let row = data.rows[id]
    let statement = try prepare("INSERT INTO task(id,title,priority,done,due,project) VALUES(?,?,?,?,?,?)")
    sqlite3_bind_int64(statement, 1, Int64(id))
    var title = data.title(id)
    _ = title.withUTF8 { utf8 in
      utf8.withMemoryRebound(to: CChar.self) {
        sqlite3_bind_text(statement, 2, $0.baseAddress, Int32($0.count), RawSQLite.transient)
      }
    }
    sqlite3_bind_int64(statement, 3, row.priority)
    sqlite3_bind_int64(statement, 4, row.done ? 1 : 0)
    sqlite3_bind_double(statement, 5, row.due)
    sqlite3_bind_int64(statement, 6, row.project)
    try run(statement)
  }

  func load() throws { try transaction { for id in data.order { try insert(Int(id)) } } }

  func reopen() throws {
    close()
    try open()
  }

  func first() throws -> Int64 {
    try rows("SELECT * FROM task ORDER BY id LIMIT 1") { sqlite3_column_int64($0, 0) }.first ?? -1
  }

  func lookUps(_ ids: [Int]) throws -> Int64 {
    try execute("BEGIN")
    let statement = try prepare("SELECT priority FROM task WHERE id=?")
    var sum: Int64 = 0
    for id in ids {
      sqlite3_bind_int64(statement, 1, Int64(id))
      guard sqlite3_step(statement) == SQLITE_ROW else { throw failure("look-up") }
      sum += sqlite3_column_int64(statement, 0)
      sqlite3_reset(statement)
    }
    try execute("COMMIT")
    return sum
  }

  private func rows<R>(_ sql: String, _ read: (OpaquePointer) -> R) throws -> [R] {
    let statement = try prepare(sql)
    var result: [R] = []
    while sqlite3_step(statement) == SQLITE_ROW { result.append(read(statement)) }
    sqlite3_reset(statement)
    return result
  }

  private func integer(_ sql: String) throws -> Int64 { try rows(sql) { sqlite3_column_int64($0, 0) }[0] }
  private func real(_ sql: String) throws -> Double { try rows(sql) { sqlite3_column_double($0, 0) }[0] }

  func sumPriority() throws -> Int64 { try integer("SELECT SUM(priority) FROM task") }
  func maxDue() throws -> Double { try real("SELECT MAX(due) FROM task") }
  func averageDue() throws -> Double { try real("SELECT AVG(due) FROM task") }

  func readEverything() throws -> Int64 {
    let statement = try prepare("SELECT id,title,priority,done,due,project FROM task")
    var sum: Int64 = 0
    var due = 0.0
    while sqlite3_step(statement) == SQLITE_ROW {
      let title = sqlite3_column_text(statement, 1).map { String(cString: $0) } ?? ""
      sum += Int64(title.utf8.count) + sqlite3_column_int64(statement, 2) + sqlite3_column_int64(statement, 3)
      due += sqlite3_column_double(statement, 4)
    }
    sqlite3_reset(statement)
    return due > 0 ? sum : 0
  }

  func countOpenUrgent() throws -> Int {
    Int(try integer("SELECT COUNT(*) FROM task WHERE priority>=7 AND done=0"))
  }
  func countTitles(containing text: String) throws -> Int {
    Int(try integer("SELECT COUNT(*) FROM task WHERE instr(title,'\(text)')>0"))
  }
  func countTitles(beginningWith text: String) throws -> Int {
    Int(try integer("SELECT COUNT(*) FROM task WHERE title>='\(text)' AND title<'\(text)~'"))
  }

  private func titles(_ sql: String, first: Int = 100) throws -> [String] {
    let statement = try prepare(sql)
    var result: [String] = []
    while result.count < first, sqlite3_step(statement) == SQLITE_ROW {
      result.append(String(cString: sqlite3_column_text(statement, 0)))
    }
    sqlite3_reset(statement)
    return result
  }

  func firstTitles(ofProject project: Int64) throws -> [String] {
    try titles("SELECT title FROM task WHERE project=\(project) AND done=0 ORDER BY due,id LIMIT 100")
  }

  func firstTitlesByPriority(limited: Bool) throws -> [String] {
    try titles("SELECT title FROM task ORDER BY priority DESC,due,id" + (limited ? " LIMIT 100" : ""))
  }

  func count(ofProject project: Int64) throws -> Int {
    let statement = try prepare("SELECT COUNT(*) FROM task WHERE project=?")
    sqlite3_bind_int64(statement, 1, project)
    guard sqlite3_step(statement) == SQLITE_ROW else { throw failure("count") }
    defer { sqlite3_reset(statement) }
    return Int(sqlite3_column_int64(statement, 0))
  }

  func insertOne(_ id: Int, durable: Bool) throws {
    try execute(durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL")
    try transaction { try insert(id) }
  }

  func updatePriorities(_ ids: [Int]) throws {
    try execute("PRAGMA synchronous=FULL")
    let statement = try prepare("UPDATE task SET priority=(priority+1)%10 WHERE id=?")
    try transaction {
      for id in ids {
        sqlite3_bind_int64(statement, 1, Int64(id))
        try run(statement)
      }
    }
  }

  func deleteDone() throws -> Int {
    try transaction { try execute("DELETE FROM task WHERE done=1") }
    return Int(sqlite3_changes(database))
  }
}
