import ArgumentParser
import Foundation
import Vivarium

/// A task list in a terminal: open it twice, and each shows what the other does.
@main struct VivariumTasks: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tasks", abstract: "A live task list in the terminal. Open it in several: each shows what the others do.",
    discussion: """
      Keys: up and down (or k and j) choose a task, K and J move it within its list, space says that it is done, a adds \
      one ("title", or "list: title"), d deletes it, q leaves.

      With --script, or where the input is no terminal, commands are read from it, a line each: add LIST TITLE, done N, \
      up N, down N, delete N, show, wait N (until there are N tasks), waitdone N (until N of them are done), quit. \
      N counts the lines of tasks from 1. What is no command, or names no task, is answered with ? and the line.

      With --sync the list is kept the same on other devices. Then there are also: sharing (prints where it stands; with \
      a word: waits until it begins so), synced (until the server has all that was done here, and this list all that the \
      server has), follow (from then on a line with ~ for each change that another device made).
      """)

  @Option(help: "The file; it is made when it is missing. Without it, your own: all your terminals of this machine share it.")
  var path: String?
  @Flag(help: "Read commands from the input.")
  var script = false
  @Flag(help: "Begin with no tasks where the file is new.")
  var empty = false
  @OptionGroup var other: OtherDevices

  @MainActor func run() async throws {
    let url = try path.map { URL(fileURLWithPath: $0) } ?? OwnFolder.list()
    let sync = try other.configuration()
    do { try await run(try TaskBoard.open(url, sync: sync)) } catch let error as StoreError { throw Refusal(error: error) }
  }

  private var isScript: Bool { script || isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0 }

  @MainActor private func run(_ board: TaskBoard) async throws {
    if isScript {
      try await Script(board: board).run(Input.lines())
    } else {
      if !empty { try board.fillIfNew() }
      let input = Input()
      let restore = Input.makeRaw()
      defer { restore() }
      try await Screen(board, input).run()
    }
  }
}

/// What the store refuses, for a person: what happened, and what helps.
private struct Refusal: Error, CustomStringConvertible {
  let error: StoreError
  var description: String { [error.message, error.remedy].compactMap(\.self).joined(separator: " ") }
}
