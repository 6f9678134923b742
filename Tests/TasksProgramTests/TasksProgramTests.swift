import Foundation
import Testing
import VivariumTestSupport

@Suite struct TasksProgramTests {
  private let folder = TemporaryDirectory()
  private var path: String { folder.file("tasks.lmdb").path }

  @Test func twoProcessesOnOneFileFollowEachOther() throws {
    let (one, two) = (try ScriptProcess(["--path", path]), try ScriptProcess(["--path", path]))
    one.say("wait 3", "show")
    two.say("add Home Bread and butter", "add Work Report", "add Home Milk", "wait 3", "up 2", "show", "nonsense", "waitdone 1", "show")
    let all = ["3 of 3 to do", "Home (2 of 2)", "  1. [ ] Bread and butter", "  2. [ ] Milk", "Work (1 of 1)", "  3. [ ] Report"]
    let heard = one.lines(6)
    // Either before or after the other was moved up.
    #expect(heard == all || heard == [all[0], all[1], "  1. [ ] Milk", "  2. [ ] Bread and butter", all[4], all[5]])
    #expect(two.lines(7) == [all[0], all[1], "  1. [ ] Milk", "  2. [ ] Bread and butter", all[4], all[5], "? nonsense"])
    // Showing reads the newest, so that 1 is what it is.
    one.say("show", "done 1")
    #expect(one.lines(6)[2] == "  1. [ ] Milk")
    #expect(two.lines(6) == ["2 of 3 to do", "Home (1 of 2)", "  1. [x] Milk", "  2. [ ] Bread and butter", all[4], all[5]])
    two.say("delete 3", "quit")
    one.say("wait 2", "show")
    #expect(one.lines(4) == ["1 of 2 to do", "Home (1 of 2)", "  1. [x] Milk", "  2. [ ] Bread and butter"])
    one.say("quit")
    #expect(try one.end() == 0)
    #expect(try two.end() == 0)
  }

  @Test func keysInOneTerminalAreSeenInAnother() throws {
    let one = try TerminalProcess(["--path", path, "--empty"])
    #expect(one.wait { $0.rows.contains { $0.contains("Nothing here yet") } })
    one.type("aHome: Brot\r")
    #expect(one.shows(["Home (1 of 1)", "[ ] Brot"]))
    let two = try TerminalProcess(["--path", path, "--empty"])
    #expect(two.shows(["Home (1 of 1)", "[ ] Brot"]))
    // Another letter on the way, taken back; into the list of the chosen task.
    two.type("aKäsex\u{7F}\raWork: Report\r")
    #expect(one.shows(["Home (2 of 2)", "[ ] Brot", "[ ] Käse", "Work (1 of 1)", "[ ] Report"]))
    // The arrow chooses, K moves up: at once here, by its notification there.
    two.type("\u{1B}[BK")
    #expect(two.shows(["Home (2 of 2)", "[ ] Käse", "[ ] Brot", "Work (1 of 1)", "[ ] Report"]))
    #expect(one.shows(["Home (2 of 2)", "[ ] Käse", "[ ] Brot", "Work (1 of 1)", "[ ] Report"]))
    #expect(two.now.rows.contains("> [ ] Käse"))
    // What one has chosen stays chosen wherever it goes.
    #expect(one.wait { $0.rows.contains("> [ ] Brot") })
    one.type(" ")
    #expect(two.shows(["Home (1 of 2)", "[ ] Käse", "[x] Brot", "Work (1 of 1)", "[ ] Report"]))
    #expect(two.now.rows.first == "2 of 3 to do")
    two.type("d")
    #expect(one.shows(["Home (0 of 1)", "[x] Brot", "Work (1 of 1)", "[ ] Report"]))
    for terminal in [one, two] {
      // Wiped once, in the beginning: nothing flickers.
      #expect(terminal.now.wipes == 1)
      terminal.type("q")
      #expect(terminal.status() == 0)
      #expect(terminal.wait { !$0.isAlternate })
    }
  }

