import ArgumentParser
import Dispatch
import Foundation
import SyncModel
import SyncServer
import SyncStoreEmbedded
import SyncWebSocket

/// `vivarium-server serve`
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Serves until it is told to end by SIGTERM or SIGINT.",
    discussion: "It speaks plain WebSocket. From other machines it is reached through a proxy that speaks TLS.")

  @OptionGroup var place: FolderOption
  @Option(help: "Where to listen.") var host = "127.0.0.1"
  @Option(help: "0 has the system choose.") var port = 9480
  @Flag(help: "Listens also where others could read along: a proxy with TLS, or a tunnel, is before it.") var behindProxy = false
  @Option(help: "Days after which a device that was away begins anew.") var forgetAfter = 60

  func run() async throws {
    #if Sync
    let stores = try EmbeddedServerStore(folder: place.stores)
    let host = SyncHost(stores: stores, access: TokenFile(path: place.users))
    let listener = try await WebSocketListener(host: self.host, port: port, allowsPlainText: behindProxy)
    print("Serving '\(place.folder)' at ws://\(self.host.contains(":") ? "[\(self.host)]" : self.host):\(listener.port)")
    fflush(nil)
    let upkeep = Task { await keep(stores) }
    let signals = [SIGTERM, SIGINT].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler {
        Task {
          await host.leave(comeBackAfter: 2)
          await listener.close()
        }
      }
      source.resume()
      return source
    }
    try await listener.run { transport in await host.serve(transport) }
    upkeep.cancel()
    signals.forEach { $0.cancel() }
    try await stores.flush()
    print("Ended.")
    #else
    throw Trouble("This build speaks no WebSocket: build it with the trait 'Sync'.")
    #endif
  }

  /// Once an hour all replicas forget what nobody needs any more.
  private func keep(_ stores: EmbeddedServerStore) async {
    while true {
      do { try await Task.sleep(for: .seconds(3600)) } catch { return }
      let expiry = Int64(Date().timeIntervalSince1970 * 1000) - Int64(forgetAfter) * 86_400_000
      for path in await stores.stores() {
        do throws(ServerStoreError) {
          guard let purge = try await stores.purge(path, expiry: expiry) else { continue }
          try await stores.truncateLog(path, through: purge.stable)
        } catch { print("\(path): \(error)") }
      }
    }
  }
}
