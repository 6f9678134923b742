import SyncModel
import SyncProtocol

/// A call of `EventStores`, as it goes from a program with handlers to a server (Docs/SyncProtocol.md, "Handlers of events").
///
/// Times are not sent: the server's clock counts, and of a lease how long it is to last.
package enum HandlerCall: Hashable, Sendable {
  case makeHandlerNames
  case stores
  case changes(StorePath, replica: ReplicaID, after: Seq, limitBytes: Int)
  case objects(StorePath, history: [UInt8]?, changedAfter: Seq, behind: ObjectIdentity?, limitBytes: Int)
  /// `milliseconds` from the server's present on.
  case claim(StorePath, handler: String, history: [UInt8]?, fromStart: Bool, milliseconds: Int64)
  case renew(StorePath, HandlerLease, milliseconds: Int64)
  case past(StorePath, at: Seq)
  case handlers(StorePath)
  case removeHandler(StorePath, name: String)
  case advance(StorePath, HandlerLease, to: Seq, writing: [Changeset])
  case heads([StorePath])
  case follow([StorePath])
  case unfollow([StorePath])

  /// The handler that it acts for, or on; nil for one that only reads.
  var handler: String? {
    switch self {
    case .claim(_, let handler, _, _, _): handler
    case .renew(_, let lease, _), .advance(_, let lease, _, _): lease.handler
    case .removeHandler(_, let name): name
    case .makeHandlerNames, .stores, .changes, .objects, .past, .handlers, .heads, .follow, .unfollow: nil
    }
  }
}

/// The types of the messages between a program with handlers and a server, beside those of replicas, and the version of what they say.
package enum HandlerMessage {
  /// The first message of a connection: versions, features, token and a name, as in a replica's hello.
  package static let begin: UInt8 = 0x40
  /// A call; its session is a number of the program's choice, which the answer has too.
  package static let call: UInt8 = 0x41
  /// The server lets the program in.
  package static let begun: UInt8 = 0xA0
  /// The answer to a call.
  package static let answer: UInt8 = 0xA1
  /// Paths of followed stores that have news.
  package static let news: UInt8 = 0xA2

  package static let version: UInt16 = 2
  /// What both sides can beyond it.
  package static let features = SyncFeatures.compression
  /// What a server takes once it is known who speaks: a transaction of a handler may be as large as one of a replica.
  package static let limits = FrameLimits(messageBytes: 256 << 20)

  /// Whether a connection whose first part this is belongs to a program with handlers.
  static func begins(_ part: [UInt8]) -> Bool { part.first == begin }
}

extension HandlerMessage {
  /// The first message of a program with handlers: what a replica says in its hello, with a name for the server's log.
  package static func hello(_ hello: Hello) -> SyncFrame {
    var body = ByteWriter()
    body.put(hello)
    return SyncFrame(type: begin, body: body.bytes)
  }

  /// Decodes the whole body of a frame, which has to be of a type.
  package static func decoded<R>(
    _ frame: SyncFrame, as type: UInt8, _ read: (inout ByteReader) throws(CodingError) -> R
  ) throws(FrameError) -> R {
    guard frame.type == type else { throw FrameError(.outOfOrder, "It was \(frame.name).") }
    return try frame.decoded { reader throws(CodingError) in
      let result = try read(&reader)
      try reader.end()
      return result
    }
  }
}
