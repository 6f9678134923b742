import Foundation
import StorageMemory
import StoreMessages
import Testing
import Vivarium

/// The request of a talk on notifications: a change of permissions is an object that somebody else deals with.
@Model final class PermissionChange: Message {
  @PrimaryKey var id = UUID()
  @Indexed var status: MessageStatus = .notProcessed
  var statusCode: Int?
  var statusMessage: String?
  var createdAt = Date()
  var updatedAt = Date()

  var path = ""
  var userID = ""
  var mayRead = false
  var mayWrite = false
  var mayManage = false
}

@Suite(.timeLimit(.minutes(15))) @MainActor struct PermissionSampleTests {
  @Test func aCollectionOfOneAndTheObjectItselfHearWhatBecameOfARequest() async throws {
    let managementStore = try Store(.memory(models: PermissionChange.self, MessageReceipt.self))
    let permissionChange = PermissionChange(path: "/notes", userID: "jane", mayRead: true, mayWrite: true)
    try managementStore.write { try managementStore.add(permissionChange) }

    let heard = AsyncStream<String>.makeStream()
    let collectionOfOne = managementStore.objects(PermissionChange.self).filter("id = %@", permissionChange.id)
    let token = collectionOfOne.observe { notification in
      if case .update(let changes, _, _, _) = notification, let change = changes.first {
        switch change.status {
        case .notProcessed: break
        case .success: heard.continuation.yield("collection success")
        case .error: heard.continuation.yield("collection \(change.statusMessage ?? "")")
        }
      }
    }
    let objectToken = permissionChange.observe { change in
      guard case .change(let properties) = change else { return }
      if properties.contains(where: { $0.name == "status" }) { heard.continuation.yield("object \(permissionChange.status)") }
    }
    // The initial result first, so that what comes next is an update.
    managementStore.refresh()

    let handler = try MessageHandler.handle(PermissionChange.self, named: "permissions", in: managementStore.configuration) {
      change, _ in
      if !change.mayManage { change.fail(code: 403, message: "\(change.userID) may not manage \(change.path).") }
    }
    var lines: Set<String> = []
    for await line in heard.stream {
      lines.insert(line)
      if lines.count == 2 { break }
    }
    #expect(lines == ["object error", "collection jane may not manage /notes."])
    #expect(permissionChange.statusCode == 403 && permissionChange.updatedAt >= permissionChange.createdAt)
    token.stop()
    objectToken.stop()
    handler.stop()
  }
}
