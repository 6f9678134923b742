import SyncModel
import SyncProtocol

/// The pending changesets of one write, or one void changeset.
package enum OutboxEntry: Hashable, Sendable {
  /// All changesets of the write, which belong together, and their size in bytes.
  case write([Changeset], bytes: Int)
  case void(clientSeq: UInt64, objects: [ObjectIdentity])

  /// The number of its last changeset.
  var clientSeq: UInt64 {
    switch self {
    case .write(let changesets, _): changesets.last?.clientSeq ?? 0
    case .void(let clientSeq, _): clientSeq
    }
  }
}

/// An event for a session.
package enum SyncSessionEvent: Sendable {
  /// The app starts the session.
  case start
  case stop
  case network(isThere: Bool)
  /// The app came to the front: a waiting attempt is made at once.
  case foreground
  /// A token; nil if somebody must log in; the refused one, or the one that ends, if a new one cannot be had now.
  case token(String?)
  case connected
  case disconnected
  /// A message, and its size in bytes, inflated.
  case received(ServerMessage, bytes: Int)
  /// A part of a longer message came; or the connection took a part to send, and more waits behind it. Of one with nothing behind it,
  /// nobody knows whether it lies in the buffers of a dead connection.
  case moved
  case timer(SyncSessionTimer, generation: UInt64)
  /// The answer to `.readStanding`.
  case standing(LocalStanding)
  /// The answer to `.reset`, once that is done. An event of its own: while a file begins anew, what an ended connection had asked for may
  /// still be answered.
  case begunAnew(LocalStanding)
  /// The app wrote something, durably.
  case written
  /// The answer to `.readOutbox`: the oldest changesets after the given number, in order.
  case outbox([OutboxEntry], reading: UInt64)
  /// The answer to `.stage`: the pages are on the disk.
  case staged(generation: UInt64)
  /// The answer to `.integrate` and `.take`: the content is in the file, durably.
  case integrated(LocalStanding, generation: UInt64)
  /// The file could not be read or written.
  case failedLocally
  /// The file's schema cannot hold what came, for the reason given. Nothing of it was written.
  case schemaDiffers(String)
  /// The app asks for `.reached` once everything that the server has now is in the file.
  case mark(UInt64)
  /// The app no longer waits for a mark.
  case unmark(UInt64)
}

/// A timer of a session.
package enum SyncSessionTimer: Hashable, Sendable {
  case retry
  case upload
  case acknowledge
  case ping
  case pong
  /// For another token, in place of one that ends.
  case renewal
}

/// An effect to perform for a session, in the given order.
package enum SyncSessionEffect: Hashable, Sendable {
  /// Get a token; a new one if the last was refused.
  case getToken(isNew: Bool)
  case readStanding
  case connect
  case disconnect
  case send(ClientMessage)
  /// Send a timer event with the generation at a time.
  case wake(SyncSessionTimer, at: Int64, generation: UInt64)
  /// Read the pending changesets after a number: whole writes, about this many bytes and at least one write.
  case readOutbox(after: UInt64, bytes: Int, reading: UInt64)
  /// Integrate the entries in one commit, and make it durable.
  case integrate([LogEntry], generation: UInt64)
  /// Put pages aside on the disk, behind those that the file has already; it shows nothing of them. Also for a connection that has ended:
  /// the next one goes on behind them.
  case stage([StatePage], behind: StagedPages, generation: UInt64)
  /// Remove what was put aside. Not answered.
  case dropPages
  /// Take the pages in one commit, with as many before them as were put aside, and make it durable.
  case take([StatePage], Bound, behind: Int = 0, generation: UInt64)
  /// The server's clock, in milliseconds since 1970: later stamps follow it. A time that no clock can show is not passed on.
  case setServerTime(UInt64)
  /// Begin anew (`RemoteChanges.beginAnew`): with the server's state, and the pending changes redone.
  case reset(SyncResetCause)
  /// Report an error of the server to the app: a refused write, or a protocol error.
  case tell(SyncErrorCode, text: String)
  /// Everything that the server had when the app asked is in the file.
  case reached(mark: UInt64)
  /// The state has changed.
  case report(SyncSession.State)
}

/// Why a file begins anew.
package enum SyncResetCause: Hashable, Sendable {
  /// The server has another history, or this replica's id is another file's or used up: the file goes on as another replica.
  case otherHistory
  /// The server's objects differ from the file's, though the history is the same.
  case objectsDiffer
  /// The server refuses the stamps of the pending changes: they are ahead of its clock, or from before what everybody has forgotten.
  case clock

  package var makesNewReplica: Bool { self == .otherHistory }
}
