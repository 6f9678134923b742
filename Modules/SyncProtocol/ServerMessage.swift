import SyncModel

/// What a server says to a client. A session of 0 is the connection.
public enum ServerMessage: Hashable, Sendable {
  /// The answer to `hello`.
  case welcome(Welcome)
  /// The fresh token is taken.
  case authenticated
  /// The token ends in so many seconds.
  case expiring(seconds: UInt64)
  /// The answer to `bind`.
  case bound(session: UInt32, Bound)
  /// Own changesets up to this one are in the server's log, durably.
  case acknowledged(session: UInt32, clientSeq: UInt64)
  /// Entries of the log in order, none left out that concern the client.
  case changes(session: UInt32, [LogEntry])
  /// A page of objects.
  case state(session: UInt32, StatePage)
  /// The client may send so many more bytes of changesets.
  case credit(session: UInt32, bytes: UInt64)
  /// Everything that was there when the mark came has been sent.
  case marked(session: UInt32, number: UInt64)
  case unbound(session: UInt32)
  /// The store's schema, where it is not the client's.
  case schema(session: UInt32, [UInt8])
  /// How much is to come: the last entry, and an estimate of bytes.
  case progress(session: UInt32, head: Seq, bytesLeft: UInt64)
  case pong(number: UInt64)
  /// The server ends; come back after so many seconds.
  case goAway(seconds: UInt64)
  /// What is wrong, with a session or the connection.
  case error(session: UInt32, code: SyncErrorCode, retryAfterSeconds: UInt64, text: String)
  /// Of a type that this build does not know and need not.
  case unknown(type: UInt8)
}

/// How a server answers.
public struct Welcome: Hashable, Sendable {
  /// The highest version that both speak.
  public var version: UInt16
  /// What both can.
  public var features: SyncFeatures
  /// Milliseconds since 1970 by the server's clock.
  public var serverTime: UInt64
  /// How often the client should ping.
  public var pingSeconds: UInt64
  /// The longest message that either side may send, whole and unpacked, in bytes.
  public var messageBytes: UInt64

  /// An answer of its parts.
  public init(version: UInt16, features: SyncFeatures, serverTime: UInt64, pingSeconds: UInt64, messageBytes: UInt64) {
    (self.version, self.features, self.serverTime) = (version, features, serverTime)
    (self.pingSeconds, self.messageBytes) = (pingSeconds, messageBytes)
  }
}

/// What a server has for a client that binds.
public struct Bound: Hashable, Sendable {
  /// What the server sends now.
  public enum Mode: UInt8, Hashable, Sendable, CaseIterable {
    /// The entries after the cursor.
    case resume = 0
    /// The objects that changed since the cursor, then entries.
    case delta = 1
    /// All objects, then entries.
    case snapshot = 2
    /// Nothing: the client has to begin anew, with an empty cursor.
    case reset = 3
  }

  /// What the user may do.
  public struct Rights: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// To receive what others do.
    public static let read = Rights(rawValue: 1)
    /// To change objects.
    public static let write = Rights(rawValue: 2)
    /// To change who may what.
    public static let manage = Rights(rawValue: 4)
  }

  /// How the client gets to the head of the log.
  public var mode: Mode
  /// What the user may do here.
  public var rights: Rights
  /// 16 bytes.
  public var history: [UInt8]
  /// The last entry of the log.
  public var head: Seq
  /// Up to here all replicas are.
  public var stable: Seq
  /// The last own changeset that the server has judged, and its first stamp: a replica that remembers another one for the number
  /// was copied or restored. `.zero` for none.
  public var judged: UInt64
  /// The first stamp of that changeset.
  public var judgedStamp: Stamp
  /// The last refusal of this replica; its uploads are not looked at until it has seen it.
  public var refusal: Seq
  /// Which of its changesets were refused after the last refusal that it says it has seen: a replica that takes states instead of entries
  /// learns it here.
  public var refused: [UInt64]
  /// Of the store's schema.
  public var schemaHash: UInt64
  /// How many bytes of changesets the client may send.
  public var credit: UInt64

  /// An answer of its parts, which are taken as they are.
  public init(
    mode: Mode, rights: Rights, history: [UInt8], head: Seq, stable: Seq, judged: UInt64, judgedStamp: Stamp, refusal: Seq,
    refused: [UInt64], schemaHash: UInt64, credit: UInt64
  ) {
    (self.mode, self.rights, self.history, self.head, self.stable) = (mode, rights, history, head, stable)
    (self.judged, self.judgedStamp, self.refusal, self.refused) = (judged, judgedStamp, refusal, refused)
    (self.schemaHash, self.credit) = (schemaHash, credit)
  }
}

/// One entry of a store's log, as one replica is sent it.
public struct LogEntry: Hashable, Sendable {
  public enum Body: Hashable, Sendable {
    /// What another replica did, and whose user it was.
    case changeset(author: String, Changeset)
    /// What this replica did is here in the order.
    case own(clientSeq: UInt64)
    /// What this replica did is refused, and this is how its objects are; nil for one that is not there.
    case refusal(clientSeq: UInt64, code: SyncErrorCode, text: String, states: [ObjectIdentity: ObjectState?])
    /// What all replicas forget here.
    case purge(Purge)
    /// The store's schema from here on.
    case schema([UInt8])
  }

  /// Its place in the log.
  public var seq: Seq
  /// What it is.
  public var body: Body

  /// An entry of its parts.
  public init(_ seq: Seq, _ body: Body) { (self.seq, self.body) = (seq, body) }
}

/// Objects as the server has them: they take the place of what the client has.
public struct StatePage: Hashable, Sendable {
  /// One object, as the server has it.
  public struct Object: Hashable, Sendable {
    /// Which.
    public var identity: ObjectIdentity
    /// All that merging and showing it need; it knows the last entry that it has.
    public var state: ObjectState
    /// An object of its parts.
    public init(_ identity: ObjectIdentity, _ state: ObjectState) { (self.identity, self.state) = (identity, state) }
  }

  /// The entries after this one follow the pages; each object knows the last that it has already.
  public var asOf: Seq
  /// Up to here all replicas are.
  public var stable: Seq
  /// The highest stamp of the entries up to `stable`.
  public var floor: Stamp
  /// The highest stamp of all entries up to `asOf`. Who takes the page dates what he does later than that, as if he had integrated them:
  /// otherwise an operation of his could fall below a floor to come.
  public var latest: Stamp
  /// In the order of the server's choice.
  public var objects: [Object]
  /// Where the next page begins, for a client that comes back in between; empty after the last.
  public var next: [UInt8]
  /// Whether no page follows.
  public var isLast: Bool

  /// A page of its parts.
  public init(asOf: Seq, stable: Seq, floor: Stamp, latest: Stamp, objects: [Object], next: [UInt8], isLast: Bool) {
    (self.asOf, self.stable, self.floor, self.latest) = (asOf, stable, floor, latest)
    (self.objects, self.next, self.isLast) = (objects, next, isLast)
  }
}
