import SyncModel
import SyncProtocol

/// The changesets of one write that wait, or one that is void.
package enum OutboxEntry: Hashable, Sendable {
  /// All changesets of the write, with their bytes: they go together.
  case write([Changeset], bytes: Int)
  case void(clientSeq: UInt64, objects: [ObjectIdentity])

  /// The last number of it.
  var clientSeq: UInt64 {
    switch self {
    case .write(let changesets, _): changesets.last?.clientSeq ?? 0
    case .void(let clientSeq, _): clientSeq
    }
  }
}

/// What can happen to a session.
package enum SyncSessionEvent: Sendable {
  /// The app wants it.
  case start
  case stop
  case network(isThere: Bool)
  /// The app came to the front: what waits is tried at once.
  case foreground
  /// A token; nil where there is none to be had.
  case token(String?)
  case connected
  case disconnected
  /// A message, and how many bytes it was, unpacked.
  case received(ServerMessage, bytes: Int)
  case timer(SyncSessionTimer, generation: UInt64)
  /// The answer to `.readStanding`, and to `.reset` when that is done.
  case standing(LocalStanding)
  /// The app wrote something, durably.
  case written
  /// The answer to `.readOutbox`: the oldest after the number that was asked for, in order.
  case outbox([OutboxEntry], reading: UInt64)
  /// The answer to `.integrate` and `.take`: it is in the file, durably.
  case integrated(LocalStanding, generation: UInt64)
  /// The file could not be read or written.
  case failedLocally
  /// The app wants to know when everything that the server has now is in the file: `.reached` says so.
  case mark(UInt64)
}

/// What a session waits for.
package enum SyncSessionTimer: Hashable, Sendable {
  case retry
  case upload
  case ping
  case pong
}

/// What is to be done for a session, in the order in which it is given.
package enum SyncSessionEffect: Hashable, Sendable {
  /// Get a token; a new one where the last was refused.
  case getToken(isNew: Bool)
  case readStanding
  case connect
  case disconnect
  case send(ClientMessage)
  /// Ring at a time, with the generation.
  case wake(SyncSessionTimer, at: Int64, generation: UInt64)
  /// Read what waits after a number, whole writes, about so many bytes and at least one.
  case readOutbox(after: UInt64, bytes: Int, reading: UInt64)
  /// Take these entries into the file in one commit, and make it durable.
  case integrate([LogEntry], generation: UInt64)
  /// Take these pages into the file in one commit, and make it durable.
  case take([StatePage], Bound, generation: UInt64)
  /// The server's clock, in milliseconds since 1970: what is stamped from now on goes by it.
  case setServerTime(UInt64)
  /// Begin anew (`RemoteChanges.beginAnew`): with the server's state, and what waits as new changes; as another replica where this one's
  /// number is spent.
  case reset(asNewReplica: Bool)
  /// The server wants the app to know: a refused write, a fault of the protocol.
  case tell(SyncErrorCode, text: String)
  /// Everything that the server had when the app asked is in the file.
  case reached(mark: UInt64)
  /// The state is another one.
  case report(SyncSession.State)
}
