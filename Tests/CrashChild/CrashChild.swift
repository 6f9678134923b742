import CrashSamples
import Foundation
import StorageInterface
import StorageSQLite
import StoreValues
import VivariumTestSupport

/// A process that is killed while it works. It prints each number once the commit or the copy with that number is durable:
///
///     crash-child KIND PATH WRITER [COMMITS]        commits numbered transactions; kills itself in the last one, see `CommitWindow`
///     crash-child KIND PATH reads|watches           reads beside the writers, `watches` without the right to write, and compares what
///                                                   it finds with the ledger; prints the versions; fails with the first fault
///     crash-child KIND PATH holds                   opens the store for reading alone, prints its version, and holds it until it is killed
///     crash-child KIND PATH reads WRITER            reads without rights, and prints the last number of each version that was right
///     crash-child KIND PATH copies FOLDER FIRST     writes numbered copies of the store into a folder
///     crash-child KIND PATH increments FOLDER FIRST VERSION   commits, and writes numbered increments, the first one since a version
///     crash-child KIND PATH restores FOLDER FIRST VERSION     restores numbered stores of the copy and the increments in the folder
///     crash-child KIND PATH keys FIRST              changes the key of the store again and again
@main struct CrashChild {
  static func main() throws {
    let arguments = CommandLine.arguments
    guard (4...7).contains(arguments.count), let store = CrashedStore(rawValue: arguments[1]) else { return usage() }
    if arguments.count == 5, arguments[3] == "keys", let first = Int64(arguments[4]) {
      return try changeKeys(store, arguments[2], from: first)
    }
    if arguments.count == 5, arguments[3] == "reads", let writer = Int64(arguments[4]) {
      return try readWithoutRights(store, arguments[2], of: writer)
    }
    if arguments.count == 7, let first = Int64(arguments[5]), let version = UInt64(arguments[6]) {
      if arguments[3] == "restores" { return try restore(store, arguments[4], from: first) }
      let engine = try store.backend(arguments[2]).open(OpenOptions())
      return try writeIncrements(engine, into: arguments[4], from: first, version: Version(version))
    }
    if arguments.count == 4, arguments[3] == "holds" { return try hold(store.backend(arguments[2])) }
    let isReadOnly = arguments[3] == "watches"
    let engine = try store.backend(arguments[2]).open(OpenOptions(isReadOnly: isReadOnly, historyLimit: 1_000_000))
    if arguments.count == 4, isReadOnly || arguments[3] == "reads" { return try read(engine) }
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

  private static func hold(_ backend: any StorageBackend) throws {
    let engine = try backend.open(OpenOptions(isReadOnly: true))
    say(Int64(clamping: try engine.latestVersion().rawValue))
    while true { pause() }
  }

  /// Reads every version that it gets hold of: each is whole, and none is older than one before.
  private static func read(_ engine: any StorageEngine) throws {
    let news = Signal()
    let listener = try engine.addCommitListener { news.fire() }
    defer { withExtendedLifetime(listener) {} }
    var seen: [Int64: Int64] = [1: 0, 2: 0, 3: 0]
    var last: UInt64?
    while true {
      let read = try engine.beginRead()
      let version = read.version.rawValue
      if version != last {
        if let last, version < last { throw CrashFault("version \(version) was read after version \(last)") }
        try CrashLedger.check(read, acknowledged: seen)
        for writer in seen.keys { seen[writer] = try CrashLedger.lastNumber(of: writer, read) }
        last = version
        say(Int64(clamping: version))
      }
      read.end()
      // Also once a second, in case a writer was killed before it could ring.
      _ = news.wait()
    }
  }

  /// Holds each version until twenty later ones were committed, and looks at it only then.
  private static func readWithoutRights(_ store: CrashedStore, _ path: String, of writer: Int64) throws {
    // Who is not root stays who it is, and is protected like everybody.
    if getuid() == 0, setuid(65_534) != 0 { return usage() }
    let engine = try store.backend(path).open(OpenOptions(isReadOnly: true))
    while true {
      let read = try engine.beginRead()
      defer { read.end() }
      while try engine.latestVersion().rawValue < read.version.rawValue + 20 { sched_yield() }
      let number = try CrashLedger.lastNumber(of: writer, read)
      try CrashLedger.check(read, acknowledged: [writer: number])
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

  private static func changeKeys(_ store: CrashedStore, _ path: String, from first: Int64) throws {
    #if Encryption
    for number in first... {
      let backend = store.backend(path, try CrashedStore.key(afterChange: number - 1))
      try backend.changeKey(to: try CrashedStore.key(afterChange: number)) { _ in .proceed }
      say(number)
    }
    #else
    usage()
    #endif
  }

  static func say(_ number: Int64) { FileHandle.standardOutput.write(Data("\(number)\n".utf8)) }

  private static func usage() {
    FileHandle.standardError.write(
      Data(
        """
        usage: crash-child KIND PATH WRITER [COMMITS] | KIND PATH reads|watches|holds | KIND PATH reads WRITER \
        | KIND PATH copies FOLDER FIRST | KIND PATH increments|restores FOLDER FIRST VERSION | KIND PATH keys FIRST

        """.utf8))
    exit(2)
  }
}
