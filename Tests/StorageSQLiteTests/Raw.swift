import CVivariumSQLite
import Synchronization

/// A plain SQLite connection: another program, as far as the store is concerned.
final class Raw {
  struct Failure: Error {
    let code: Int32
    let message: String
  }

  private var database: OpaquePointer?

  init(_ path: String) throws {
    let code = sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
    guard code == SQLITE_OK else { throw failure(code) }
    sqlite3_busy_timeout(database, 5000)
  }

  deinit { sqlite3_close(database) }

  func execute(_ text: String) throws {
    let code = sqlite3_exec(database, text, nil, nil, nil)
    guard code == SQLITE_OK else { throw failure(code) }
  }

  /// Every row, its columns as SQLite writes them, joined by "|"; NULL as "NULL".
  func rows(_ text: String) throws -> [String] {
    var statement: OpaquePointer?
    let code = sqlite3_prepare_v2(database, text, -1, &statement, nil)
    defer { sqlite3_finalize(statement) }
    guard code == SQLITE_OK else { throw failure(code) }
    var result: [String] = []
    while sqlite3_step(statement) == SQLITE_ROW {
      result.append(
        (0..<sqlite3_column_count(statement)).map { column in
          sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "NULL"
        }.joined(separator: "|"))
    }
    return result
  }

  private func failure(_ code: Int32) -> Failure {
    Failure(code: code, message: String(cString: sqlite3_errmsg(database)))
  }
}

/// Numbers from 1 on.
final class Counter: Sendable {
  private let value = Atomic(0)
  func next() -> Int { value.add(1, ordering: .relaxed).newValue }
}
