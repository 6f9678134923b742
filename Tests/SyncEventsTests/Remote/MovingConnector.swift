import SyncProtocol
import SyncServer
import Synchronization
import VivariumTestSupport

/// Reaches one host, and later another, as a server that is started anew.
final class MovingConnector: SyncConnector {
  private let present: Mutex<SyncHost>
  private let isRefused = AsyncSignal()
  private let hasLeft = Mutex(false)

  init(_ host: SyncHost) { present = Mutex(host) }

  var host: SyncHost { present.withLock { $0 } }

  func move(to host: SyncHost) {
    hasLeft.withLock { $0 = false }
    present.withLock { $0 = host }
  }

  /// Returns when somebody has tried in vain to connect, after a host has left.
  func waitUntilRefused() async {
    hasLeft.withLock { $0 = true }
    await isRefused.wait()
  }

  func connect() async throws(TransportError) -> any SyncTransport {
    if hasLeft.withLock({ $0 }) {
      isRefused.fire()
      throw TransportError(.unreachable, "The server is being started anew.")
    }
    return try await HostConnector(host: host).connect()
  }
}
