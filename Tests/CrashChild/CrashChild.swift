import Foundation
import StorageInterface
import StorageLMDB
import StorageSQLite
import VivariumTestSupport

/// Commits numbered transactions until it is killed, and says each number on its output once it is durable:
/// `crash-child KIND PATH WRITER [COMMITS]`. With a number of commits it ends itself in the last one, see `CommitWindow`.
@main struct CrashChild {
  static func main() throws {
    let arguments = CommandLine.arguments
    guard (4...5).contains(arguments.count), let writer = Int64(arguments[3]) else {
      FileHandle.standardError.write(Data("usage: crash-child lmdb|sqlite PATH WRITER [COMMITS]\n".utf8))
      exit(2)
    }
    let backend: any StorageBackend =
      arguments[1] == "lmdb" ? LMDBBackend(path: arguments[2]) : SQLiteBackend(path: arguments[2])
    let engine = try backend.open(OpenOptions(historyLimit: 1_000_000))
    try CrashLedger.prepare(engine)
    let last = arguments.count == 5 ? Int(arguments[4]) : nil
    var commits = 0
    while true {
      let number = try CrashLedger.commitNext(writer, engine, .full)
      commits += 1
      if commits == last { try CommitWindow.die(arguments[2]) }
      FileHandle.standardOutput.write(Data("\(number)\n".utf8))
    }
  }
}
