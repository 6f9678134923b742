import SyncProtocol

/// The state of a file's replication.
public enum SyncState: Hashable, Sendable {
  /// Not started, or stopped.
  case off
  /// Another process, or another replicator of this one, replicates the file. This one takes over when that ends.
  case elsewhere
  /// There is no network.
  case waitingForNetwork
  /// The last attempt failed; the next follows automatically.
  case waiting
  /// The server's identity could not be verified: see the error's remedy. The next attempt follows automatically.
  case untrusted(TransportError)
  /// The file could not be read or written, for example because the disk is full: see the error's remedy. Nothing is lost, and the next
  /// attempt follows automatically.
  case fileUnavailable(SyncFileError)
  /// A connection is being made.
  case connecting
  /// The server's objects are being received.
  case downloading
  /// Changes reach the other side as they happen.
  case live
  /// The file takes the server's objects, and redoes on top of them the changes that the server does not have.
  case beginningAnew
  /// Stopped until somebody acts: see the error's remedy. Where rights or the store have to change, it is tried again by itself after 5
  /// minutes, then ever later, at last once an hour; otherwise only on `Replicator.retry`.
  case suspended(SyncError)

  /// - Parameter problem: the last error from the server, which explains why it stopped.
  init(_ state: SyncSession.State, _ problem: SyncError? = nil) {
    switch state {
    case .off: self = .off
    case .waitingForNetwork: self = .waitingForNetwork
    case .waiting: self = .waiting
    case .gettingToken, .connecting, .greeting, .binding: self = .connecting
    case .fetching: self = .downloading
    case .live: self = .live
    case .resetting: self = .beginningAnew
    case .suspended(.login):
      self = .suspended(problem?.code.reaction == .renewToken ? problem ?? SyncError(.tokenInvalid, "") : SyncError(.tokenInvalid, ""))
    case .suspended(.denied(let code)), .suspended(.schema(let code)):
      self = .suspended(problem?.code == code ? problem ?? SyncError(code, "") : SyncError(code, ""))
    }
  }
}

/// A notice from a replicator to its app. None needs an answer, except for what a suspension or `resetNeeded` asks.
public enum SyncNotice: Sendable {
  /// The state has changed.
  case state(SyncState)
  /// The server refused something, or misbehaved. A refused write has already been undone here.
  case problem(SyncError)
  /// The server cannot be reached now; the next attempt follows automatically.
  case unreachable(TransportError)
  /// The server's history is another, and the app must decide about pending changes: `Replicator.reset`. Only in `ResetMode.manual`.
  case resetNeeded
  /// The file could not be read or written; the next attempt follows automatically, and until then the state is `.fileUnavailable`.
  case file(any Error)
}

/// An error reported by the server.
public struct SyncError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What happened, as a code.
  public let code: SyncErrorCode
  /// What the server found.
  public let text: String

  init(_ code: SyncErrorCode, _ text: String) { (self.code, self.text) = (code, text) }

  /// What happened.
  public var message: String { text.isEmpty ? code.message : "\(code.message) \(text)" }
  /// What helps.
  public var remedy: String { code.remedy }
  public var description: String { "\(message) \(remedy)" }
}

/// Provides a user's tokens to replicators.
public protocol SyncCredentials: Sendable {
  /// A token for the server; nil if somebody must log in first (`Replicator.retry`). The last one again if there is no new one now, for
  /// example because the server that gives them cannot be reached: it is asked for again later.
  ///
  /// - Parameter isNew: whether the last token was refused, or is about to expire.
  func token(isNew: Bool) async -> String?
}

/// One token that does not change.
public struct FixedToken: SyncCredentials {
  private let text: String

  /// Creates credentials from a token made by the server.
  public init(_ text: String) { self.text = text }

  public func token(isNew: Bool) async -> String? { isNew ? nil : text }
}
