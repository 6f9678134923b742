import Foundation
import Vivarium

/// How far a message is.
public enum MessageStatus: Int, PersistableEnum {
  /// Nobody has dealt with it yet.
  case notProcessed = 0
  /// It was dealt with.
  case success = 1
  /// It was refused, or failed as often as it was to be tried: a dead letter.
  case error = 2
}

/// An object that one process drops into a shared store and another one deals with: the request, its state and the answer
/// are the properties of one live object.
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
/// Whoever deals with it sets `status` in the write that has the effect. The sender observes the object and is notified.
/// An index on `status` keeps finding the next message cheap however many were processed.
public protocol Message: Model {
  /// Whether it was dealt with, and how.
  var status: MessageStatus { get set }
  /// For programs: what went wrong, or the kind of answer.
  var statusCode: Int? { get set }
  /// For people.
  var statusMessage: String? { get set }
  /// When it was made, by the clock of whoever sent it.
  var createdAt: Date { get }
  /// When `status` was last set, by the clock of whoever did.
  var updatedAt: Date { get set }
}

extension Message {
  /// Says that the message was dealt with. In a write.
  public func succeed(code: Int? = nil, message: String? = nil, at time: Date = Date()) {
    settle(.success, code, message, time)
  }

  /// Says that the message was refused. In a write.
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
