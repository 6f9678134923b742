import SyncModel
import SyncProtocol

/// Why a server's store did not do what it was asked.
public struct ServerStoreError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What happened, for programs.
  public enum Code: String, Hashable, Sendable {
    /// There is no store at the path.
    case unknownStore
    /// There is one already.
    case storeExists
    /// Another secret or user has the replica.
    case replicaTaken
    /// The replica never bound, or was away for longer than the store remembers.
    case replicaExpired
    /// The entries that were asked for are gone: take objects instead.
    case logTruncated
    /// Another holder has the handler's lease, or the own one has ended.
    case leaseLost
    /// What a handler wrote cannot be taken in as a whole.
    case writesRefused
    /// The data cannot be reached or written.
    case unavailable
  }

  /// What happened, for programs.
  public let code: Code
  /// One sentence.
  public let message: String

  /// An error of its parts.
  public init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

  /// What the other side of a session is told.
  public var syncCode: SyncErrorCode {
    switch code {
    case .unknownStore: .unknownStore
    case .storeExists, .leaseLost, .unavailable: .storageUnavailable
    case .replicaTaken: .replicaTaken
    case .writesRefused: .invalidChange
    case .replicaExpired, .logTruncated: .replicaExpired
    }
  }

  /// What helps.
  public var remedy: String { syncCode.remedy }
  public var description: String { "\(message) \(remedy)" }
}
