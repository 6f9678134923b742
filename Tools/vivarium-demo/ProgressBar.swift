import Foundation

/// Shows how far a long step is: a bar on a terminal, a line a quarter elsewhere.
struct ProgressBar {
  private static let width = 32

  private let title: String
  private let total: Int
  private let isTerminal = isatty(STDOUT_FILENO) == 1
  private let started = ContinuousClock.now
  private var shown = -1

  init(_ title: String, total: Int) {
    self.title = title
    self.total = max(total, 1)
  }

  mutating func show(_ done: Int) {
    let step = done * (isTerminal ? 100 : 4) / total
    guard step != shown else { return }
    shown = step
    if isTerminal {
      let filled = min(done, total) * ProgressBar.width / total
      let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: ProgressBar.width - filled)
      write("\r\u{1B}[K\(title)  \(bar)  \(step) %")
    } else {
      write("\(title)  \(done) of \(total)\n")
    }
  }

  /// Ends the line with what was done.
  func finish(_ text: String) {
    write("\(isTerminal ? "\r\u{1B}[K" : "")\(text) in \(milliseconds(since: started))\n")
  }

  private func write(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
}

/// The time since a moment, for people: `12.3 ms`, `0.042 ms`.
func milliseconds(since start: ContinuousClock.Instant) -> String { milliseconds(start.duration(to: .now)) }

func milliseconds(_ duration: Duration) -> String {
  let value = Double(duration.components.seconds) * 1e3 + Double(duration.components.attoseconds) / 1e15
  return String(format: value < 1 ? "%.3f ms" : "%.1f ms", value)
}
