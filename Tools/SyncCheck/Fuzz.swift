import SyncModel
import SyncProtocol
import SyncServer

/// Bytes that no client would send, put to a server's connection: it answers, passes them over or ends, whatever they are.
struct Fuzz {
  let frames: Int
  let report: Report
  var random: SplitMix

  mutating func run() {
    var done = 0
    while done < frames {
      var connection = ServerConnection()
      _ = connection.begin(at: 0)
      var isOver = false
      if Bool.random(using: &random) { isOver = greet(&connection) }
      for _ in 0..<64 where !isOver && done < frames {
        done += 1
        isOver = isClosed(connection.handle(.received(part()), at: 0))
      }
      _ = connection.handle(.disconnected, at: 0)
    }
    report.count("frames of noise", done)
  }

  private func isClosed(_ effects: [ServerConnectionEffect]) -> Bool {
    effects.contains { if case .close = $0 { true } else { false } }
  }

  private func greet(_ connection: inout ServerConnection) -> Bool {
    let hello = ClientMessage.hello(Hello(versions: [1], features: [], token: "t"))
    for part in parts(hello) { _ = connection.handle(.received(part), at: 0) }
    return isClosed(connection.handle(.verified(.success(SyncIdentity(user: "ann"))), at: 0))
  }

  private func parts(_ message: ClientMessage) -> [[UInt8]] {
    do throws(FrameError) { return try FrameEncoder().parts(of: message.frame) } catch { return [] }
  }

  /// A message of any kind with any damage, or bytes of no kind.
  private mutating func part() -> [UInt8] {
    if Int.random(in: 0..<4, using: &random) == 0 { return noise(Int.random(in: 0..<300, using: &random)) }
    var part = parts(message()).first ?? []
    for _ in 0..<Int.random(in: 0..<3, using: &random) where !part.isEmpty {
      switch Int.random(in: 0..<3, using: &random) {
      case 0: part[Int.random(in: 0..<part.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      case 1: part.removeLast(Int.random(in: 0..<part.count, using: &random))
      default: part.insert(contentsOf: noise(3), at: Int.random(in: 0...part.count, using: &random))
      }
    }
    return part
  }

  private mutating func noise(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) } }

  private mutating func message() -> ClientMessage {
    let session = UInt32.random(in: 0..<3, using: &random)
    switch Int.random(in: 0..<9, using: &random) {
    case 0: return .hello(Hello(versions: [1], features: [], token: "t"))
    case 1: return .authenticate(token: "u")
    case 2:
      return .bind(
        session: session,
        Bind(
          path: ["/~/a", "/b/c", "", "/../x"].randomElement(using: &random) ?? "", replica: ReplicaID(1), secret: [1], cursor: .zero,
          history: [], refusalSeen: .zero, pendingBase: .zero, schemaHash: 0))
    case 3: return .void(session: session, clientSeq: UInt64.random(in: 0..<4, using: &random), objects: [ObjectIdentity("Thing", .int(1))])
    case 4: return .acknowledge(session: session, Acknowledgement(cursor: .zero, pendingBase: .zero, refusalSeen: .zero))
    case 5: return .credit(session: session, bytes: .random(in: 0...UInt64.max, using: &random))
    case 6: return .mark(session: session, number: .random(in: 0...UInt64.max, using: &random))
    case 7: return .schema(session: session, noise(20))
    default: return .unbind(session: session)
    }
  }
}
