import SyncModel

/// A message from a server to a client. Session 0 is the connection.
public enum ServerMessage: Hashable, Sendable {
  /// The answer to `hello`.
  case welcome(Welcome)
  /// The new token was accepted.
  case authenticated
  /// The token expires in this many seconds.
  case expiring(seconds: UInt64)
  /// The answer to `bind`.
  case bound(session: UInt32, Bound)
  /// Own changesets up to this number are in the server's log, durably.
  case acknowledged(session: UInt32, clientSeq: UInt64)
  /// Entries of the log in order: all that concern the client.
  case changes(session: UInt32, [LogEntry])
  /// A page of objects.
  case state(session: UInt32, StatePage)
  /// Grants the client more bytes of changesets.
  case credit(session: UInt32, bytes: UInt64)
  /// Everything that was there when the mark arrived has been sent.
  case marked(session: UInt32, number: UInt64)
  case unbound(session: UInt32)
  /// The store's schema, if it differs from the client's.
  case schema(session: UInt32, [UInt8])
  /// What is still to come: the last entry, and an estimate of the bytes.
  case progress(session: UInt32, head: Seq, bytesLeft: UInt64)
  case pong(number: UInt64)
  /// The server shuts down; reconnect after this many seconds.
  case goAway(seconds: UInt64)
  /// An error of a session or of the connection.
  case error(session: UInt32, code: SyncErrorCode, retryAfterSeconds: UInt64, text: String)
  /// A message of a type that this build does not know and may ignore.
  case unknown(type: UInt8)
}

/// The server's answer to `hello`.
public struct Welcome: Hashable, Sendable {
  /// The highest version that both sides speak.
  public var version: UInt16
  /// What both sides support.
  public var features: SyncFeatures
  /// The server's clock, in milliseconds since 1970.
  public var serverTime: UInt64
  /// Seconds between the client's pings.
  public var pingSeconds: UInt64
  /// The longest message that either side may send, with all parts and inflated, in bytes.
  public var messageBytes: UInt64

  /// Creates an answer.
  public init(version: UInt16, features: SyncFeatures, serverTime: UInt64, pingSeconds: UInt64, messageBytes: UInt64) {
    (self.version, self.features, self.serverTime) = (version, features, serverTime)
    (self.pingSeconds, self.messageBytes) = (pingSeconds, messageBytes)
  }
}

/// The server's answer to `bind`.
public struct Bound: Hashable, Sendable {
  /// What the server sends next.
  public enum Mode: UInt8, Hashable, Sendable, CaseIterable {
    /// The entries after the cursor.
    case resume = 0
    /// The objects that changed since the cursor, then entries.
    case delta = 1
    /// All objects, then entries.
    case snapshot = 2
    /// Nothing: the client must begin anew, with an empty cursor.
    case reset = 3
    /// The rest of the pages that the client has begun, then entries: the answer to `ClientMessage.rest`.
    case rest = 4
  }

  /// The rights of the user.
  public struct Rights: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// To receive the changes of others.
    public static let read = Rights(rawValue: 1)
    /// To change objects.
    public static let write = Rights(rawValue: 2)
    /// To change the rights of users.
    public static let manage = Rights(rawValue: 4)
  }

  /// How the client reaches the head of the log.
  public var mode: Mode
  /// The user's rights in this store.
  public var rights: Rights
  /// The 16 bytes that name the store's history.
  public var history: [UInt8]
  /// The last entry of the log.
  public var head: Seq
  /// The entry up to which all replicas have integrated the log.
  public var stable: Seq
  /// The last own changeset that the server has judged, 0 for none. If the replica remembers another first stamp for it than
  /// `judgedStamp`, its file was copied or restored.
  public var judged: UInt64
  /// The first stamp of that changeset; `.zero` for none.
  public var judgedStamp: Stamp
  /// The last refusal of this replica. The server ignores its uploads until it has seen the refusal.
  public var refusal: Seq
  /// The own changesets that were refused after the last refusal that the replica has seen. A replica that takes states instead of
  /// entries learns of them only here.
  public var refused: [UInt64]
  /// The hash of the store's schema.
  public var schemaHash: UInt64
  /// How many bytes of changesets the client may send.
  public var credit: UInt64

  /// Creates an answer without checking its parts.
  public init(
    mode: Mode, rights: Rights, history: [UInt8], head: Seq, stable: Seq, judged: UInt64, judgedStamp: Stamp, refusal: Seq,
    refused: [UInt64], schemaHash: UInt64, credit: UInt64
  ) {
    (self.mode, self.rights, self.history, self.head, self.stable) = (mode, rights, history, head, stable)
    (self.judged, self.judgedStamp, self.refusal, self.refused) = (judged, judgedStamp, refusal, refused)
    (self.schemaHash, self.credit) = (schemaHash, credit)
  }
}

/// An entry of a store's log, in the form in which one replica receives it.
public struct LogEntry: Hashable, Sendable {
  public enum Body: Hashable, Sendable {
    /// A changeset of another replica, and the user who made it.
    case changeset(author: String, Changeset)
    /// The place of an own changeset in the log.
    case own(clientSeq: UInt64)
    /// The refusal of an own changeset, with the states of its objects; nil for one that does not exist.
    case refusal(clientSeq: UInt64, code: SyncErrorCode, text: String, states: [ObjectIdentity: ObjectState?])
    /// What all replicas forget at this place.
    case purge(Purge)
    /// The store's schema from this place on.
    case schema([UInt8])
  }

  /// The entry's place in the log.
  public var seq: Seq
  /// What the entry says.
  public var body: Body

  /// Creates an entry.
  public init(_ seq: Seq, _ body: Body) { (self.seq, self.body) = (seq, body) }
}

/// Objects in the server's state, which replaces the client's.
public struct StatePage: Hashable, Sendable {
  /// One object, in the server's state.
  public struct Object: Hashable, Sendable {
    /// The object's identity.
    public var identity: ObjectIdentity
    /// All that merging and showing the object need, including the last entry that is in it.
    public var state: ObjectState
    /// Creates an object.
    public init(_ identity: ObjectIdentity, _ state: ObjectState) { (self.identity, self.state) = (identity, state) }
  }

  /// The entries after this one follow the pages. Some objects may include later entries; each knows the last one it includes.
  public var asOf: Seq
  /// The entry up to which all replicas have integrated the log.
  public var stable: Seq
  /// The highest stamp of the entries up to `stable`.
  public var floor: Stamp
  /// The highest stamp of all entries up to `asOf`. A client that takes the page must stamp its later operations above it, as if it had
  /// integrated the entries. Otherwise one of its operations could fall below a later floor.
  public var latest: Stamp
  /// The objects, in an order of the server's choice.
  public var objects: [Object]
  /// Where the next page begins, for a client that reconnects in between (`BegunPages.next`). Empty after the last page, and if the server
  /// cannot go on there.
  public var next: [UInt8]
  /// Whether this is the last page.
  public var isLast: Bool

  /// Creates a page.
  public init(asOf: Seq, stable: Seq, floor: Stamp, latest: Stamp, objects: [Object], next: [UInt8], isLast: Bool) {
    (self.asOf, self.stable, self.floor, self.latest) = (asOf, stable, floor, latest)
    (self.objects, self.next, self.isLast) = (objects, next, isLast)
  }
}
