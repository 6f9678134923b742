import Foundation
import Synchronization

/// The process of an exit test, for the test that started it and goes on when it has done something. A child that ends before
/// that, whatever the reason, ends the wait, with what it wrote.
///
/// What the test does meanwhile is done on a thread of its own: the ends of children are waited for on the threads of tasks, all
/// of them where there are as many children, and a task that a child waits for would never run.
///
/// ```swift
/// let child = ExitingChild(output: path + "/output")
/// let seen = child.whenMade(path + "/reads") { try look() }
/// await #expect(processExitsWith: .success) { [path = path as String] in
///   ExitingChild.redirectOutput(to: path + "/output")
///   …
/// }
/// child.end()
/// #expect(try await seen.value == 1)
/// ```
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

  /// Runs work on a thread of its own as soon as a file is there that the child makes. Its value throws `EndedEarly` when the
  /// child exited without.
  public func whenMade<R: Sendable>(_ path: String, _ body: @escaping @Sendable () throws -> R) -> Work<R> {
    let work = Work<R>()
    work.begin { [self] in
      try wait(forFile: path)
      return try body()
    }
    return work
  }

  private func wait(forFile path: String) throws {
    while !FileManager.default.fileExists(atPath: path) {
      // It may have made the file in the end.
      if hasEnded.load(ordering: .acquiring), !FileManager.default.fileExists(atPath: path) { throw endedEarly(path) }
      sched_yield()
    }
  }

  private func endedEarly(_ path: String) -> EndedEarly {
    let said = (try? String(contentsOfFile: output, encoding: .utf8)) ?? "nothing"
    let name = URL(fileURLWithPath: path).lastPathComponent
    return EndedEarly(description: "The child process exited before it made '\(name)'. It wrote: \(said)")
  }

  /// What comes of work on a thread of its own.
  public final class Work<R: Sendable>: Sendable {
    private let done = Signal()
    private let result = Mutex<Result<R, any Error>?>(nil)

    fileprivate func begin(_ body: @escaping @Sendable () throws -> R) {
      onThread { [self] in
        let made = Result(catching: body)
        result.withLock { $0 = made }
        done.fire()
      }
    }

    /// Waits for its end. To be asked once.
    public var value: R {
      get async throws {
        await elsewhere { _ = self.done.wait() }
        guard let made = result.withLock({ $0 }) else { throw EndedEarly(description: "The work has no end.") }
        return try made.get()
      }
    }
  }
}
