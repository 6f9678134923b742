import Foundation
import StoreMessages
import Vivarium

/// What a device asks.
@Model final class Question: Message {
  @PrimaryKey var number = 0
  @Indexed var status: MessageStatus = .notProcessed
  var statusCode: Int?
  var statusMessage: String?
  var createdAt = Date()
  var updatedAt = Date()

  /// How often it was answered.
  var answers = 0
}

/// Written with each answer, in the same transaction: a second one would show, and so would one without its answer.
@Model final class Reply {
  var question = 0
}
