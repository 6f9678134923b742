import CrashSamples
import PowerCut
import StorageIncrements
import StorageInterface
import StoreValues
import VivariumTestSupport

/// Works on a store until it is done or the power goes, and says after each durable commit, copy or change which one it was. At the end it
/// says how many file calls that took.
///
///     power-cut-child KIND PATH COUNT                     writes numbered transactions
///     power-cut-child KIND PATH NUMBER COPY               writes a copy, as `CrashedStore` says for its number
///     power-cut-child KIND PATH key NUMBER                changes the key, as `CrashedStore` says for its number
///     power-cut-child KIND PATH increment VERSION FILE    writes an increment since a version
///     power-cut-child KIND PATH restore COPY INCREMENT…   makes the store of a copy and its increments
@main struct PowerCutChild {
  static func main() {
    let arguments = CommandLine.arguments
    guard arguments.count >= 4, let store = CrashedStore(rawValue: arguments[1]) else { return say("usage") }
    let rest = Array(arguments[4...])
    do {
      switch (arguments[3], rest.count) {
      case ("key", 1): try changeKey(store, arguments[2], Int64(rest[0]) ?? 0)
      case ("increment", 2): try writeIncrement(store, arguments[2], since: Version(UInt64(rest[0]) ?? 0), to: rest[1])
      case ("restore", 1...): try restore(store, arguments[2], of: rest[0], Array(rest[1...]))
      case (let number, 0): try run(backend: store.backend(arguments[2]), Int(number) ?? 0)
      case (let number, 1): try copy(store, arguments[2], Int64(number) ?? 0, to: rest[0])
      default: say("usage")
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

  private static func changeKey(_ store: CrashedStore, _ path: String, _ number: Int64) throws {
    #if Encryption
    let backend = store.backend(path, try CrashedStore.key(afterChange: number - 1))
    try backend.changeKey(to: try CrashedStore.key(afterChange: number)) { _ in .proceed }
    say("done \(number)")
    #else
    say("usage")
    #endif
  }

  private static func writeIncrement(_ store: CrashedStore, _ path: String, since version: Version, to file: String) throws {
    let engine = try store.backend(path).open(OpenOptions())
    defer { engine.close() }
    let written = try IncrementWriter.write(engine, since: version, to: file, .unchanged) { _ in .proceed }
    say("done \(written.rawValue)")
  }

  private static func restore(_ store: CrashedStore, _ path: String, of copy: String, _ increments: [String]) throws {
    let version = try StoreRestoration(store.backend(path)).restore(copy, increments) { _ in .proceed }
    say("done \(version.rawValue)")
  }

  private static func say(_ line: String) { print(line, terminator: "\n") }
}
