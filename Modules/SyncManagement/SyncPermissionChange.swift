import Foundation
import StoreMessages
import Vivarium

/// A request to change a user's rights on a store. Add it to your own management store: the server processes it, and writes the outcome
/// back.
///
/// ```swift
/// let management = try user.managementStore(.lmdb(folder.appending(path: "management")), connector: connector)
/// let change = SyncPermissionChange(storeURL: "/~/tasks", userID: "bob", mayRead: true, mayWrite: true)
/// try management.write { try management.add(change) }
/// let token = change.observe { _ in print(change.status, change.statusMessage ?? "") }
/// ```
///
/// The author must own the store, have the right to manage it, or be an administrator. The names are those of Realm's server.
@Model public final class SyncPermissionChange: Message {
  @PrimaryKey public var id = UUID()
  @Indexed public var status: MessageStatus = .notProcessed
  public var statusCode: Int?
  public var statusMessage: String?
  public var createdAt = Date()
  public var updatedAt = Date()

  /// The store: "/shared/shop", "/~/tasks" for one's own, or an address that ends so ("wss://sync.example.org/~/tasks"). A path that ends
  /// in "/*" means all stores below it.
  public var storeURL = ""
  /// The user whose rights change; "*" for every user.
  public var userID = ""
  /// Whether the user may read the store; nil leaves that as it is. Who may not read may not write either.
  public var mayRead: Bool?
  /// Whether the user may change the store; nil leaves that as it is.
  public var mayWrite: Bool?
  /// Whether the user may grant rights on the store; nil leaves that as it is.
  public var mayManage: Bool?

  /// Creates a request.
  public init(storeURL: String, userID: String, mayRead: Bool? = nil, mayWrite: Bool? = nil, mayManage: Bool? = nil) {
    (self.storeURL, self.userID) = (storeURL, userID)
    (self.mayRead, self.mayWrite, self.mayManage) = (mayRead, mayWrite, mayManage)
  }
}
