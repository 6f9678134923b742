import Foundation
import Synchronization
import VivariumTestSupport

/// The program in a terminal of its own, which the test looks at and types into.
final class TerminalProcess {
  private let process = Process()
  private let terminal: FileHandle
  private let screen: Shared
  private let ended = Signal()

  private final class Shared: Sendable {
    let screen: Mutex<TerminalScreen>
    let changed = Signal()
    init(height: Int) { screen = Mutex(TerminalScreen(height: height)) }
  }

  init(_ arguments: [String], rows: Int = 20, columns: Int = 60) throws {
    var (master, slave): (Int32, Int32) = (-1, -1)
    guard openpty(&master, &slave, nil, nil, nil) == 0 else { throw CocoaError(.fileNoSuchFile) }
    terminal = FileHandle(fileDescriptor: master, closeOnDealloc: true)
    let other = FileHandle(fileDescriptor: slave, closeOnDealloc: true)
    screen = Shared(height: rows)
    TerminalProcess.setSize(master, rows, columns)
    process.executableURL = try TasksProgram.url()
    process.arguments = arguments
    process.standardInput = other
    process.standardOutput = other
    let (screen, ended, descriptor) = (screen, ended, master)
    process.terminationHandler = { _ in ended.fire() }
    try process.run()
    killLate(process)
    Thread.detachNewThread {
      var bytes = [UInt8](repeating: 0, count: 4_096)
      // Ends with an error when the program is gone and its side is closed.
      while case let count = read(descriptor, &bytes, bytes.count), count > 0 {
        screen.screen.withLock { $0.take(bytes[..<count]) }
        screen.changed.fire()
      }
      screen.changed.fire()
    }
  }

  private static func setSize(_ descriptor: Int32, _ rows: Int, _ columns: Int) {
    var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(descriptor, UInt(TIOCSWINSZ), &size)
  }

  var now: TerminalScreen { screen.screen.withLock { $0 } }

  func type(_ keys: String) { terminal.write(Data(keys.utf8)) }

  func type(bytes: [UInt8]) { terminal.write(Data(bytes)) }

  /// As somebody else might: a key is no signal here.
  func interrupt() { kill(process.processIdentifier, SIGINT) }

  func resize(rows: Int, columns: Int) {
    TerminalProcess.setSize(terminal.fileDescriptor, rows, columns)
    // It is no session of its own, so the terminal does not say it.
    kill(process.processIdentifier, SIGWINCH)
  }

  /// Waits until the screen is as it should be.
  func wait(_ condition: (TerminalScreen) -> Bool) -> Bool { screen.changed.wait { condition(now) } }

  /// Waits until the tasks on the screen are these, without marks of what is chosen.
  func shows(_ lines: [String]) -> Bool {
    wait { screen in
      screen.rows.dropFirst(2).dropLast(2).map { String($0.dropFirst(2)) }.filter { !$0.isEmpty } == lines
    }
  }

  /// Its status when it has ended.
  func status() -> Int32? { ended.wait() ? process.terminationStatus : nil }

  deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
}
