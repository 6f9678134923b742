#if Sync
import Foundation
import StorageLMDB
import SyncClient
import SyncProtocol
import SyncWebSocket
import Vivarium
import VivariumTestSupport

@Model final class Page {
  @PrimaryKey var id = ""
  var text = ""
}

/// A file that is replicated by a server's program.
@MainActor struct Device {
  let store: Store
  let replicator: Replicator

  init(_ directory: TemporaryDirectory, _ name: String, port: Int, token: String) throws {
    try self.init(directory, name, connector: try WebSocketConnector("ws://127.0.0.1:\(port)"), credentials: FixedToken(token))
  }

  init(
    _ directory: TemporaryDirectory, _ name: String, path: String = "/~/pages", connector: WebSocketConnector,
    credentials: any SyncCredentials
  ) throws {
    var configuration = Store.Configuration.lmdb(directory.url.appending(path: name), models: Page.self)
    configuration.replicate()
    store = try Store(configuration)
    var options = Replicator.Options()
    options.firstDelay = .milliseconds(20)
    options.longestDelay = .milliseconds(100)
    replicator = store.replicator(
      path: path, connector: connector, credentials: credentials, options: options)
  }

  func write(_ id: String, _ text: String) throws {
    try store.write { _ = try store.create(Page.self, value: ["id": id, "text": text], update: .modified) }
  }

  var texts: [String: String] {
    store.refresh()
    return Dictionary(uniqueKeysWithValues: store.objects(Page.self).map { ($0.id, $0.text) })
  }
}

extension Device {
  /// The first state that passes a test, from now on.
  func state(_ isWanted: @Sendable (SyncState) -> Bool) async -> SyncState? {
    for await notice in await replicator.notices() {
      if case .state(let state) = notice, isWanted(state) { return state }
    }
    return nil
  }
}
#endif
