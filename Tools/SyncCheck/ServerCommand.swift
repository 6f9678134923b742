#if Sync
import ArgumentParser
import Foundation
import SyncEvents
import SyncServer
import SyncStoreEmbedded
import SyncStorePostgres
import SyncWebSocket

/// Where a check's servers keep their stores.
enum ServerHome: String, ExpressibleByArgument, CaseIterable {
  case memory, embedded, postgres

  /// How many servers serve the stores at once.
  var servers: Int { self == .postgres ? 2 : 1 }
}

/// A server, as a process of its own that can be killed. It lets everybody in.
struct ServerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "server", shouldDisplay: false)

  @Option var store: ServerHome
  @Option(help: "A folder, or the address of a database.") var place: String

  @Flag(help: "Runs the handler of events as well.") var handles = false

  func run() async throws {
    let stores = try await store.open(place)
    let host = SyncHost(stores: stores, access: OpenAccess())
    let events = handles ? try await HandlerCommand.events(of: stores) : nil
    // Before anybody can write: so it hears of everything.
    try await events?.register()
    let handling = Task { await events?.run() }
    defer { handling.cancel() }
    let listener = try await WebSocketListener(host: "127.0.0.1", port: 0)
    printLine("port \(listener.port)")
    try await listener.run { transport in await host.serve(transport) }
  }
}

extension ServerHome {
  func open(_ place: String) async throws -> any SyncServerStore {
    switch self {
    case .memory: MemoryServerStore()
    case .embedded: try EmbeddedServerStore(folder: place)
    case .postgres: try await PostgresServerStore(place, makesTables: true)
    }
  }
}
#endif
