import CrashSamples
import PowerCut
import StorageInterface
import VivariumTestSupport

/// Writes numbered transactions to a store until it is done or the power goes, and says after each durable commit
/// which one it was. At the end it says how many file calls that took.
///
///     power-cut-child KIND PATH COUNT
///     power-cut-child KIND PATH NUMBER COPY
///
/// With a path for a copy it writes that one, as `CrashedStore` says for its number.
@main struct PowerCutChild {
  static func main() {
    let arguments = CommandLine.arguments
    guard (4...5).contains(arguments.count), let store = CrashedStore(rawValue: arguments[1]), let count = Int(arguments[3]) else {
      return say("usage")
    }
    do {
      if arguments.count == 5 {
        try copy(store, arguments[2], Int64(count), to: arguments[4])
      } else {
        try run(backend: store.backend(arguments[2]), count)
      }
    } catch {
      say("error \(error)")
    }
    say("calls \(power_cut_calls())")
  }

  private static func run(backend: any StorageBackend, _ count: Int) throws {
    var engine = try backend.open(OpenOptions())
    try CrashLedger.prepare(engine)
    var last: Int64 = 0
    for _ in 0..<count {
      do {
        last = try CrashLedger.commitNext(1, engine, .full)
        say("done \(last)")
      } catch let error as StorageError {
        // A full disk: the store must be usable, opened again where the error says so, and as it was.
        say("refused \(error.code.rawValue)")
        if error.scope == .engine {
          engine.close()
          engine = try backend.open(OpenOptions())
        }
        let read = try engine.beginRead()
        defer { read.end() }
        try CrashLedger.check(read, acknowledged: [1: max(last, CrashLedger.lastNumber(of: 1, read))])
      }
    }
  }

  private static func copy(_ store: CrashedStore, _ path: String, _ number: Int64, to copy: String) throws {
    let engine = try store.backend(path).open(OpenOptions())
    defer { engine.close() }
    try engine.powers.copying?.writeCopy(to: copy, store.encryption(ofCopy: number)) { _ in .proceed }
    say("done \(number)")
  }

  private static func say(_ line: String) { print(line, terminator: "\n") }
}
