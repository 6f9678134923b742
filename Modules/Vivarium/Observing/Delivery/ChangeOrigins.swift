import Notifications

/// Where the commits of a change were made; several if a change set covers several commits.
public struct ChangeOrigins: OptionSet, Sendable, Hashable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The notified store itself.
  public static let ownStore = ChangeOrigins(rawValue: 1)
  /// Another store of this process, including the stores that run asynchronous writes.
  public static let otherStore = ChangeOrigins(rawValue: 2)
  /// Another process, including earlier ones.
  public static let otherProcess = ChangeOrigins(rawValue: 4)
  /// Another replica of the store, usually on another device.
  public static let otherReplica = ChangeOrigins(rawValue: 8)

  /// - Parameter own: the origin of the notified store.
  init(_ sources: CommitSources, own: UInt64) {
    self = []
    for origin in sources.origins {
      if origin == own {
        insert(.ownStore)
      } else if origin == StoreOrigin.remote {
        insert(.otherReplica)
      } else if StoreOrigin.isOfThisProcess(origin) {
        insert(.otherStore)
      } else {
        insert(.otherProcess)
      }
    }
  }
}
