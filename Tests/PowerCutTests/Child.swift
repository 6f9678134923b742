#if os(Linux)
import CrashSamples
import Foundation
import StoreValues
import VivariumTestSupport

/// One run of the writing program.
enum Child {
  struct Outcome {
    var done: Int64?
    var calls = 0
    var errors: [String] = []
  }

  static func path(in folder: TemporaryDirectory) -> String { folder.file("ledger").path }

  static func run(_ store: CrashedStore, _ path: String, _ count: Int, _ environment: [String: String]) throws -> Outcome {
    try run([store.rawValue, path, "\(count)"], over: path, environment)
  }

  /// Writes a copy; the power goes at calls on its files.
  static func run(
    _ store: CrashedStore, _ path: String, copy: String, _ number: Int64, _ environment: [String: String]
  ) throws -> Outcome {
    try run([store.rawValue, path, "\(number)", copy], over: copy, environment)
  }

  /// Changes the key of a store; the power goes at calls on the store's files.
  static func run(_ store: CrashedStore, keyOf path: String, _ number: Int64, _ environment: [String: String]) throws -> Outcome {
    try run([store.rawValue, path, "key", "\(number)"], over: path, environment)
  }

  /// Writes an increment of a chain's store, since its copy; the power goes at calls on the increment.
  static func run(_ chain: CountedChain, incrementTo file: String, _ environment: [String: String]) throws -> Outcome {
    try run([chain.kind.rawValue, chain.store, "increment", "\(chain.base.rawValue)", file], over: file, environment)
  }

  /// Restores the store of a chain; the power goes at calls on the files of the one that is made.
  static func run(_ chain: CountedChain, restoring path: String, _ environment: [String: String]) throws -> Outcome {
    try run([chain.kind.rawValue, path, "restore", chain.full] + chain.increments, over: path, environment)
  }

  /// The environment in which the power goes at a call.
  static func cut(at call: Int, _ seed: UInt64) -> [String: String] { ["POWER_CUT_AT": "\(call)", "POWER_CUT_SEED": "\(seed)"] }

  private static func run(_ arguments: [String], over path: String, _ environment: [String: String]) throws -> Outcome {
    let child = Process()
    child.executableURL = Bundle.main.bundleURL.appendingPathComponent("power-cut-child")
    child.arguments = arguments
    child.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
      .merging(["POWER_CUT_PATH": path]) { $1 }
    let output = Pipe()
    child.standardOutput = output
    try child.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    child.waitUntilExit()
    var outcome = Outcome()
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ", maxSplits: 1)
      switch words.first {
      case "done": outcome.done = words.last.flatMap { Int64($0) }
      case "calls": outcome.calls = words.last.flatMap { Int($0) } ?? 0
      case "error", "usage": outcome.errors.append(String(line))
      default: break
      }
    }
    return outcome
  }
}
#endif
