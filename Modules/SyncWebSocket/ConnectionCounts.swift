#if Sync
import Synchronization

/// How many connections there are.
final class ConnectionCounts: Sendable {
  let limits: WebSocketListener.Limits
  private let counts = Mutex<(all: Int, ofAddress: [String: Int])>((0, [:]))

  init(_ limits: WebSocketListener.Limits) { self.limits = limits }

  /// Counts one more, if there may be.
  ///
  /// - Parameter address: nil where it says nothing about who comes: all come from the proxy.
  func begin(_ address: String?) -> Bool {
    counts.withLock { counts in
      guard counts.all < limits.connections else { return false }
      if let address {
        guard counts.ofAddress[address, default: 0] < limits.connectionsOfAddress else { return false }
        counts.ofAddress[address, default: 0] += 1
      }
      counts.all += 1
      return true
    }
  }

  func end(_ address: String?) {
    counts.withLock { counts in
      counts.all -= 1
      guard let address else { return }
      counts.ofAddress[address, default: 1] -= 1
      if counts.ofAddress[address] == 0 { counts.ofAddress[address] = nil }
    }
  }
}
#endif
