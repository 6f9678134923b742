import Foundation
import StorageMemory
import StoreMessages
import Testing
import Vivarium
import VivariumTestSupport

/// What the page and the doc comments show, to the letter.
private enum Guide {
  @Model final class PermissionChange: Message {
    @PrimaryKey var id = UUID()
    @Indexed var status: MessageStatus = .notProcessed
    var statusCode: Int?
    var statusMessage: String?
    var createdAt = Date()
    var updatedAt = Date()

    var userID = ""
    var mayRead = false
  }

  @Model final class Grant {
    var userID = ""
  }

  @Sendable static func grant(_ change: PermissionChange, in store: Store) throws {
    if change.userID.isEmpty { change.fail(message: "Nobody.") } else { try store.add(Grant(userID: change.userID)) }
  }

  static func page(
    _ configuration: Store.Configuration, _ store: Store, isolation: isolated (any Actor)? = #isolation
  ) async throws -> (MessageHandler, PermissionChange) {
    let handler = try MessageHandler.handle(PermissionChange.self, named: "permissions", in: configuration) { change, store in
      try grant(change, in: store)              // the effect and the mark that it is done are one transaction
    }
    let change = try await store.send(PermissionChange(userID: "jane"), timeout: .seconds(60))
    if change.status == .error { print(change.statusMessage ?? "") }
    return (handler, change)
  }
}

@Suite(.timeLimit(.minutes(15))) @MainActor struct GuideTests {
  @Test func whatIsShownIsCode() throws {
    #expect(try ShownSamples.withoutCode(pages: ["Messages.md"], modules: ["StoreMessages"]) == [])
  }

  @Test func whatIsShownDoesWhatIsSaid() async throws {
    let configuration = Store.Configuration.memory(models: Guide.PermissionChange.self, Guide.Grant.self, MessageReceipt.self)
    let store = try Store(configuration)
    let (handler, change) = try await Guide.page(configuration, store)
    #expect(change.status == .success && store.objects(Guide.Grant.self).map(\.userID) == ["jane"])
    handler.stop()
  }
}
