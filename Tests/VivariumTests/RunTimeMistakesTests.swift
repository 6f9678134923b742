import Foundation
import Testing
import Vivarium

/// The second half of Docs/Mistakes.md: what a run says to mistakes that compile. `VIVARIUM_WRITE_MISTAKES=1` writes it.
@Suite struct RunTimeMistakesTests {
  private static let mark = "<!-- what the run says -->\n"

  private static let preface = """

    # Mistakes that a run tells

    Each line was run by `RunTimeMistakesTests`, which writes this half; files and lines are those of the program. A write in which
    something is refused throws it, and commits nothing.

    *Logged* is what a release build logs. A debug build stops there (`MisusePolicy`) if only a mistake of the program can be the cause:
    `notInWrite`, `alreadyInWrite`, `readOnlyOperation`, `wrongContext`, `wrongStore`, `writeInObserver`, `invalidQuery`,
    `unknownProperty` and `unknownType`. Everything else is only logged, in a debug build too, because data, another thread or another
    process can cause it: `indexOutOfRange`, `objectDeleted`, and a value or a disk that cannot be read. So are a token that was not kept,
    and an observer in a store that nobody would call (its block gets the error too).

    A setter does not know who calls it, so a property that is set outside a write is logged without file and line. A refused edit of a
    list, a set or a map says its line. What gives neither an error nor a line is in [What is silent](Silent.md).

    """

  @Test func thePageSaysWhatTheRunSays() throws {
    var text = Self.preface
    for (title, mistakes) in [
      ("Queries", RunTimeMistake.queries), ("Writes and objects", RunTimeMistake.writes), ("Observers", RunTimeMistake.observers),
      ("Opening", RunTimeMistake.openings),
    ] {
      text += "\n## \(title) at run time\n\n| what was written | what the run says |\n|---|---|\n"
      for mistake in mistakes {
        let said = mistake.said.map { $0.replacing("|", with: "\\|").replacing("\n", with: " ") }.joined(separator: "<br>")
        text += "| `\(mistake.written.replacing("|", with: "\\|"))` | \(said) |\n"
      }
    }
    let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Docs/Mistakes.md")
    let whole = try String(contentsOf: page, encoding: .utf8)
    let parts = whole.split(separator: Self.mark, maxSplits: 1, omittingEmptySubsequences: false)
    if ProcessInfo.processInfo.environment["VIVARIUM_WRITE_MISTAKES"] != nil {
      try (parts[0] + Self.mark + text).write(to: page, atomically: true, encoding: .utf8)
    } else {
      #expect(parts.count == 2 && parts[1] == text, "VIVARIUM_WRITE_MISTAKES=1 writes it; read what changed:\n\(text)")
    }
  }
}
