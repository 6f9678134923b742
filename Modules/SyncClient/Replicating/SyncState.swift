import SyncProtocol

/// Where the replication of a file stands.
public enum SyncState: Hashable, Sendable {
  /// It was not started, or was stopped.
  case off
  /// Another process, or another replicator of this one, replicates the file. This one takes over when that ends.
  case elsewhere
  /// There is no network.
  case waitingForNetwork
  /// The last try failed; the next one comes by itself.
  case waiting
  /// The server has not shown that it is the right one: see the error's remedy. It is tried again by itself.
  case untrusted(TransportError)
  /// A connection is being made.
  case connecting
  /// The server's objects are on their way.
  case downloading
  /// What happens on either side comes to the other as it happens.
  case live
  /// The file takes the server's objects, and does again on top of them what the server does not have.
  case beginningAnew
  /// It goes on when the app has done something about it: see the error's remedy.
  case suspended(SyncError)

  /// - Parameter problem: what the server said last, which explains why it stopped.
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

/// What a replicator has to say to its app. Nothing of it needs an answer, except what a suspension asks for.
public enum SyncNotice: Sendable {
  /// It stands elsewhere now.
  case state(SyncState)
  /// The server has refused something, or did not behave. A refused write was undone here already.
  case problem(SyncError)
  /// There is no way to the server now; it is tried again.
  case unreachable(TransportError)
  /// The server's past is another one, and the app is to say what becomes of what waits: `Replicator.reset`. Only in `ResetMode.manual`.
  case resetNeeded
  /// The file could not be read or written; it is tried again.
  case file(any Error)
}

/// What a server says is wrong.
public struct SyncError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What it is, for programs.
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

/// Gives a user's tokens to replicators.
public protocol SyncCredentials: Sendable {
  /// A token for the server; nil where somebody has to log in first (`Replicator.retry`).
  ///
  /// - Parameter isNew: whether the last one was refused, or ends.
  func token(isNew: Bool) async -> String?
}

/// One token that does not change.
public struct FixedToken: SyncCredentials {
  private let text: String

  /// A token as the server gave it.
  public init(_ text: String) { self.text = text }

  public func token(isNew: Bool) async -> String? { isNew ? nil : text }
}
