import SyncModel
import SyncProtocol
import SyncServer
import VivariumTestSupport

/// One connection of a simulation: bytes on their way, and the server's state machine at the end of them.
@MainActor final class FramedConnection {
  /// What the server is asked by its machine, and what it hears of its stores.
  enum Work {
    case effect(ServerConnectionEffect)
    case news(SessionKey)
  }

  private(set) var machine = ServerConnection(FramedConnection.configuration)
  private(set) var toServer: [[UInt8]] = []
  private(set) var toClient: [[UInt8]] = []
  /// What is done in any order, as in a server.
  private(set) var works: [Work] = []
  private(set) var timers: [ServerConnectionTimer: Int64] = [:]
  /// The server has said its last.
  private(set) var isClosed = false
  /// Nothing more gets through.
  private(set) var isCut = false
  /// Whether the server knows that it is over.
  private(set) var isEnded = false
  private var bound: Set<SessionKey> = []

  /// Small, so that everything that depends on sizes happens often.
  private static var configuration: ServerConnectionConfiguration {
    var configuration = ServerConnectionConfiguration()
    configuration.limits = FrameLimits(partBytes: 300, messageBytes: 1 << 20, compressedFrom: 200)
    configuration.uploadWindow = 2_000
    (configuration.pageBytes, configuration.outgoingBytes) = (700, 2_000)
    return configuration
  }

  /// Tells it from others.
  let number: Int

  init(number: Int, at now: Int64) {
    self.number = number
    perform(machine.begin(at: now))
  }

  /// What the client sends.
  func send(_ parts: [[UInt8]]) { if !isCut, !isEnded { toServer += parts } }

  func partForClient(at now: Int64) -> [UInt8]? {
    if toClient.isEmpty { return nil }
    let part = toClient.removeFirst()
    take(.taken(part.count), at: now)
    return part
  }

  /// Whether the client has everything, and nothing more comes.
  var isOverForClient: Bool { toClient.isEmpty && (isCut || isClosed) }
  /// Whether the server has everything, and nothing more comes.
  var isOverForServer: Bool { toServer.isEmpty && isCut && !isEnded }

  /// What comes next to the server, for a trace; nil for a part of a longer message.
  var next: String? {
    guard let part = toServer.first else { return nil }
    var decoder = FrameDecoder()
    guard let frame = try? decoder.take(part), let message = try? ClientMessage(frame) else { return nil }
    return String("\(message)".prefix(20_000))
  }

  func deliverToServer(at now: Int64) { take(.received(toServer.removeFirst()), at: now) }

  func endForServer(at now: Int64) {
    isEnded = true
    take(.disconnected, at: now)
  }

  func take(_ event: ServerConnectionEvent, at now: Int64) { perform(machine.handle(event, at: now)) }

  func nextWork(_ random: inout SeededGenerator) -> Work { works.remove(at: random.below(works.count)) }

  func ring(_ timer: ServerConnectionTimer, at now: Int64) {
    timers[timer] = nil
    take(.timer(timer), at: now)
  }

  /// The wire breaks at one byte of what is on its way in each direction: what is whole before it arrives.
  func cut(_ random: inout SeededGenerator) {
    func kept(_ parts: [[UInt8]]) -> [[UInt8]] {
      var left = random.below(parts.reduce(0) { $0 + $1.count } + 1)
      return Array(
        parts.prefix { part in
          left -= part.count
          return left >= 0
        })
    }
    (toServer, toClient, isCut) = (kept(toServer), kept(toClient), true)
  }

  /// The client is gone: what it has sent arrives.
  func leave() { (toClient, isCut) = ([], true) }

  /// The server dies: what it was doing is done or not, and nobody hears of it.
  func die(isForgotten: Bool) {
    (toServer, works, timers, isEnded, isCut) = ([], [], [:], true, true)
    if isForgotten { toClient = [] }
    bound = []
  }

  /// A store has something new.
  func tell() { for key in bound { works.append(.news(key)) } }

  private func perform(_ effects: [ServerConnectionEffect]) {
    for effect in effects {
      switch effect {
      case .send(let parts): if !isCut { toClient += parts }
      case .close:
        (isClosed, isEnded) = (true, true)
        (toServer, timers) = ([], [:])
      case .wake(let timer, let time): timers[timer] = time
      case .bind(let key, _, _, _):
        bound.insert(key)
        works.append(.effect(effect))
      case .unbind(let key, _): bound.remove(key)
      default: works.append(.effect(effect))
      }
    }
  }
}
