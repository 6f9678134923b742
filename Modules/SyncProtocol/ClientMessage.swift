import SyncModel

/// A message from a client to a server. `session` numbers the stores that share a connection, from 1; the client chooses it.
public enum ClientMessage: Hashable, Sendable {
  /// The first message on each connection.
  case hello(Hello)
  /// A new token for an open connection.
  case authenticate(token: String)
  /// Begins a session. May follow `hello` at once, without waiting for the answer.
  case bind(session: UInt32, Bind)
  /// Goes ahead of the `bind` of its session, where both sides can (`SyncFeatures.rest`): asks for the rest of some pages.
  case rest(session: UInt32, BegunPages)
  /// Changesets in the order of their numbers, without a gap.
  case upload(session: UInt32, [Changeset])
  /// Replaces a changeset of this replica that built on a refused one and will not be uploaded; the client wants the state of these
  /// objects.
  case void(session: UInt32, clientSeq: UInt64, objects: [ObjectIdentity])
  /// How far the client is, and so what it no longer needs.
  case acknowledge(session: UInt32, Acknowledgement)
  /// Grants the server more bytes of entries and states.
  case credit(session: UInt32, bytes: UInt64)
  /// Asks for `marked` once everything that the server has now was sent.
  case mark(session: UInt32, number: UInt64)
  /// Ends a session; the connection stays open.
  case unbind(session: UInt32)
  /// Classes and properties to add to the store's schema, in the form over which the schema's hash is computed.
  case schema(session: UInt32, [UInt8])
  /// Asks for a `pong`, and reports the round trip of the previous one in milliseconds.
  case ping(number: UInt64, roundTrip: UInt64)
  /// A message of a type that this build does not know and may ignore (`SyncFrame.optionalTypes`).
  case unknown(type: UInt8)
}

/// The client's first message.
public struct Hello: Hashable, Sendable {
  /// The versions of the protocol that the client speaks.
  public var versions: [UInt16]
  /// What the client supports beyond the version.
  public var features: SyncFeatures
  /// Identifies the user, signed by an issuer that the server trusts. Never logged.
  public var token: String
  /// A name for lists of devices; may be empty.
  public var device: String

  /// Creates a greeting.
  public init(versions: [UInt16], features: SyncFeatures, token: String, device: String = "") {
    (self.versions, self.features, self.token, self.device) = (versions, features, token, device)
  }
}

/// What a side supports beyond a version. Unknown bits are ignored.
public struct SyncFeatures: OptionSet, Hashable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Messages may be compressed by zlib.
  public static let compression = SyncFeatures(rawValue: 1)
  /// Clients declare the types of what they upload before they do, and the server holds the declarations against each other.
  public static let declarations = SyncFeatures(rawValue: 2)
  /// Pages of objects go on where an earlier connection was cut.
  public static let rest = SyncFeatures(rawValue: 4)
}

/// The client's request to begin a session with a store.
public struct Bind: Hashable, Sendable {
  /// The store's path on the server.
  public var path: String
  /// The client's replica in the store.
  public var replica: ReplicaID
  /// 16 bytes that only this replica knows: the first client that binds a replica owns it. Longer ones are refused.
  public var secret: [UInt8]
  /// The last entry of the log that the client has integrated.
  public var cursor: Seq
  /// The history that the cursor belongs to: 16 bytes, or none for a new replica.
  public var history: [UInt8]
  /// The last refusal that the client has integrated.
  public var refusalSeen: Seq
  /// The base of its oldest unacknowledged changeset; the cursor if there is none.
  public var pendingBase: Seq
  /// The hash of the schema that the client writes with.
  public var schemaHash: UInt64

  static let secretBytes = 16
  static let historyBytes = 16

  /// Creates a request without checking its parts.
  public init(
    path: String, replica: ReplicaID, secret: [UInt8], cursor: Seq, history: [UInt8], refusalSeen: Seq, pendingBase: Seq,
    schemaHash: UInt64
  ) {
    (self.path, self.replica, self.secret, self.cursor) = (path, replica, secret, cursor)
    (self.history, self.refusalSeen, self.pendingBase, self.schemaHash) = (history, refusalSeen, pendingBase, schemaHash)
  }
}

/// How far a replica is.
public struct Acknowledgement: Hashable, Sendable {
  /// The last entry that it has integrated.
  public var cursor: Seq
  /// The base of its oldest unacknowledged changeset; the cursor if there is none.
  public var pendingBase: Seq
  /// The last refusal that it has integrated.
  public var refusalSeen: Seq

  /// Creates an acknowledgement.
  public init(cursor: Seq, pendingBase: Seq, refusalSeen: Seq) {
    (self.cursor, self.pendingBase, self.refusalSeen) = (cursor, pendingBase, refusalSeen)
  }
}
