import Foundation
import StoreMessages
import Vivarium

/// A wish that somebody may do something in a store, dropped into one's management store: the server deals with it, and writes back what
/// became of it.
///
/// ```swift
/// let management = try user.managementStore(.lmdb(folder.appending(path: "management")), connector: connector)
/// let change = SyncPermissionChange(storeURL: "/~/tasks", userID: "bob", mayRead: true, mayWrite: true)
/// try management.write { try management.add(change) }
/// let token = change.observe { _ in print(change.status, change.statusMessage ?? "") }
/// ```
///
/// Whoever asks has to own the store, to have the right to manage it, or to be an administrator. The names are those of Realm's server.
@Model public final class SyncPermissionChange: Message {
  @PrimaryKey public var id = UUID()
  @Indexed public var status: MessageStatus = .notProcessed
  public var statusCode: Int?
  public var statusMessage: String?
  public var createdAt = Date()
  public var updatedAt = Date()

  /// The store: "/shared/shop", "/~/tasks" for one's own, or an address that ends so ("wss://sync.example.org/~/tasks"). One that ends
  /// in "/*" is all stores below.
  public var storeURL = ""
  /// Who; "*" for everybody who is let in.
  public var userID = ""
  /// Whether the store may be read; nil leaves that as it is.
  public var mayRead: Bool?
  /// Whether it may be changed; nil leaves that as it is.
  public var mayWrite: Bool?
  /// Whether rights on it may be given; nil leaves that as it is.
  public var mayManage: Bool?

  /// A wish of its parts.
  public init(storeURL: String, userID: String, mayRead: Bool? = nil, mayWrite: Bool? = nil, mayManage: Bool? = nil) {
    (self.storeURL, self.userID) = (storeURL, userID)
    (self.mayRead, self.mayWrite, self.mayManage) = (mayRead, mayWrite, mayManage)
  }
}
