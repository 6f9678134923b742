#if Sync
import CVivariumPostgres

/// The result of a statement, in binary format. For one thread; each value is copied when it is read.
final class PostgresRows {
  private let result: OpaquePointer
  /// The number of rows.
  let count: Int
  private let width: Int32

  /// Takes ownership of the result.
  init(_ result: OpaquePointer) {
    self.result = result
    count = Int(PQntuples(result))
    width = PQnfields(result)
  }

  deinit { PQclear(result) }

  private func content<R>(_ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer) -> R) throws(PostgresFailure) -> R {
    let (row, column) = (Int32(truncatingIfNeeded: row), Int32(truncatingIfNeeded: column))
    guard row >= 0, row < count, column >= 0, column < width, PQgetisnull(result, row, column) == 0 else {
      throw PostgresFailure(.damaged, "A row lacks column \(column)")
    }
    return body(UnsafeRawBufferPointer(start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column))))
  }

  func isNull(_ row: Int, _ column: Int) -> Bool {
    PQgetisnull(result, Int32(truncatingIfNeeded: row), Int32(truncatingIfNeeded: column)) != 0
  }

  func bytes(_ row: Int, _ column: Int) throws(PostgresFailure) -> [UInt8] { try content(row, column) { Array($0) } }

  func int(_ row: Int, _ column: Int) throws(PostgresFailure) -> Int64 {
    let value = try content(row, column) { bytes in
      bytes.count == 8 ? Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)) : nil
    }
    guard let value else { throw PostgresFailure(.damaged, "Column \(column) of a row is no number of eight bytes") }
    return value
  }

  func bool(_ row: Int, _ column: Int) throws(PostgresFailure) -> Bool { try content(row, column) { $0.first == 1 } }

  func text(_ row: Int, _ column: Int) throws(PostgresFailure) -> String {
    try content(row, column) { String(decoding: $0, as: UTF8.self) }
  }
}
#endif
