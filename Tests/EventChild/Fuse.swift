import Foundation
import Synchronization

/// Kills the process when it comes to a point for the n-th time. Any thread.
final class Fuse: Sendable {
  enum Point: String {
    /// The handler has a message, and has done nothing.
    case begun
    /// It has written its answer, within the write.
    case written
    /// Its write is whole, and nothing of it is in the server's store.
    case beforeCommit = "before-commit"
    /// It is in the server's store, and nobody was told.
    case afterCommit = "after-commit"
  }

  private let point: Point?
  private let rest: Mutex<Int>

  /// - Parameter text: a point and a number, "written:2"; for any other text nothing happens.
  init(_ text: String?) {
    let parts = text?.split(separator: ":").map(String.init) ?? []
    point = parts.first.flatMap(Point.init(rawValue:))
    rest = Mutex(parts.last.flatMap { Int($0) } ?? 0)
  }

  func reached(_ point: Point) {
    guard point == self.point else { return }
    let isNow = rest.withLock { rest in
      rest -= 1
      return rest == 0
    }
    if isNow { kill(getpid(), SIGKILL) }
  }
}
