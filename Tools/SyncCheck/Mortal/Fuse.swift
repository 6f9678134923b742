#if Sync
import Foundation
import SyncServer
import Synchronization

/// Kills the process when a point is reached for the n-th time.
final class Fuse: Sendable {
  /// The points of a server: before and after each call of its stores, in the middle of a commit, and before and after each
  /// thing that it receives and sends.
  static let points =
    ["bind", "declare", "commit", "changes", "objects", "acknowledge", "purge", "truncate", "receive", "send"]
    .flatMap { ["before-\($0)", "after-\($0)"] } + ["in-commit"]

  /// The points of who handles events: before and after each call for the handler's lease and work, and within the commit of its work.
  static let handlerPoints =
    ["claim", "advance", "renew"].flatMap { ["before-\($0)", "after-\($0)"] } + ["in-advance"]

  /// The points of a device: in each work of its replicator.
  static let devicePoints = ReplicatorWork.allCases.flatMap(\.points)

  private let point: String
  private let rest: Mutex<Int>

  /// - Parameter text: a point and a number: "after-commit:3".
  init?(_ text: String) {
    let parts = text.split(separator: ":")
    let points = Fuse.points + Fuse.handlerPoints + Fuse.devicePoints
    guard parts.count == 2, let number = Int(parts[1]), points.contains(String(parts[0])) else { return nil }
    point = String(parts[0])
    rest = Mutex(number)
  }

  func reached(_ point: String) { if isNow(point) { kill(getpid(), SIGKILL) } }

  /// As `reached`, but from another thread: what follows the point goes on for up to two milliseconds.
  func reachedSoon(_ point: String) {
    guard isNow(point) else { return }
    let seconds = Double.random(in: 0...0.002)
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: seconds)
      kill(getpid(), SIGKILL)
    }
  }

  private func isNow(_ point: String) -> Bool {
    guard point == self.point else { return false }
    return rest.withLock { rest in
      rest -= 1
      return rest == 0
    }
  }

  /// Does something between two points.
  func around<R>(_ name: String, _ body: () async throws(ServerStoreError) -> R) async throws(ServerStoreError) -> R {
    reached("before-\(name)")
    let result = try await body()
    reached("after-\(name)")
    return result
  }
}
#endif
