import PowerCut
import Storage
import StorageLMDB
import StorageSQLite
import TestSupport
import Values

/// Writes numbered transactions to a store until it is done or the power goes, and says after each durable commit
/// which one it was. At the end it says how many file calls that took.
///
///     power-cut-child lmdb|sqlite PATH COUNT
@main struct PowerCutChild {
  static func main() {
    let arguments = CommandLine.arguments
    guard arguments.count == 4, let count = Int(arguments[3]) else { return say("usage") }
    do {
      try run(backend: arguments[1] == "lmdb" ? LMDBBackend(path: arguments[2]) : SQLiteBackend(path: arguments[2]), count)
    } catch {
      say("error \(error)")
    }
    say("calls \(power_cut_calls())")
  }

  private static func run(backend: any StorageBackend, _ count: Int) throws {
    let engine = try backend.open(OpenOptions())
    let ledger = try Ledger(engine)
    for _ in 0..<count {
      do {
        say("done \(try ledger.commitNext())")
      } catch let error as StorageError where error.scope != .engine {
        // A full disk: the store must be usable, and as it was.
        try ledger.check(acknowledged: nil)
        say("refused \(error.code.rawValue)")
      }
    }
  }

  private static func say(_ line: String) { print(line, terminator: "\n") }
}
