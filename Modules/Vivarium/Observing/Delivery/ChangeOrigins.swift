import Notifications

/// Where the commits of a change were made; several, when others lie in one change set.
public struct ChangeOrigins: OptionSet, Sendable, Hashable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The store whose observer is notified.
  public static let ownStore = ChangeOrigins(rawValue: 1)
  /// Another store of this process, and those in which asynchronous writes run.
  public static let otherStore = ChangeOrigins(rawValue: 2)
  /// Another process, or one that was before this.
  public static let otherProcess = ChangeOrigins(rawValue: 4)
  /// Another replica of the store, on another device mostly.
  public static let otherReplica = ChangeOrigins(rawValue: 8)

  /// - Parameter own: the origin of the store that is notified.
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
