import Foundation
import StorageMemory
import StoreMessages
import Testing
import Vivarium

/// A request that stays while something is lent for it.
@Model final class Loan: Message {
  @PrimaryKey var number = 0
  @Indexed var status: MessageStatus = .notProcessed
  var statusCode: Int?
  var statusMessage: String?
  var createdAt = Date()
  var updatedAt = Date()
  @Relationship(deleteRule: .deny) var books: LiveList<Book>
}

@Model final class Book { var title = "" }

@Suite @MainActor struct RetentionTests {
  @Test(.timeLimit(.minutes(10))) func aMessageThatARuleKeepsStaysAndHoldsNobodyUp() async throws {
    let store = try Store(.memory(models: Loan.self, Book.self, MessageReceipt.self))
    var rules = HandlingRules()
    rules.retention = .init(count: 1)
    let handler = try MessageHandler.handle(Loan.self, named: "a", in: store.configuration, rules: rules) { loan, store in
      if loan.number == 1 { loan.books.append(Book(title: "Emma")) }
    }
    for number in 1...3 { try await store.send(Loan(number: number), timeout: .seconds(200)) }
    #expect(store.objects(Loan.self).map(\.number) == [1, 3] && store.objects(Book.self).count == 1)
    #expect(store.objects(Loan.self).allSatisfy { $0.status == .success })
    handler.stop()
  }
}
