import Foundation
import Vivarium

/// The state of a message.
public enum MessageStatus: Int, PersistableEnum {
  /// Not handled yet.
  case notProcessed = 0
  /// Handled.
  case success = 1
  /// Rejected, or failed as often as the rules allow: a dead letter.
  case error = 2
}

/// An object that one process puts into a shared store and another process handles: the request, its state and the answer are
/// properties of one live object.
///
/// ```swift
/// @Model final class PermissionChange: Message {
///   @PrimaryKey var id = UUID()
///   @Indexed var status: MessageStatus = .notProcessed
///   var statusCode: Int?
///   var statusMessage: String?
///   var createdAt = Date()
///   var updatedAt = Date()
///
///   var userID = ""
///   var mayRead = false
/// }
/// ```
///
/// The handler sets `status` in the write that has the effect. The sender observes the object and is notified. An index on `status`
/// keeps finding the next message cheap, however many were handled.
public protocol Message: Model {
  /// Whether the message was handled, and how.
  var status: MessageStatus { get set }
  /// The kind of answer or error, for programs.
  var statusCode: Int? { get set }
  /// An explanation, for people.
  var statusMessage: String? { get set }
  /// When it was created, by the sender's clock.
  var createdAt: Date { get }
  /// When `status` was last set, by the clock of the process that set it.
  var updatedAt: Date { get set }
}

extension Message {
  /// Marks the message as handled. In a write.
  public func succeed(code: Int? = nil, message: String? = nil, at time: Date = Date()) {
    settle(.success, code, message, time)
  }

  /// Marks the message as rejected. In a write.
  public func fail(code: Int? = nil, message: String? = nil, at time: Date = Date()) {
    settle(.error, code, message, time)
  }

  private func settle(_ status: MessageStatus, _ code: Int?, _ message: String?, _ time: Date) {
    self.status = status
    statusCode = code
    statusMessage = message
    updatedAt = time
  }
}
