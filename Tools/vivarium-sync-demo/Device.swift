import Foundation
import SyncProving

/// One of the two devices: a list of tasks in a folder of its own, on a wire of its own.
final class Device {
  let name: String
  let wire: Wire
  private let tasks: ChildProgram
  /// What its observer was told of other devices since it was asked last.
  private var heard: [String] = []

  init(_ name: String, in folder: URL, port: Int, token: String) throws {
    self.name = name
    let own = folder.appending(path: name)
    try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
    wire = try Wire(to: port)
    tasks = try ChildProgram(
      "vivarium-tasks",
      ["--path", own.appending(path: "tasks.lmdb").path, "--script", "--sync", "ws://127.0.0.1:\(wire.port)", "--token", token])
    tasks.say("follow")
    // It follows from here on: what comes later is told.
    _ = try shown()
  }

  /// Has a person do something.
  func person(_ commands: String...) {
    for command in commands {
      print("  \(name.padded(7)) > \(command)")
      tasks.say(command)
    }
  }

  /// What the program is told for the demonstration alone.
  func say(_ command: String) { tasks.say(command) }

  /// Everything on the screen.
  func shown() throws -> [String] {
    tasks.say("show")
    tasks.say("sharing")
    // No command: its answer ends what was asked for.
    tasks.say("-")
    var lines: [String] = []
    while let line = tasks.line() {
      if line == "? -" {
        sharing = lines.popLast() ?? ""
        return lines
      }
      if line.hasPrefix("~ ") { heard.append(String(line.dropFirst(2))) } else { lines.append(line) }
    }
    throw Demonstration.Trouble("The list of '\(name)' has ended.")
  }

  /// Where it stood when it was looked at last.
  private(set) var sharing = ""

  /// What an ordinary observer of its store was told since the last time; waits for the first.
  func notifications() throws -> [String] {
    while heard.isEmpty {
      guard let line = tasks.line() else { throw Demonstration.Trouble("The list of '\(name)' has ended.") }
      if line.hasPrefix("~ ") { heard.append(String(line.dropFirst(2))) }
    }
    defer { heard = [] }
    return heard
  }

  func end() { tasks.end() }
}

extension String {
  func padded(_ count: Int) -> String { self + String(repeating: " ", count: max(0, count - self.count)) }
}
