#if Sync
import Foundation
import NIOCore
import Synchronization

/// Counts connections and enforces their limits.
final class ConnectionCounts: Sendable {
  let limits: WebSocketListener.Limits
  private let counts = Mutex<(all: Int, ofAddress: [String: Int])>((0, [:]))

  init(_ limits: WebSocketListener.Limits) { self.limits = limits }

  /// Counts a new connection, and returns whether it is within the limits.
  ///
  /// - Parameter address: nil if it does not identify the client, because all connections come from the proxy.
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

  /// The key under which an address is counted: for IPv6 its network, since one household has all addresses of that.
  static func place(of address: SocketAddress?) -> String {
    guard let text = address?.ipAddress else { return "" }
    guard case .v6? = address, !text.hasPrefix("::ffff:") else { return text }
    let halves = text.split(separator: "%")[0].components(separatedBy: "::")
    var groups = halves[0].split(separator: ":").map(String.init)
    let tail = halves.count > 1 ? halves[1].split(separator: ":").count : 0
    if halves.count > 1 { groups += Array(repeating: "0", count: max(0, 8 - groups.count - tail)) }
    return groups.prefix(4).joined(separator: ":") + "::/64"
  }

  /// The same for an address as text; the text itself if it is no address.
  static func place(ofText text: String) -> String {
    guard let address = try? SocketAddress(ipAddress: text, port: 0) else { return text }
    return place(of: address)
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
