import CrashSamples
import Foundation
import StorageInterface
import StorageSQLite
import VivariumTestSupport

/// A process that is killed while it works. It prints each number once the commit or the copy with that number is durable:
///
///     crash-child KIND PATH WRITER [COMMITS]        commits numbered transactions; kills itself in the last one, see `CommitWindow`
///     crash-child KIND PATH copies FOLDER FIRST     writes numbered copies of the store into a folder
///     crash-child encrypted PATH keys FIRST         changes the key of the store again and again
@main struct CrashChild {
  static func main() throws {
    let arguments = CommandLine.arguments
    guard (4...6).contains(arguments.count), let store = CrashedStore(rawValue: arguments[1]) else { return usage() }
    if arguments.count == 5, arguments[3] == "keys", let first = Int64(arguments[4]) {
      return try changeKeys(arguments[2], from: first)
    }
    let engine = try store.backend(arguments[2]).open(OpenOptions(historyLimit: 1_000_000))
    if let writer = Int64(arguments[3]) {
      try write(as: writer, engine, arguments[2], last: arguments.count == 5 ? Int(arguments[4]) : nil)
    } else if arguments.count == 6, let first = Int64(arguments[5]) {
      try copy(store, engine, into: arguments[4], from: first)
    } else {
      usage()
    }
  }

  private static func write(as writer: Int64, _ engine: any StorageEngine, _ path: String, last: Int?) throws {
    try CrashLedger.prepare(engine)
    var commits = 0
    while true {
      let number = try CrashLedger.commitNext(writer, engine, .full)
      commits += 1
      if commits == last { try CommitWindow.die(path) }
      say(number)
    }
  }

  private static func copy(_ store: CrashedStore, _ engine: any StorageEngine, into folder: String, from first: Int64) throws {
    guard let copying = engine.powers.copying else { return usage() }
    for number in first... {
      try copying.writeCopy(to: "\(folder)/copy-\(number)", try store.encryption(ofCopy: number)) { _ in .proceed }
      say(number)
    }
  }

  private static func changeKeys(_ path: String, from first: Int64) throws {
    #if Encryption
    for number in first... {
      let backend = SQLiteBackend(path: path, key: try CrashedStore.key(afterChange: number - 1))
      try backend.changeKey(to: try CrashedStore.key(afterChange: number)) { _ in .proceed }
      say(number)
    }
    #else
    usage()
    #endif
  }

  private static func say(_ number: Int64) { FileHandle.standardOutput.write(Data("\(number)\n".utf8)) }

  private static func usage() {
    FileHandle.standardError.write(
      Data("usage: crash-child KIND PATH WRITER [COMMITS] | KIND PATH copies FOLDER FIRST | encrypted PATH keys FIRST\n".utf8))
    exit(2)
  }
}
