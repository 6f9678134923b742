import Foundation
import Synchronization

/// What a check has found, and counted.
final class Report: Sendable {
  private let state = Mutex<(violations: Int, counts: [(String, Int)], notes: [String])>((0, [], []))

  /// At once, so that one who waits sees how far it is.
  func say(_ line: String) { printLine(line) }

  func violation(_ text: String) {
    state.withLock { $0.violations += 1 }
    say("VIOLATION: \(text)")
  }

  func count(_ what: String, _ number: Int) {
    state.withLock { state in
      if let known = state.counts.firstIndex(where: { $0.0 == what }) {
        state.counts[known].1 += number
      } else {
        state.counts.append((what, number))
      }
    }
  }

  /// What somebody who reads only the last line has to know: that something was not checked.
  func note(_ text: String) {
    state.withLock { $0.notes.append(text) }
    say(text)
  }

  var violations: Int { state.withLock { $0.violations } }

  /// The last line.
  var summary: String {
    state.withLock { state in
      (state.counts.map { "\($0.1) \($0.0)" } + state.notes + ["\(state.violations) violations"]).joined(separator: ", ")
    }
  }
}

/// Prints a line at once. Ends the process where nobody reads it any more.
func printLine(_ line: String) {
  do { try FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8)) } catch { exit(1) }
}

/// Whether something came to its end within a time, and without an error.
func within(_ limit: Duration, _ body: @escaping @Sendable () async throws -> Void) async -> Bool {
  await withTaskGroup(of: Bool.self) { group in
    group.addTask { do { try await body(); return true } catch { return false } }
    group.addTask {
      do { try await Task.sleep(for: limit) } catch {
        // The other one was first.
      }
      return false
    }
    defer { group.cancelAll() }
    return await group.next() ?? false
  }
}
