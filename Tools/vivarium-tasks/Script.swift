import Foundation
import Vivarium

/// Commands a line, for tests and pipes; see `--help`.
@MainActor struct Script {
  let board: TaskBoard
  private static let namesATask: Set = ["done", "up", "down", "delete"]

  func run(_ lines: AsyncStream<String>) async throws {
    for await line in lines {
      let words = line.split(separator: " ", maxSplits: 2).map(String.init)
      let number = words.count > 1 ? Int(words[1]) : nil
      switch (words.first, number) {
      case ("add", _) where words.count == 3: try board.add(words[2], to: words[1])
      case (let name?, let number?) where Script.namesATask.contains(name) && board.task(number) == nil: say("? \(line)")
      case ("done", let number?): try board.toggle(number)
      case ("up", let number?): try board.move(number, by: -1)
      case ("down", let number?): try board.move(number, by: 1)
      case ("delete", let number?): try board.delete(number)
      case ("wait", let number?): await wait { board.count == number }
      case ("waitdone", let number?): await wait { board.doneCount == number }
      case ("show", _):
        board.refresh()
        say([board.title] + board.lines.map { line in (line.number.map { "  \($0). " } ?? "") + line.text })
      case ("sharing", _) where words.count > 1: await wait { board.sharing?.words.hasPrefix(words[1]) ?? true }
      case ("sharing", _): say(board.sharing?.words ?? "not shared")
      case ("synced", _): try await board.sharing?.settle()
      case ("follow", _): board.followOthers { say("~ \($0)") }
      case ("quit", _): return
      case (nil, _): break
      default: say("? \(line)")
      }
    }
  }

  private func say(_ line: String) { say([line]) }

  /// The output may be a terminal, or become one's: titles and names are anybody's.
  private func say(_ lines: [String]) {
    let text = lines.map { TerminalLine.clipped($0, to: .max) + "\n" }.joined()
    try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
  }

  /// Returns when the condition holds, which is tested now and after every change.
  private func wait(until condition: @escaping @MainActor () -> Bool) async {
    let (changes, changed) = AsyncStream<Void>.makeStream()
    board.onChange = { changed.yield() }
    defer { board.onChange = nil }
    board.refresh()
    if condition() { return }
    for await _ in changes where condition() { return }
  }
}
