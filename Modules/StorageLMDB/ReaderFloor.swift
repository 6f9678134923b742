import CVivariumLMDB
import CVivariumSystem
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A line of LMDB's table of readers in which we write what `ReaderPins` hold: only that table tells LMDB what is read. Used by the holder
/// of the right to write. A dead process's line is cleared like those of its readers.
struct ReaderFloor: Sendable {
  private static let roundsMax = 100_000

  // Safe to share: a constant that `mdb_txn_begin` made, not anything of the file's. It was reset, is never renewed again, and is aborted
  // once, by `end`; by any thread, which LMDB allows for handles with MDB_NOTLS.
  nonisolated(unsafe) private let transaction: OpaquePointer
  // Safe to share: a constant, of a line that `ReaderTable.number` found within its map, which outlives this: `end` comes before LMDB's
  // handles are closed, and the table's after. It is only stored to, atomically; nothing in the file leads it elsewhere.
  nonisolated(unsafe) private let number: UnsafeMutablePointer<UInt64>

  /// Takes a read transaction for its line. Nil if that cannot be found: then the transaction is still the caller's.
  init?(_ transaction: OpaquePointer, in table: ReaderTable) {
    guard let line = ReaderFloor.line(of: transaction, in: table), let number = table.number(line) else { return nil }
    (self.transaction, self.number) = (transaction, number)
  }

  /// The line of a transaction. Renewed and reset, it always has a number and then none. Lines of other readers may have the same for some
  /// rounds by chance; when one line is left, it is this one.
  private static func line(of transaction: OpaquePointer, in table: ReaderTable) -> Int? {
    func has(_ line: Int, _ number: UInt64) -> Bool { table.number(line).map { cs_load64($0) == number } ?? false }
    mdb_txn_reset(transaction)
    var lines = (0..<table.count).filter { table.process($0) == getpid() && has($0, .max) }
    for _ in 0..<roundsMax {
      guard mdb_txn_renew(transaction) == 0 else { return nil }
      let number = LMDBEnvironment.number(of: transaction)
      lines.removeAll { !has($0, number) }
      mdb_txn_reset(transaction)
      lines.removeAll { !has($0, .max) }
      if lines.count <= 1 { return lines.first }
    }
    return nil
  }

  /// From here on LMDB keeps what a reader of this transaction needs.
  func lower(to transaction: UInt64) { cs_store64(number, transaction) }

  /// Ends that.
  func lift() { cs_store64(number, .max) }

  /// Gives the line back. Call once, before LMDB's handle is closed.
  func end() { mdb_txn_abort(transaction) }
}
