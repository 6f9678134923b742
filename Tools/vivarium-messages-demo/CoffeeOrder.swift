import Foundation
import StoreMessages
import Vivarium

/// What a phone asks. The order, its state and the answer are one object.
@Model final class CoffeeOrder: Message {
  @PrimaryKey var id = UUID()
  @Indexed var status: MessageStatus = .notProcessed
  var statusCode: Int?
  var statusMessage: String?
  var createdAt = Date()
  var updatedAt = Date()

  var drink = ""
}

/// What the server writes beside its answer, in the same transaction: it shows how often an order was served.
@Model final class Cup {
  var drink = ""
}
