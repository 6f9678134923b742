#if Sync
import SyncModel
import SyncProtocol
import SyncServer

/// A connection that gets noise: the server's side of it, and what that has asked for and is waiting for.
struct FuzzLink {
  /// A session that has begun, as its client knows it.
  struct Session {
    let key: SessionKey
    let path: StorePath
    let number: UInt32
    let replica: ReplicaID
  }

  private var connection = ServerConnection(FuzzLink.configuration)
  private var waiting: [ServerConnectionEffect] = []
  /// The sessions that have not ended, in the order in which they began.
  private(set) var sessions: [Session] = []
  private(set) var isOver = false
  /// The bytes that were sent, and that nobody has taken.
  private var untaken = 0

  /// Small, so that clients often take less than there is.
  private static var configuration: ServerConnectionConfiguration {
    var configuration = ServerConnectionConfiguration()
    configuration.outgoingBytes = 4 << 10
    return configuration
  }

  init() { perform(connection.begin(at: FuzzHost.now)) }

  /// Whether it is known who speaks.
  var isOpen: Bool { connection.identity != nil }

  mutating func take(_ event: ServerConnectionEvent) { perform(connection.handle(event, at: FuzzHost.now)) }

  /// Answers some of what was asked for, in any order, and tells sessions what is new.
  mutating func answer(_ most: Int, by host: inout FuzzHost, _ random: inout SplitMix) {
    for _ in 0..<most where !waiting.isEmpty {
      let effect = waiting.remove(at: random.below(waiting.count))
      guard let event = host.answer(effect) else { continue }
      take(event)
      guard case .commit(_, let place, _, _, _) = effect else { continue }
      for session in sessions where session.path == place.path { take(.news(session.key)) }
    }
  }

  /// What a session has no part in: news, rights that change, a client that takes no more for a while.
  mutating func disturb(_ random: inout SplitMix) {
    guard let session = sessions.randomElement(using: &random) else { return }
    switch random.below(6) {
    case 0, 1, 2, 3:
      let bytes = untaken
      untaken = 0
      take(.taken(bytes))
    case 4: take(.news(session.key))
    default:
      let grants = [StoreGrant.all, StoreGrant.all, StoreGrant([.read]), StoreGrant([])]
      take(.granted(session.key, grants[random.below(grants.count)]))
    }
  }

  private mutating func perform(_ effects: [ServerConnectionEffect]) {
    for effect in effects {
      switch effect {
      case .send(let parts): untaken += parts.reduce(0) { $0 + $1.count }
      case .wake: break
      case .close: isOver = true
      case .unbind(let key, _): sessions.removeAll { $0.key == key }
      case .bind(let key, let path, let bind, _):
        // The key does not show the number, so the client writes it where the server makes nothing of it.
        let number = UInt32(truncatingIfNeeded: bind.schemaHash)
        sessions.append(Session(key: key, path: path, number: number, replica: bind.replica))
        waiting.append(effect)
      default: waiting.append(effect)
      }
    }
  }
}
#endif
