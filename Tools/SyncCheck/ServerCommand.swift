#if Sync
import ArgumentParser
import Foundation
import SyncEvents
import SyncModel
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

  @Option(help: "One of this machine's addresses. All but loopback are of networks of the check's own.") var host = "127.0.0.1"
  @Option(help: "0 has the system choose.") var port = 0
  @Flag(help: "Runs the handler of events as well.") var handles = false
  @Option(
    help: "Dies when it comes to a point for the n-th time: 'after-commit:3'. Forgets all the time what nobody needs, unless it handles.")
  var dieAt: String?

  func run() async throws {
    let fuse = dieAt.flatMap(Fuse.init)
    let stores = try await store.open(place, fuse: fuse)
    let host = SyncHost(stores: stores, access: OpenAccess())
    let events = handles ? try await HandlerCommand.events(of: stores) : nil
    // Before anybody can write: so it hears of everything.
    try await events?.register()
    let handling = Task { await events?.run() }
    defer { handling.cancel() }
    let listener = try await WebSocketListener(host: self.host, port: port, allowsPlainText: true)
    printLine("port \(listener.port)")
    // A handler that has not yet begun with a store would miss what is forgotten before.
    let forgetting: Task<Void, Never>? = handles ? nil : fuse.map { _ in Task { await ServerCommand.forget(stores) } }
    defer { forgetting?.cancel() }
    try await listener.run { transport in
      if let fuse { return await host.serve(FusedTransport(base: transport, fuse: fuse)) }
      await host.serve(transport)
    }
  }

  /// What a server does once an hour, all the time.
  private static func forget(_ stores: any SyncServerStore) async {
    while !Task.isCancelled {
      do {
        for path in try await stores.stores() {
          if let purge = try await stores.purge(path, expiry: 0) { try await stores.truncateLog(path, through: purge.stable) }
        }
      } catch {
        // A store that cannot be reached now can be later.
      }
      do { try await Task.sleep(for: .milliseconds(30)) } catch { return }
    }
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

  /// The stores; with a fuse, such as end their process at one of its points.
  func open(_ place: String, fuse: Fuse?) async throws -> any SyncServerStore {
    let kept = try await open(place)
    guard let fuse else { return kept }
    return MortalStore(base: kept, fuse: fuse)
  }
}
#endif
