import Foundation
import StorageMemory
import StoreMessages
import SyncClient
import SyncManagement
import SyncProtocol
import SyncServer
import Testing
import Vivarium

/// Reaches a host once there is a network.
private struct LateConnector: SyncConnector {
  private let connector: HostConnector
  private let network = AsyncStream.makeStream(of: Void.self)

  init(_ host: SyncHost) { connector = HostConnector(host: host) }

  func connect() async throws(TransportError) -> any SyncTransport {
    var events = network.stream.makeAsyncIterator()
    while await events.next() != nil {}
    return try await connector.connect()
  }

  /// There is one from now on.
  func begin() { network.continuation.finish() }
}

/// The request of a talk on notifications, as an app with a server makes it: an object in a user's management store, which is observed
/// as a collection of one.
@MainActor @Suite(.timeLimit(.minutes(15))) struct PermissionListingTests {
  private enum Heard: Hashable {
    case initial([MessageStatus])
    case processed(MessageStatus, String?, modifications: [Int])
    /// Nothing that the observer of one object, which is only modified, should hear.
    case other(String)
  }

  /// What an observer that waits for the server's answer makes of a notification; nil where it has none yet.
  private func told(_ notification: CollectionChange<Results<SyncPermissionChange>>) -> Heard? {
    switch notification {
    case .initial(let changes): return .initial(changes.map(\.status))
    case .update(let changes, let deletions, let insertions, let modifications):
      guard changes.count == 1, let change = changes.first, deletions.isEmpty, insertions.isEmpty else {
        return .other("\(changes.count) objects, \(deletions) deleted, \(insertions) inserted")
      }
      switch change.status {
      case .notProcessed: return nil
      case .success, .error: return .processed(change.status, change.statusMessage, modifications: Array(modifications))
      }
    case .error(let error): return .other(error.message)
    }
  }

  @Test(arguments: [
    ("/~/tasks", MessageStatus.success, "'bob' has rw at /ann/tasks.", ["rw"]),
    ("/cleo/tasks", .error, "'ann' may not say who may do what at '/cleo/tasks'.", [String]()),
  ])
  func aCollectionOfOneHearsWhatTheServerMadeOfARequest(
    storeURL: String, status: MessageStatus, message: String, rights: [String]
  ) async throws {
    let office = try await Office()
    let user = FixedToken("ann")
    let connector = LateConnector(office.host)
    let managementStore = try user.managementStore(.memory(UUID().uuidString), connector: connector)
    let permissionChange = try managementStore.write {
      let change = SyncPermissionChange(storeURL: storeURL, userID: "bob", mayRead: true, mayWrite: true, mayManage: false)
      try managementStore.add(change)
      return change
    }

    let (news, continuation) = AsyncStream.makeStream(of: Heard.self)
    let collectionOfOne = managementStore.objects(SyncPermissionChange.self).filter("id = %@", permissionChange.id)
    let token = collectionOfOne.observe { notification in
      if let heard = told(notification) { continuation.yield(heard) }
    }
    var iterator = news.makeAsyncIterator()
    #expect(await iterator.next() == Heard.initial([.notProcessed]))
    // Only now can the server hear of it: the answer is an update.
    connector.begin()
    #expect(await iterator.next() == Heard.processed(status, message, modifications: [0]))
    #expect(permissionChange.status == status && permissionChange.statusMessage == message)
    #expect(collectionOfOne.map(\.id) == [permissionChange.id])
    #expect(try await office.directory.grants().map(\.rights.short) == rights)
    token.stop()
    await office.running.end()
  }
}
