import Foundation
import StoreMessages
import Vivarium

/// An offer of rights on a store to whoever has its token: dropped into one's management store, it comes back with the token, which
/// is handed on by any way there is, and accepted by `SyncPermissionOfferResponse`.
///
/// It can be accepted until it ends, by several, and only while who has made it may still give these rights.
@Model public final class SyncPermissionOffer: Message {
  @PrimaryKey public var id = UUID()
  @Indexed public var status: MessageStatus = .notProcessed
  public var statusCode: Int?
  public var statusMessage: String?
  public var createdAt = Date()
  public var updatedAt = Date()

  /// As `SyncPermissionChange.storeURL`.
  public var storeURL = ""
  /// Whether the store may be read.
  public var mayRead = false
  /// Whether it may be changed.
  public var mayWrite = false
  /// Whether rights on it may be given.
  public var mayManage = false
  /// When it ends, by the server's clock; nil for one that does not.
  public var expiresAt: Date?
  /// What is handed on; nil until the server has made it. Whoever has it can accept the offer.
  public var token: String?

  /// An offer of its parts.
  public init(storeURL: String, mayRead: Bool = true, mayWrite: Bool = false, mayManage: Bool = false, expiresAt: Date? = nil) {
    (self.storeURL, self.expiresAt) = (storeURL, expiresAt)
    (self.mayRead, self.mayWrite, self.mayManage) = (mayRead, mayWrite, mayManage)
  }
}

/// Takes an offer, by its token: dropped into one's own management store, it comes back with the store.
@Model public final class SyncPermissionOfferResponse: Message {
  @PrimaryKey public var id = UUID()
  @Indexed public var status: MessageStatus = .notProcessed
  public var statusCode: Int?
  public var statusMessage: String?
  public var createdAt = Date()
  public var updatedAt = Date()

  /// What `SyncPermissionOffer.token` was.
  public var token = ""
  /// The path of the store that may be used from now on; nil until the server has said so.
  public var storeURL: String?

  /// A response of its parts.
  public init(token: String) { self.token = token }
}
