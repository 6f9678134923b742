import SyncModel
import SyncProtocol

/// Identifies a session of a connection, even after another one has taken its number.
public struct SessionKey: Hashable, Sendable {
  let session: UInt32
  let serial: UInt64
}

/// An event for a connection of a server.
public enum ServerConnectionEvent: Sendable {
  /// A part was received.
  case received([UInt8])
  /// The connection was lost.
  case disconnected
  /// The answer to `.verify`.
  case verified(Result<SyncIdentity, SyncRefusal>)
  /// The answer to `.bind`.
  case bound(SessionKey, Result<(StoreGrant, Standing), SyncRefusal>)
  /// The answer to `.commit`, one outcome for each upload.
  case committed(SessionKey, Result<[UploadOutcome], ServerStoreError>)
  /// The answer to `.commit` where the store has no room for all uploads: one outcome for each of those before, and the reason.
  case committedInPart(SessionKey, [UploadOutcome], ServerStoreError)
  /// The answer to `.declare`: all that was declared.
  case declared(SessionKey, Result<SyncSchema, ServerStoreError>)
  /// The answer to `.acknowledge`.
  case acknowledged(SessionKey, Result<Void, ServerStoreError>)
  /// The answer to `.readEntries`.
  case entries(SessionKey, Result<LogPage, ServerStoreError>)
  /// The answer to `.readObjects`.
  case objects(SessionKey, Result<StatePage, ServerStoreError>)
  /// The answer to `.readHead`.
  case head(SessionKey, mark: UInt64, Result<Seq, ServerStoreError>)
  /// A store has, or may have, a new entry.
  case news(SessionKey)
  /// The connection has taken as many bytes of what is to be sent. While too many wait, nothing is read for the client, whatever credit it
  /// has granted.
  case taken(Int)
  /// A timer fired.
  case timer(ServerConnectionTimer)
  /// The server shuts down: the client shall reconnect after this many seconds.
  case drain(seconds: UInt64)
  /// The user may not continue.
  case expel(SyncRefusal)
  /// The user's rights on a store have changed.
  case granted(SessionKey, StoreGrant)
}

/// A timer of a connection.
public enum ServerConnectionTimer: Hashable, Sendable {
  /// For a client that sends nothing.
  case silence
  /// For the end of the token.
  case expiry
}

/// An effect to perform for a connection, in the given order. Store operations may run concurrently with the rest; their answers come as
/// events.
public enum ServerConnectionEffect: Sendable {
  /// Send the parts.
  case send([[UInt8]])
  /// Close the connection after everything was sent.
  case close
  /// Verify a token.
  case verify(token: String)
  /// Determine the user's rights and bind the replica; report the store's news from then on.
  case bind(SessionKey, StorePath, Bind, SyncIdentity)
  /// Stop reporting the store's news.
  case unbind(SessionKey, StorePath)
  /// Judge uploads and commit those that pass.
  case commit(SessionKey, ReplicaOfStore, [Upload], refusalSeen: Seq, mayWrite: Bool)
  /// Add to what is declared of a store's types.
  case declare(SessionKey, StorePath, SyncSchema)
  /// Store the progress of a replica.
  case acknowledge(SessionKey, ReplicaOfStore, Acknowledgement)
  /// Read entries of the log.
  case readEntries(SessionKey, ReplicaOfStore, after: Seq, limitBytes: Int)
  /// Read objects of the store with this history.
  case readObjects(SessionKey, StorePath, of: [UInt8], changedAfter: Seq, behind: ObjectIdentity?, limitBytes: Int)
  /// Read the number of the last entry.
  case readHead(SessionKey, StorePath, mark: UInt64)
  /// Fire a timer at a time.
  case wake(ServerConnectionTimer, at: Int64)
}

/// A replica of a store.
public struct ReplicaOfStore: Hashable, Sendable {
  /// The store.
  public let path: StorePath
  /// The replica.
  public let replica: ReplicaID
}

/// The parameters of a server's connections.
public struct ServerConnectionConfiguration: Hashable, Sendable {
  /// The limits of messages.
  public var limits = FrameLimits()
  /// The maximal number of bytes of changesets under way in a session.
  public var uploadWindow: UInt64 = 1 << 20
  /// The maximal number of bytes of one transaction, in any number of messages.
  public var transactionBytes = 256 << 20
  /// The maximal number of bytes of changesets that wait on all connections of a host. With more, a connection that sends on, and on which
  /// more than two upload windows wait, is ended for a while: so nobody can fill the memory with transactions that are never complete.
  public var allUploadBytes = 1 << 30
  /// The approximate number of bytes of entries or objects in one message.
  public var pageBytes = 256 << 10
  /// The maximal number of bytes that may wait to be sent to a client. While more do, nothing is read for it or from it, and nothing is
  /// sent of what was read: so no more than this and a message wait.
  public var outgoingBytes = 8 << 20
  /// Milliseconds in which a client must take the last messages of an ended connection.
  public var farewellTime: Int64 = 10_000
  /// Seconds between the client's pings. A client that is silent for three times as long counts as gone.
  public var pingSeconds: UInt64 = 30
  /// Milliseconds in which a new connection must send its hello.
  public var greetingTime: Int64 = 10_000
  /// Milliseconds before a token expires at which the client is notified.
  public var expiryNotice: Int64 = 60_000
  /// Milliseconds after which rights are checked again if they could not be determined.
  public var recheckTime: Int64 = 1_000
  /// The maximal number of stores on one connection.
  public var sessions = 64
  /// The maximal number of stores that a user makes below his own name, beside his management store; nil for any number. Administrators
  /// make as many as they like, and what is there stays.
  public var storesOfUser: Int?
  /// The maximal number of replicas, devices and their files, that a user may have at one store; a forgotten one does not count. Each holds
  /// back what the store may forget, so nobody may make as many as he likes.
  public var replicasOfUser = 10_000
  /// The maximal number of bytes of a store's log and objects; nil for any number. With more, uploads that add something are refused
  /// (`SyncErrorCode.quotaExceeded`): nothing of them is lost on their device, which is suspended. What is there stays. Uploads that only
  /// take away may exceed it by 1/16, and what a device adds and then takes away by 1/32: so there is a way to make room.
  public var bytesOfStore: Int?
  /// The milliseconds for which a device whose uploads would exceed that is waited for: it may send behind them what takes away.
  public var roomTime: Int64 = 2_000

  /// Creates the default parameters.
  public init() {}
}
