import SyncModel
import SyncProtocol

/// Why a call of a server's store failed.
public struct ServerStoreError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What happened, as a code.
  public enum Code: String, Hashable, Sendable, CaseIterable {
    /// No store exists at the path.
    case unknownStore
    /// A store already exists at the path.
    case storeExists
    /// The replica belongs to another secret or user.
    case replicaTaken
    /// The replica never bound, or was away for longer than the store remembers.
    case replicaExpired
    /// A declaration of types does not fit an earlier one.
    case schemaConflict
    /// The requested entries are gone: take objects instead.
    case logTruncated
    /// The store has another history than the one that was asked for.
    case historyChanged
    /// The store, or the user's part of it, has as much as it may have.
    case quotaExceeded
    /// Another process holds the handler's lease, or the lease has expired.
    case leaseLost
    /// The handler was removed while a process ran it, which must not begin it anew.
    case handlerRemoved
    /// The writes of a handler cannot be committed as a whole.
    case writesRefused
    /// The data cannot be read or written.
    case unavailable
  }

  /// What happened, as a code.
  public let code: Code
  /// One sentence. That of `.unavailable` is for the operator: it also says what helps, and may name files, hosts and users.
  public let message: String

  /// Creates an error.
  public init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

  /// The code sent to the other side of a session, which it ends: never one of those with which a single change is refused, after which a
  /// client would go on with a session that the server has dropped.
  public var syncCode: SyncErrorCode {
    switch code {
    case .unknownStore: .unknownStore
    case .storeExists, .leaseLost, .handlerRemoved, .writesRefused, .unavailable: .storageUnavailable
    case .schemaConflict: .schemaConflict
    case .historyChanged: .historyChanged
    case .quotaExceeded: .quotaExceeded
    case .replicaTaken: .replicaTaken
    case .replicaExpired, .logTruncated: .replicaExpired
    }
  }

  /// What helps whoever runs the server.
  public var remedy: String { code == .unavailable ? "Clients come back by themselves once that is mended." : syncCode.remedy }
  public var description: String { "\(message) \(remedy)" }
}
