/// An engine under test. Each call does a workload's work once and returns what it computed; the harness
/// times it. Data is in `path` and its side files; the folder is empty at first.
protocol Contestant: AnyObject {
  init(path: String, data: Dataset) throws
  /// What the settings are, for the note.
  var note: String { get }
  /// W1: inserts every row in the given order, one durable transaction.
  func load() throws
  /// Lets go of the files and opens them again.
  func reopen() throws
  /// W14: the first object in a newly opened store; the id.
  func first() throws -> Int64
  /// W3: the sum of `priority` over look-ups by id.
  func lookUps(_ ids: [Int]) throws -> Int64
  /// W4a, W9: column by column.
  func sumPriority() throws -> Int64
  func maxDue() throws -> Double
  func averageDue() throws -> Double
  /// W4b: touches title, priority, done and due of every object; returns title bytes + priority + done.
  func readEverything() throws -> Int64
  /// W5: counts.
  func countOpenUrgent() throws -> Int
  func countTitles(containing text: String) throws -> Int
  func countTitles(beginningWith text: String) throws -> Int
  /// W6: project == k and not done, by due, the first 100 titles.
  func firstTitles(ofProject project: Int64) throws -> [String]
  /// W6b: all by (priority descending, due ascending); the first 100 titles.
  func firstTitlesByPriority(limited: Bool) throws -> [String]
  /// W7.
  func count(ofProject project: Int64) throws -> Int
  /// W2: one insert, one transaction.
  func insertOne(_ id: Int, durable: Bool) throws
  /// W8: priority of these ids becomes (priority + 1) % 10, one durable transaction.
  func updatePriorities(_ ids: [Int]) throws
  /// W13: deletes every done task, one durable transaction; how many.
  func deleteDone() throws -> Int
}

enum Engine: String, CaseIterable {
  case lmdb
  case sqlite
  /// LMDB with a journal of small commits.
  case journaledLMDB = "lmdb-journal"
  /// The two with a key.
  case sealedLMDB = "lmdb-sealed"
  case sealedSQLite = "sqlite-sealed"
  case memory
  case rawLMDB = "raw-lmdb"
  case rawSQLite = "raw-sqlite"
  case grdb

  /// Whether another process can open what this one wrote.
  var isOnDisk: Bool { self != .memory }

  func contestant(path: String, data: Dataset) throws -> any Contestant {
    switch self {
    case .lmdb: try LMDBContestant(path: path, data: data)
    case .sqlite: try SQLiteContestant(path: path, data: data)
    case .journaledLMDB: try JournaledLMDBContestant(path: path, data: data)
    case .sealedLMDB: try SealedLMDBContestant(path: path, data: data)
    case .sealedSQLite: try SealedSQLiteContestant(path: path, data: data)
    case .memory: try MemoryContestant(path: path, data: data)
    case .rawLMDB: try RawLMDB(path: path, data: data)
    case .rawSQLite: try RawSQLite(path: path, data: data)
    case .grdb: try GRDBContestant(path: path, data: data)
    }
  }
}
