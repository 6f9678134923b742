import Dispatch
import Foundation

/// An observer was not told in time of what was there to be told.
struct Silence: Error, CustomStringConvertible {
  let listener: String

  var description: String { "\(listener) heard nothing for \(Silence.limit) s. That is a fault, not a figure." }

  /// In seconds: long enough for a machine that is busy, short enough for who waits for the run.
  static let limit = 60
}

/// W15's other process: it observes and says when it has each change set, a line for each.
final class ListeningProcess {
  private let child = Process()
  private let (output, input) = (Pipe(), Pipe())
  private var rest = ""

  /// Returns once it has its first result.
  init(_ engine: Engine, path: String, _ question: LiveObserver.Question) throws {
    child.executableURL = Bundle.main.executableURL
    child.arguments = ["listen", "--engine", engine.rawValue, "--path", path, "--question", question.rawValue]
    child.standardOutput = output
    child.standardInput = input
    try child.run()
    _ = try next()
  }

  /// When it had the next change set, by the clock that all processes share.
  func next() throws -> Double {
    var file = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
    while true {
      if let end = rest.firstIndex(of: "\n") {
        defer { rest = String(rest[rest.index(after: end)...]) }
        guard let time = Double(rest[..<end]) else { continue }
        return time
      }
      guard poll(&file, 1, Int32(Silence.limit * 1_000)) > 0 else { throw silence() }
      let data = output.fileHandleForReading.availableData
      if data.isEmpty { throw silence() }
      rest += String(decoding: data, as: UTF8.self)
    }
  }

  private func silence() -> Silence {
    child.terminate()
    return Silence(listener: "another process")
  }

  func stop() throws {
    try input.fileHandleForWriting.close()
    child.waitUntilExit()
  }
}
