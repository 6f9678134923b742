import Foundation
import StoreMessages
import Vivarium

/// An offer of rights on a store to everybody who has its token. Add it to your own management store: the server writes the token into
/// it. Pass the token on in any way; the recipient accepts the offer by a `SyncPermissionOfferResponse`.
///
/// Until it expires, several users can accept it, but only while its author may still grant these rights.
@Model public final class SyncPermissionOffer: Message {
  @PrimaryKey public var id = UUID()
  @Indexed public var status: MessageStatus = .notProcessed
  public var statusCode: Int?
  public var statusMessage: String?
  public var createdAt = Date()
  public var updatedAt = Date()

  /// The store, as in `SyncPermissionChange.storeURL`.
  public var storeURL = ""
  /// Whether the recipient may read the store.
  public var mayRead = false
  /// Whether the recipient may change the store.
  public var mayWrite = false
  /// Whether the recipient may grant rights on the store.
  public var mayManage = false
  /// When the offer expires, by the server's clock; nil if never.
  public var expiresAt: Date?
  /// The token to pass on; nil until the server has made it. Whoever has it can accept the offer.
  public var token: String?

  /// Creates an offer.
  public init(storeURL: String, mayRead: Bool = true, mayWrite: Bool = false, mayManage: Bool = false, expiresAt: Date? = nil) {
    (self.storeURL, self.expiresAt) = (storeURL, expiresAt)
    (self.mayRead, self.mayWrite, self.mayManage) = (mayRead, mayWrite, mayManage)
  }
}

/// Accepts an offer by its token. Add it to your own management store: the server writes the store's path into it.
@Model public final class SyncPermissionOfferResponse: Message {
  @PrimaryKey public var id = UUID()
  @Indexed public var status: MessageStatus = .notProcessed
  public var statusCode: Int?
  public var statusMessage: String?
  public var createdAt = Date()
  public var updatedAt = Date()

  /// The value of `SyncPermissionOffer.token`.
  public var token = ""
  /// The path of the store that the user may use from now on; nil until the server has accepted.
  public var storeURL: String?

  /// Creates a response.
  public init(token: String) { self.token = token }
}
