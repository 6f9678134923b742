import Dispatch
import Foundation
import StorageLMDB
import StorageSQLite
import Vivarium

/// What is observed over processes.
@Model final class Mark {
  @PrimaryKey var number = 0
  var rank = 0
}

/// Does one thing with a store that another process has open, and says so line by line: `watch-child KIND PATH TASK`.
///
/// - `observe`, `observe-read-only`: the marks below rank 100 by rank; a line for each call with its change set and the numbers
///   of the marks.
/// - `observe-on-main CONTEXT WAY`: the same on the main thread, see `MainThread`.
/// - `write`: a commit for each line of input, with random marks by the number in it; answers `done`.
/// - `hang`: changes everything in a write that it never ends; answers `open`.
@main struct WatchChild {
  @MainActor static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 4 else { fail() }
    let url = URL(fileURLWithPath: arguments[2])
    var configuration =
      arguments[1] == "lmdb"
      ? Store.Configuration.lmdb(url, models: Mark.self) : Store.Configuration.sqlite(url, models: Mark.self)
    switch arguments[3] {
    case "observe": try observe(configuration)
    case "observe-read-only":
      configuration.options.isReadOnly = true
      try observe(configuration)
    case "observe-on-main":
      guard arguments.count == 6 else { fail() }
      try MainThread.observe(configuration, in: arguments[4], servedBy: arguments[5])
    case "write": try write(configuration)
    case "hang": try hang(configuration)
    default: fail()
    }
  }

  private static func fail() -> Never {
    FileHandle.standardError.write(Data("usage: watch-child lmdb|sqlite PATH observe|observe-read-only|observe-on-main|write|hang\n".utf8))
    exit(2)
  }

  static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

  private static func observe(_ configuration: Store.Configuration) throws {
    let queue = DispatchQueue(label: "watching")
    let observation = try queue.sync { try Observation(Store(configuration, queue: queue)) }
    // Until the input ends.
    while readLine() != nil {}
    queue.sync { observation.end() }
  }

  private static func write(_ configuration: Store.Configuration) throws {
    let store = try Store(configuration)
    while let line = readLine(), let seed = Int(line) {
      try store.write {
        for i in 0..<1 + seed % 3 {
          let number = (seed &* 31 &+ i &* 7) % 40
          let rank = (seed &* 17 &+ i &* 13) % 130
          if let mark = store.object(Mark.self, forPrimaryKey: number) {
            if seed % 5 == 0 { try store.delete(mark) } else { mark.rank = rank }
          } else {
            try store.add(Mark(number: number, rank: rank))
          }
        }
      }
      say("done")
    }
  }

  private static func hang(_ configuration: Store.Configuration) throws {
    let store = try Store(configuration)
    try store.beginWrite()
    try store.delete(store.objects(Mark.self))
    try store.add(Mark(number: 1_000, rank: 1))
    say("open")
    while readLine() != nil {}
  }
}
