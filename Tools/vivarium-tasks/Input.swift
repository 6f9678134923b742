import Foundation

/// What comes from outside: keys, and that the terminal has another size or goes away. Reads without blocking the main actor.
final class Input {
  enum Event: Sendable {
    case key(Key)
    case resized
  }

  /// Ends with the input, or when the process is asked to end.
  let events: AsyncStream<Event>

  init() {
    let (events, event) = AsyncStream<Event>.makeStream()
    self.events = events
    Thread.detachNewThread {
      var decoder = KeyDecoder()
      var bytes = [UInt8](repeating: 0, count: 256)
      while case let count = read(STDIN_FILENO, &bytes, bytes.count), count > 0 {
        for key in decoder.keys(bytes[..<count]) { event.yield(.key(key)) }
      }
      event.finish()
    }
    SignalPipe.listen(to: [SIGWINCH, SIGINT, SIGTERM, SIGHUP]) { number in
      if number == SIGWINCH { event.yield(.resized) } else { event.finish() }
    }
  }

  static func lines() -> AsyncStream<String> {
    AsyncStream { continuation in
      Thread.detachNewThread {
        while let line = readLine() { continuation.yield(line) }
        continuation.finish()
      }
    }
  }

  /// Keys come one by one and unseen; gives what undoes it.
  static func makeRaw() -> () -> Void {
    var before = termios()
    tcgetattr(STDIN_FILENO, &before)
    var raw = before
    cfmakeraw(&raw)
    tcsetattr(STDIN_FILENO, TCSANOW, &raw)
    return {
      var before = before
      tcsetattr(STDIN_FILENO, TCSANOW, &before)
    }
  }

  /// Rows and columns of the terminal.
  static var size: (rows: Int, columns: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0, size.ws_col > 0 else { return (24, 80) }
    return (Int(size.ws_row), Int(size.ws_col))
  }
}
