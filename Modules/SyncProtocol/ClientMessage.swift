import SyncModel

/// What a client says to a server. `session` numbers the stores that share a connection, from 1; the client chooses it.
public enum ClientMessage: Hashable, Sendable {
  /// First on each connection.
  case hello(Hello)
  /// A fresh token on a connection that goes on.
  case authenticate(token: String)
  /// Begins a session. May follow `hello` at once.
  case bind(session: UInt32, Bind)
  /// Changesets in the order of their numbers, none left out.
  case upload(session: UInt32, [Changeset])
  /// A changeset of this replica that built on a refused one and will not come; the client wants the state of these objects.
  case void(session: UInt32, clientSeq: UInt64, objects: [ObjectIdentity])
  /// How far the client is: what it needs no more.
  case acknowledge(session: UInt32, Acknowledgement)
  /// The server may send so many more bytes of entries and states.
  case credit(session: UInt32, bytes: UInt64)
  /// Asks to be told when everything that the server has now was sent.
  case mark(session: UInt32, number: UInt64)
  /// Ends a session; the connection goes on.
  case unbind(session: UInt32)
  /// Classes and properties to add to the store's, in the form that the schema's hash is of.
  case schema(session: UInt32, [UInt8])
  /// Asks for an answer, and says how long the last one took, in milliseconds.
  case ping(number: UInt64, roundTrip: UInt64)
  /// Of a type that this build does not know and need not (`SyncFrame.optionalTypes`).
  case unknown(type: UInt8)
}

/// How a client begins.
public struct Hello: Hashable, Sendable {
  /// The protocol's versions that it speaks.
  public var versions: [UInt16]
  /// What it can do beyond the version, as bits (`SyncFeatures`).
  public var features: SyncFeatures
  /// Who the user is, as the server's issuer signed it. Never logged.
  public var token: String
  /// A name for lists of devices; may be empty.
  public var device: String

  /// A beginning of its parts.
  public init(versions: [UInt16], features: SyncFeatures, token: String, device: String = "") {
    (self.versions, self.features, self.token, self.device) = (versions, features, token, device)
  }
}

/// What both sides can do beyond a version. Bits that one side does not know are left alone.
public struct SyncFeatures: OptionSet, Hashable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Messages may be compressed by zlib.
  public static let compression = SyncFeatures(rawValue: 1)
}

/// What a client brings to a store.
public struct Bind: Hashable, Sendable {
  /// The store's path on the server.
  public var path: String
  /// Who the client is in the store.
  public var replica: ReplicaID
  /// 16 bytes that only this replica knows: who first binds a replica owns it.
  public var secret: [UInt8]
  /// The last entry of the log that the client has integrated.
  public var cursor: Seq
  /// Which history the cursor is of: 16 bytes, or none for a new replica.
  public var history: [UInt8]
  /// The last refusal that the client has integrated.
  public var refusalSeen: Seq
  /// The base of its oldest changeset that was not acknowledged; the cursor where there is none.
  public var pendingBase: Seq
  /// Of the schema that the client writes with.
  public var schemaHash: UInt64

  /// A request of its parts, which are taken as they are.
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
  /// The base of its oldest changeset that was not acknowledged; the cursor where there is none.
  public var pendingBase: Seq
  /// The last refusal that it has integrated.
  public var refusalSeen: Seq

  /// A state of its parts.
  public init(cursor: Seq, pendingBase: Seq, refusalSeen: Seq) {
    (self.cursor, self.pendingBase, self.refusalSeen) = (cursor, pendingBase, refusalSeen)
  }
}
