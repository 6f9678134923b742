#if Sync
import Foundation
import SyncProtocol
import SyncWebSocket
import Synchronization

/// Counts what goes over a device's connections, and kills the process at one of them.
final class MortalConnector: SyncConnector {
  private let base: WebSocketConnector
  private let before: Int?
  private let after: Int?
  private let pages: PagesSeen?
  private let passed = Mutex(0)

  /// - Parameters:
  ///   - before: dies before the thing with this number is passed on.
  ///   - after: dies after it.
  ///   - pages: is shown what the server sends, if anybody wants to know.
  init(base: WebSocketConnector, before: Int?, after: Int?, pages: PagesSeen?) {
    (self.base, self.before, self.after, self.pages) = (base, before, after, pages)
  }

  func connect() async throws(TransportError) -> any SyncTransport {
    let transport = try await base.connect()
    pages?.begin()
    return MortalTransport(transport, self)
  }

  fileprivate func coming() -> Int {
    let number = passed.withLock { number in
      number += 1
      return number
    }
    if number == before { kill(getpid(), SIGKILL) }
    return number
  }

  fileprivate func over(_ number: Int) { if number == after { kill(getpid(), SIGKILL) } }

  fileprivate func note(_ part: [UInt8]) { pages?.note(part) }
}

private struct MortalTransport: SyncTransport {
  let base: any SyncTransport
  let connector: MortalConnector

  init(_ base: any SyncTransport, _ connector: MortalConnector) { (self.base, self.connector) = (base, connector) }

  func receive() async throws(TransportError) -> [UInt8]? {
    let part = try await base.receive()
    if let part { connector.note(part) }
    // What follows from a part is done by the time the next one is asked for.
    connector.over(connector.coming() - 1)
    return part
  }

  func send(_ parts: [[UInt8]]) async throws(TransportError) {
    let number = connector.coming()
    try await base.send(parts)
    connector.over(number)
  }

  func close() async { await base.close() }
}

/// Whether the last page of objects has come over a device's connection, and has not been taken into its file: what the replicator writes
/// next is then made of pages, and not of entries of the log.
final class PagesSeen: Sendable {
  private struct State {
    var decoder = FrameDecoder(.ofClient)
    var areWhole = false
  }

  private let state = Mutex(State())

  /// A connection begins.
  func begin() { state.withLock { $0 = State() } }

  /// Looks at a part that has come. One that cannot be decoded is the replicator's matter.
  func note(_ part: [UInt8]) {
    state.withLock { state in
      guard let frame = try? state.decoder.take(part), case .state(_, let page)? = try? ServerMessage(frame) else { return }
      if page.isLast { state.areWhole = true }
    }
  }

  /// Whether they have come. Asked again, they have not.
  func take() -> Bool {
    state.withLock { state in
      defer { state.areWhole = false }
      return state.areWhole
    }
  }
}
#endif
