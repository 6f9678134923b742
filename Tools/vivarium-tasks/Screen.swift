import Foundation
import Vivarium

/// The screen of a person. Writes lines that changed and no others, each frame in one go, so nothing flickers.
@MainActor final class Screen {
  private let board: TaskBoard
  private let input: Input
  private var chosen: TaskItem?
  /// The number of the chosen task when it was last there.
  private var number = 1
  /// What the terminal shows, line by line.
  private var shown: [String] = []
  private var scroll = 0
  /// What is being typed; nil: keys are commands.
  private var typing: String?
  /// What went wrong with the last key.
  private var complaint: String?

  init(_ board: TaskBoard, _ input: Input) {
    self.board = board
    self.input = input
  }

  func run() async throws {
    // Another screen, without a cursor, where no line goes on in the next.
    write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J")
    defer { write("\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l") }
    board.onChange = { [weak self] in self?.draw() }
    defer { board.onChange = nil }
    draw()
    for await event in input.events {
      switch event {
      case .resized: shown = []
      case .key(let key):
        complaint = nil
        do {
          if typing != nil { try type(key) } else if try !press(key) { return }
        } catch let error as StoreError { complaint = error.message }
      }
      draw()
    }
  }

  /// False to leave.
  private func press(_ key: Key) throws -> Bool {
    follow()
    switch key {
    case .down, .character("j"): choose(number + 1)
    case .up, .character("k"): choose(number - 1)
    case .character("J"): try board.move(number, by: 1)
    case .character("K"): try board.move(number, by: -1)
    case .character(" "): try board.toggle(number)
    case .character("d"): try board.delete(number)
    case .character("a"): typing = ""
    case .character("q"), .leave: return false
    default: break
    }
    return true
  }

  private func type(_ key: Key) throws {
    guard let text = typing else { return }
    switch key {
    case .enter:
      typing = nil
      let words = text.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
      guard let title = words.last, !title.isEmpty else { return }
      try board.add(title, to: words.count == 2 ? words[0] : chosen?.list?.name ?? "Tasks")
    case .escape, .leave: typing = nil
    case .backspace: typing = String(text.dropLast())
    case .character(let character): typing = text + String(character)
    case .up, .down: break
    }
  }

  // MARK: - Choosing

  private func choose(_ wanted: Int) {
    number = max(1, min(wanted, board.count))
    chosen = board.task(number)
  }

  /// The choice stays with its task wherever that goes, and with its place when the task is gone.
  private func follow() {
    if let chosen, !chosen.isInvalidated, let place = board.number(of: chosen) { number = place } else { choose(number) }
  }

  // MARK: - Drawing

  private var title: String { board.sharing.map { "\(board.title) · \($0.words)" } ?? board.title }

  private func draw() {
    follow()
    let (height, width) = Input.size
    let room = max(height - 4, 1)
    let lines = board.lines
    let line = lines.firstIndex { $0.number == number } ?? 0
    // The chosen task stays in sight, and a list's name with its first task.
    let first = line > 0 && lines[line - 1].number == nil ? line - 1 : line
    scroll = max(0, min(scroll, first, lines.count - 1), line - room + 1)
    var frame = ["\u{1B}[1m\(clipped(title, width))\u{1B}[0m", ""]
    for line in lines.dropFirst(scroll).prefix(room) {
      let text = clipped("\(line.number == number ? ">" : " ") \(line.text)", width)
      frame.append(line.number == nil ? "\u{1B}[1m\(text)\u{1B}[0m" : text)
    }
    while frame.count < height - 2 { frame.append("") }
    let help = "up/down choose  J/K move  space done  a add  d delete  q quit"
    frame += ["", clipped(typing.map { "new task: \($0)_" } ?? complaint ?? help, width)]
    show(Array(frame.prefix(height)))
  }

  private func show(_ frame: [String]) {
    var output = ""
    for (row, line) in frame.enumerated() where row >= shown.count || shown[row] != line {
      output += "\u{1B}[\(row + 1);1H\(line)\u{1B}[K"
    }
    shown = frame
    // Terminals that know it show what stands between at once.
    if !output.isEmpty { write("\u{1B}[?2026h\(output)\u{1B}[?2026l") }
  }

  private func clipped(_ text: String, _ width: Int) -> String { TerminalLine.clipped(text, to: width - 1) }

  /// A terminal that went away is told by a signal.
  private func write(_ text: String) { try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8)) }
}
