#if Sync
import ArgumentParser
import Foundation
import SyncServer
import SyncStoreEmbedded
import SyncWebSocket

/// Where a check's server keeps its stores.
enum ServerHome: String, ExpressibleByArgument, CaseIterable { case memory, embedded }

/// A server, as a process of its own that can be killed. It lets everybody in.
struct ServerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "server", shouldDisplay: false)

  @Option var store: ServerHome
  @Option var folder: String

  func run() async throws {
    let host = SyncHost(stores: try store.open(folder: folder), access: OpenAccess())
    let listener = try await WebSocketListener(host: "127.0.0.1", port: 0)
    printLine("port \(listener.port)")
    try await listener.run { transport in await host.serve(transport) }
  }
}

extension ServerHome {
  func open(folder: String) throws -> any SyncServerStore {
    switch self {
    case .memory: MemoryServerStore()
    case .embedded: try EmbeddedServerStore(folder: folder)
    }
  }
}
#endif
