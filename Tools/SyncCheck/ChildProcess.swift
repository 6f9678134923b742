#if Sync
import Foundation
import Synchronization

/// A process of this program, its output line by line, until it is told to end or killed.
final class ChildProcess: Sendable {
  private struct State {
    var lines: [String] = []
    var waiting: [(prefix: String, continuation: CheckedContinuation<String?, Never>)] = []
    var isOver = false
  }

  // Guarded by being set before the process runs, and read-only after: `Process` and `Pipe` are Sendable.
  private let process = Process()
  private let input = Pipe()
  private let state = Mutex(State())
  private let last = Mutex<[String: String]>([:])

  /// - Parameters:
  ///   - remembered: the first words of lines of which only the newest counts.
  ///   - command: a program and its first arguments that start this one and become it: the process stays the same, which `killNow` needs.
  init(_ arguments: [String], remembered: Set<String> = [], through command: [String] = []) throws {
    let output = Pipe()
    let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.executableURL = command.first.map { URL(fileURLWithPath: $0) } ?? own
    process.arguments = command.isEmpty ? arguments : Array(command.dropFirst()) + [own.path] + arguments
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    try output.fileHandleForWriting.close()
    let handle = output.fileHandleForReading
    Thread.detachNewThread { [self] in
      var rest = Data()
      while true {
        let data = handle.availableData
        if data.isEmpty { break }
        rest.append(data)
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          take(String(decoding: rest[rest.startIndex..<end], as: UTF8.self), remembered)
          rest = Data(rest[rest.index(after: end)...])
        }
      }
      over()
    }
  }

  private func take(_ line: String, _ remembered: Set<String>) {
    let word = String(line.prefix { $0 != " " })
    if remembered.contains(word) { return last.withLock { $0[word] = line } }
    let continuation = state.withLock { state -> CheckedContinuation<String?, Never>? in
      if let index = state.waiting.firstIndex(where: { line.hasPrefix($0.prefix) }) { return state.waiting.remove(at: index).continuation }
      state.lines.append(line)
      return nil
    }
    continuation?.resume(returning: line)
  }

  private func over() {
    let waiting = state.withLock { state in
      state.isOver = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for (_, continuation) in waiting { continuation.resume(returning: nil) }
  }

  /// The next line that begins so; nil where the process ends without.
  func line(_ prefix: String) async -> String? {
    await withCheckedContinuation { continuation in
      let known: String?? = state.withLock { state in
        if let index = state.lines.firstIndex(where: { $0.hasPrefix(prefix) }) { return state.lines.remove(at: index) }
        if state.isOver { return .some(nil) }
        state.waiting.append((prefix, continuation))
        return nil
      }
      if let known { continuation.resume(returning: known) }
    }
  }

  /// The newest line of those that are remembered.
  func newest(_ word: String) -> String? { last.withLock { $0[word] } }

  func order(_ line: String) {
    do { try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) } catch {
      // It is gone, which who waits for its answer sees.
    }
  }

  var isRunning: Bool { process.isRunning }

  /// Kills it, as the system would, and returns when it is gone.
  func killNow() {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
  }

  deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
}
#endif