  @Test func aChangeWritesTheLinesThatChanged() throws {
    let writer = try ScriptProcess(["--path", path])
    for number in 1...9 { writer.say("add List task\(number)") }
    writer.say("wait 9", "show")
    _ = writer.lines(11)
    let terminal = try TerminalProcess(["--path", path, "--empty"])
    #expect(terminal.wait { $0.rows.contains("  [ ] task9") && $0.rows[19].hasPrefix("up/down") })
    let before = terminal.now.linesWritten
    writer.say("done 5")
    #expect(terminal.wait { $0.rows.contains("  [x] task5") })
    // The count above, the list's, and the task.
    #expect(terminal.now.linesWritten == before + 3)
    // In a small window the chosen task stays in sight.
    terminal.resize(rows: 8, columns: 12)
    #expect(terminal.wait { $0.rows[2] == "  List (8 o" && $0.rows[7].hasPrefix("up/down") })
    terminal.type("jjjjj")
    #expect(terminal.wait { $0.rows[5] == "> [ ] task6" && $0.rows[2] == "  [ ] task3" })
    writer.say("quit")
    #expect(try writer.end() == 0)
    terminal.type("\u{3}")
    #expect(terminal.status() == 0)
  }

  @Test func aNewFileBeginsWithFirstSteps() throws {
    let terminal = try TerminalProcess(["--path", path])
    #expect(terminal.wait { $0.rows.contains { $0.contains("Open this list in a second terminal") } })
    #expect(terminal.now.rows.first == "5 of 5 to do")
    terminal.type("q")
    #expect(terminal.status() == 0)
  }

  @Test func badCommandsAreAnsweredAndEndNothing() throws {
    let script = try ScriptProcess(["--path", path])
    let bad = ["done 1", "up \(Int.min)", "down \(Int.max)", "delete -1", "done 99999999999999999999", "add OnlyAList"]
    script.say(bad.joined(separator: "\n"))
    script.say("", "add A \u{1B}[2J", "done 2", "show", "quit")
    #expect(script.lines(10) == bad.map { "? \($0)" } + ["? done 2", "1 of 1 to do", "A (1 of 1)", "  1. [ ]  [2J"])
    #expect(try script.end() == 0)
  }

  @Test func aFileThatIsDeletedOrNotOursIsSaid() throws {
    let terminal = try TerminalProcess(["--path", path])
    #expect(terminal.wait { $0.rows.first == "5 of 5 to do" })
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
      try FileManager.default.removeItem(at: folder.file(name))
    }
    terminal.type(" ")
    #expect(terminal.wait { $0.rows.first == "5 of 5 to do: the file is gone, nothing more is kept" })
    terminal.type("q")
    #expect(terminal.status() == 0)
    try Data("no store".utf8).write(to: folder.file("tasks.lmdb"))
    let script = try ScriptProcess(["--path", path])
    #expect(try script.end() == 1)
  }

  @Test func badKeysAndTitlesThatATerminalWouldObeyDoNoHarm() throws {
    let writer = try ScriptProcess(["--path", path])
    writer.say("add List one\u{1B}[2Jtwo\tthree", "add List 漢字漢字漢字漢字漢字", "add List last", "wait 3", "quit")
    #expect(try writer.end() == 0)
    let terminal = try TerminalProcess(["--path", path, "--empty"])
    #expect(terminal.wait { $0.rows.contains("> [ ] one [2Jtwo three") && $0.rows.contains("  [ ] last") })
    // Another encoding's letters, a lone continuation, a character cut short by a command.
    terminal.type(bytes: [0xE9, 0x6A, 0x80, 0xC3, 0x28, 0xF0, 0x9F, 0x6A])
    #expect(terminal.wait { $0.rows.contains("> [ ] last") })
    // Wide characters take two columns each; three lines are no room for a list.
    terminal.resize(rows: 9, columns: 16)
    #expect(terminal.wait { $0.rows.contains("  [ ] 漢字漢字") })
    terminal.resize(rows: 3, columns: 16)
    #expect(terminal.wait { $0.rows[2] == "> [ ] last" })
    #expect(terminal.now.wipes == 1)
    terminal.interrupt()
    #expect(terminal.status() == 0)
    #expect(terminal.wait { !$0.isAlternate })
  }
}
