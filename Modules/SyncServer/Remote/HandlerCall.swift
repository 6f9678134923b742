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
  case past(StorePath, asOf: Seq)
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

  package static let version: UInt16 = 1
  /// What a server takes once it is known who speaks: a transaction of a handler may be as large as one of a replica.
  package static let limits = FrameLimits(messageBytes: 256 << 20)

  /// Whether a connection whose first part this is belongs to a program with handlers.
  static func begins(_ part: [UInt8]) -> Bool { part.first == begin }
}

/// The first message of a program with handlers.
package struct HandlerBegin: Hashable, Sendable {
  package var versions: [UInt16]
  package var features: SyncFeatures
  package var token: String
  /// For the server's log.
  package var name: String

  package init(versions: [UInt16] = [HandlerMessage.version], features: SyncFeatures = .compression, token: String, name: String) {
    (self.versions, self.features, self.token, self.name) = (versions, features, token, name)
  }

  package var frame: SyncFrame {
    var body = ByteWriter()
    body.put(versions.count)
    for version in versions { body.put(UInt64(version)) }
    body.put(features.rawValue)
    body.put(token)
    body.put(name)
    return SyncFrame(type: HandlerMessage.begin, body: body.bytes)
  }

  package init(_ frame: SyncFrame) throws(FrameError) {
    self = try HandlerMessage.decoded(frame, as: HandlerMessage.begin) { body throws(CodingError) in
      var versions: [UInt16] = []
      for _ in 0..<(try body.count(of: 1)) { versions.append(try body.small(UInt16.self)) }
      let features = SyncFeatures(rawValue: try body.number())
      let token = try body.text()
      return HandlerBegin(versions: versions, features: features, token: token, name: try body.text())
    }
  }
}

extension HandlerMessage {
  /// Decodes the whole body of a frame, which has to be of a type.
  package static func decoded<R>(
    _ frame: SyncFrame, as type: UInt8, _ read: (inout ByteReader) throws(CodingError) -> R
  ) throws(FrameError) -> R {
    let name = "a message of type 0x" + String(frame.type, radix: 16)
    guard frame.type == type else { throw FrameError(.outOfOrder, "It was \(name).") }
    var reader = ByteReader(frame.body)
    do throws(CodingError) {
      let result = try read(&reader)
      try reader.end()
      return result
    } catch { throw FrameError(.badFrame, "\(error.reason) at byte \(error.position) of \(name).") }
  }
}
