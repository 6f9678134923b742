import Foundation
import Synchronization

/// The process of an exit test, for the test that started it and waits for what it does. A child that ends before that, whatever
/// the reason, ends the wait, with what it wrote.
public final class ExitingChild: Sendable {
  /// A child ended before it did what was waited for.
  public struct EndedEarly: Error, CustomStringConvertible {
    public let description: String
  }

  private let output: String
  private let hasEnded = Atomic(false)

  /// - Parameter output: the file that takes what the child writes; see `redirectOutput(to:)`.
  public init(output: String) { self.output = output }

  /// In the child, before all else: from here on what it writes, and what is said of its failure, goes into a file.
  public static func redirectOutput(to path: String) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard file >= 0 else { return }
    for stream in [STDOUT_FILENO, STDERR_FILENO] { dup2(file, stream) }
    close(file)
  }

  /// The child has exited.
  public func end() { hasEnded.store(true, ordering: .releasing) }

  /// Returns when a file that the child makes is there. `EndedEarly` when it exited without.
  public func wait(forFile path: String) async throws {
    while !FileManager.default.fileExists(atPath: path) {
      // It may have made the file in the end.
      if hasEnded.load(ordering: .acquiring), !FileManager.default.fileExists(atPath: path) { throw endedEarly(path) }
      await Task.yield()
    }
  }

  private func endedEarly(_ path: String) -> EndedEarly {
    let said = (try? String(contentsOfFile: output, encoding: .utf8)) ?? "nothing"
    let name = URL(fileURLWithPath: path).lastPathComponent
    return EndedEarly(description: "The child process exited before it made '\(name)'. It wrote: \(said)")
  }
}
