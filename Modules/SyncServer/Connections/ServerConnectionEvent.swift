import SyncModel
import SyncProtocol

/// Names one session of a connection, also after another one has its number.
public struct SessionKey: Hashable, Sendable {
  let session: UInt32
  let serial: UInt64
}

/// What can happen to a connection of a server.
public enum ServerConnectionEvent: Sendable {
  /// A part came.
  case received([UInt8])
  /// The other side is gone.
  case disconnected
  /// The answer to `.verify`.
  case verified(Result<SyncIdentity, SyncRefusal>)
  /// The answer to `.bind`.
  case bound(SessionKey, Result<(StoreGrant, Standing), SyncRefusal>)
  /// The answer to `.commit`, one outcome for each upload.
  case committed(SessionKey, Result<[UploadOutcome], ServerStoreError>)
  /// The answer to `.acknowledge`.
  case acknowledged(SessionKey, Result<Void, ServerStoreError>)
  /// The answer to `.readEntries`.
  case entries(SessionKey, Result<LogPage, ServerStoreError>)
  /// The answer to `.readObjects`.
  case objects(SessionKey, Result<StatePage, ServerStoreError>)
  /// The answer to `.readHead`.
  case head(SessionKey, mark: UInt64, Result<Seq, ServerStoreError>)
  /// A store has got an entry, or may have.
  case news(SessionKey)
  /// Whether the client takes what is sent to it: while it does not, no more is read for it, whatever it has granted.
  case room(Bool)
  /// A timer rang.
  case timer(ServerConnectionTimer)
  /// The server ends: the client is to come back after so many seconds.
  case drain(seconds: UInt64)
  /// The user may not go on.
  case expel(SyncRefusal)
  /// The user may do something else in a store than before.
  case granted(SessionKey, StoreGrant)
}

/// What a connection waits for.
public enum ServerConnectionTimer: Hashable, Sendable {
  /// That it says something.
  case silence
  /// The end of its token.
  case expiry
}

/// What is to be done for a connection, in the order in which it is given; what is asked of the store may go on beside the rest, and its
/// answer comes as an event.
public enum ServerConnectionEffect: Sendable {
  /// Send these parts.
  case send([[UInt8]])
  /// End the connection, after what was to be sent.
  case close
  /// Find out whose token it is.
  case verify(token: String)
  /// Find out what the user may do and bind the replica, and tell of the store's news from then on.
  case bind(SessionKey, StorePath, Bind, SyncIdentity)
  /// Tell no more of the store.
  case unbind(SessionKey, StorePath)
  /// Have uploads judged and taken in.
  case commit(SessionKey, ReplicaOfStore, [Upload], refusalSeen: Seq, mayWrite: Bool)
  /// Note how far a replica is.
  case acknowledge(SessionKey, ReplicaOfStore, Acknowledgement)
  /// Read entries of the log.
  case readEntries(SessionKey, ReplicaOfStore, after: Seq, limitBytes: Int)
  /// Read objects.
  case readObjects(SessionKey, StorePath, changedAfter: Seq, behind: ObjectIdentity?, limitBytes: Int)
  /// Read the number of the last entry.
  case readHead(SessionKey, StorePath, mark: UInt64)
  /// Ring at a time.
  case wake(ServerConnectionTimer, at: Int64)
}

/// A replica in its store.
public struct ReplicaOfStore: Hashable, Sendable {
  /// Where.
  public let path: StorePath
  /// Who.
  public let replica: ReplicaID
}

/// How a server treats its connections.
public struct ServerConnectionConfiguration: Hashable, Sendable {
  /// What is taken as a message.
  public var limits = FrameLimits()
  /// Bytes of changesets that a session may have under way.
  public var uploadWindow: UInt64 = 1 << 20
  /// Bytes of one transaction of a replica, in however many messages.
  public var transactionBytes = 256 << 20
  /// Bytes of entries or objects in one message, about.
  public var pageBytes = 256 << 10
  /// Bytes that may wait to be sent to a client. While more do, nothing is read for it, and it is not listened to.
  public var outgoingBytes = 8 << 20
  /// Milliseconds that a client has to take the last words of a connection that has ended.
  public var farewellTime: Int64 = 10_000
  /// Seconds between pings of the client. One that says nothing for three times as long is taken for gone.
  public var pingSeconds: UInt64 = 30
  /// Milliseconds within which a new connection has to say who it is.
  public var greetingTime: Int64 = 10_000
  /// Milliseconds before the end of a token at which the client is told.
  public var expiryNotice: Int64 = 60_000
  /// Stores on one connection.
  public var sessions = 64

  /// The usual.
  public init() {}
}
