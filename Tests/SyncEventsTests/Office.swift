import Foundation
import StorageMemory
import StoreMessages
import SyncClient
import SyncEvents
import SyncManagement
import SyncProtocol
import SyncServer
import Vivarium

/// Tokens are names of users; rights are those of a directory.
private struct NamedAccess: SyncAccess {
  let directory: any UserDirectory

  func identity(ofToken token: String, at time: Int64) async throws(SyncRefusal) -> SyncIdentity { SyncIdentity(user: token) }

  func grant(to identity: SyncIdentity, on path: StorePath) async throws(SyncRefusal) -> StoreGrant {
    do throws(ServerStoreError) { return try await directory.grant(to: identity, on: path) } catch { throw SyncRefusal(error) }
  }
}

/// A server that deals with permissions, and its users.
@MainActor struct Office {
  let directory = MemoryUserDirectory()
  let host: SyncHost
  let running: RunningEvents

  init() async throws {
    let stores = MemoryServerStore()
    let host = SyncHost(stores: stores, access: NamedAccess(directory: directory))
    self.host = host
    for name in ["ann", "bob", "cleo"] { try await directory.update(name) { _ in UserRecord(name: name) } }
    let events = ServerEvents(stores)
    var options = ServerEvents.PermissionOptions(hash: { "hash of \($0)" })
    options.changed = { await host.recheck() }
    try await events.handlePermissions(of: directory, options)
    running = RunningEvents(events)
  }

  func management(_ user: String) throws -> Store {
    try Store(
      ManagementStore.configuration(.memory(UUID().uuidString), user: FixedToken(user), connector: HostConnector(host: host)))
  }

  func device(_ user: String, _ path: String) throws -> Store {
    var configuration = Store.Configuration.memory(UUID().uuidString)
    configuration.models = [Customer.self]
    configuration.sync = SyncConfiguration(user: FixedToken(user), path: path, connector: HostConnector(host: host))
    return try Store(configuration)
  }

  /// Ann's tasks, which the server has.
  func tasks() async throws -> Store {
    let tasks = try device("ann", "/~/tasks")
    try tasks.write { _ = try tasks.create(Customer.self, value: ["id": "1", "name": "tea"]) }
    try await tasks.sync?.uploaded()
    return tasks
  }

  /// Drops a message into a user's management store, and returns when it has its answer.
  func ask<M: Message>(_ user: String, _ message: M) async throws -> (status: MessageStatus, text: String, Store) {
    let store = try management(user)
    try store.write { try store.add(message) }
    let answers = AsyncStream<MessageStatus> { continuation in
      let token = message.observe { _ in if message.status != .notProcessed { continuation.yield(message.status) } }
      continuation.onTermination = { _ in token.stop() }
    }
    for await status in answers { return (status, message.statusMessage ?? "", store) }
    return (message.status, "", store)
  }
}
