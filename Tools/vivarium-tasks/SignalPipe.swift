import Foundation

/// Signals of the process as bytes of a pipe, which a thread reads.
///
/// A dispatch source is no way to hear them on Linux: it reads a descriptor that has the signal only while no thread takes it
/// first, and the main thread, which sleeps in `sigsuspend` once its queue runs elsewhere, takes all.
enum SignalPipe {
  private typealias Ends = (read: Int32, write: Int32)

  /// Made before the first handler that uses it, so that a handler finds it there.
  private static let ends: Ends? = {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    // What does not fit any more says nothing that those in the pipe don't.
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    return (ends[0], ends[1])
  }()

  /// Calls `act` on a thread of its own for each of the signals that comes from now on. Call it once.
  static func listen(to signals: [Int32], _ act: @escaping @Sendable (Int32) -> Void) {
    guard let ends else { return }
    for number in signals {
      _ = signal(number) { number in
        // Nothing but a write may happen here, and what was interrupted keeps its error.
        let before = errno
        var byte = UInt8(truncatingIfNeeded: number)
        if let ends = SignalPipe.ends { _ = write(ends.write, &byte, 1) }
        errno = before
      }
    }
    let source = ends.read
    Thread.detachNewThread {
      var byte: UInt8 = 0
      while true {
        let count = read(source, &byte, 1)
        if count == 1 { act(Int32(byte)) } else if count == 0 || errno != EINTR { return }
      }
    }
  }
}
