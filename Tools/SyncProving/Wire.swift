import Foundation
import Synchronization

/// A wire to a server on this machine, for demonstrations and proofs: carries bytes both ways, and can be cut at any of them.
///
/// A new connection while it is cut is refused by the system, as where nobody listens. **Threads.** Any may call.
public final class Wire: Sendable {
  /// Which way bytes go.
  public enum Direction: Sendable, CaseIterable {
    case toServer
    case toClient
  }

  private struct State {
    var server: UInt16
    var listener: Int32 = -1
    var isCut = false
    var open: [Int: (client: Int32, server: Int32)] = [:]
    var lastNumber = 0
    var budget: (direction: Direction, bytes: Int)?
    var carried: [Direction: Int] = [:]
  }

  /// Where clients connect to, on loopback.
  public let port: Int
  private let state: Mutex<State>

  /// A whole wire to a port of loopback.
  public init(to server: Int) throws {
    let listener = try Socket.bound(port: 0)
    port = Int(try Socket.port(of: listener))
    state = Mutex(State(server: UInt16(clamping: server), listener: listener))
    try listenNow(listener)
  }

  deinit { close() }

  /// Leads to another port from the next connection on.
  public func lead(to server: Int) { state.withLock { $0.server = UInt16(clamping: server) } }

  /// How many bytes went one way, over all connections.
  public func carried(_ direction: Direction) -> Int { state.withLock { $0.carried[direction] ?? 0 } }

  /// How many connections there are.
  public var connections: Int { state.withLock { $0.open.count } }

  /// Ends all connections, and refuses new ones.
  public func cut() throws {
    let listener = state.withLock { state -> Int32? in
      if state.isCut { return nil }
      state.isCut = true
      defer { state.listener = -1 }
      return state.listener
    }
    if let listener { Socket.stop(listener) }
    hangUp()
    // Bound and not listening: the port stays ours, and who connects is refused.
    let bound = try Socket.bound(port: UInt16(port))
    state.withLock { $0.listener = bound }
  }

  /// Carries again.
  public func mend() throws {
    let listener = state.withLock { state -> Int32? in
      guard state.isCut else { return nil }
      state.isCut = false
      return state.listener
    }
    if let listener { try listenNow(listener) }
  }

  /// Ends the connections that there are; new ones are welcome.
  public func hangUp() {
    state.withLock { state in for (client, server) in state.open.values { Socket.shut(client, server) } }
  }

  /// Hangs up once so many more bytes went one way: exactly so many arrive.
  public func hangUp(after bytes: Int, _ direction: Direction) { state.withLock { $0.budget = (direction, bytes) } }

  /// Ends it for good.
  public func close() {
    let listener = state.withLock { state in
      defer { (state.listener, state.isCut) = (-1, true) }
      return state.listener
    }
    if listener >= 0 { Socket.stop(listener) }
    hangUp()
  }

  private func listenNow(_ listener: Int32) throws {
    guard listen(listener, 64) == 0 else { throw Socket.Fault("listen") }
    Thread.detachNewThread { [weak self] in
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else {
          if errno == EINTR { continue }
          break
        }
        guard let self else {
          Socket.shutAndClose(client)
          break
        }
        self.begin(client)
      }
      Socket.shutAndClose(listener)
    }
  }

  private func begin(_ client: Int32) {
    let (port, isCut) = state.withLock { ($0.server, $0.isCut) }
    guard !isCut, let server = Socket.connected(port: port) else { return Socket.shutAndClose(client) }
    let number = state.withLock { state in
      state.lastNumber += 1
      state.open[state.lastNumber] = (client, server)
      return state.lastNumber
    }
    let ends = Ends()
    for (direction, from, to) in [(Direction.toServer, client, server), (.toClient, server, client)] {
      Thread.detachNewThread { [weak self] in
        self?.carry(direction, from, to)
        Socket.shut(from, to)
        guard ends.leave() else { return }
        self?.state.withLock { $0.open[number] = nil }
        _ = Foundation.close(from)
        _ = Foundation.close(to)
      }
    }
  }

  private func carry(_ direction: Direction, _ from: Int32, _ to: Int32) {
    var bytes = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = read(from, &bytes, bytes.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      let (allowed, ends) = state.withLock { state -> (Int, Bool) in
        guard let budget = state.budget, budget.direction == direction else {
          state.carried[direction, default: 0] += count
          return (count, false)
        }
        let allowed = min(count, budget.bytes)
        state.carried[direction, default: 0] += allowed
        state.budget = count >= budget.bytes ? nil : (direction, budget.bytes - count)
        return (allowed, count >= budget.bytes)
      }
      guard Socket.writeAll(to, bytes[..<allowed]), !ends else { return }
    }
  }

  /// The two threads of a connection: who leaves last closes.
  private final class Ends: Sendable {
    private let left = Mutex(2)

    func leave() -> Bool {
      left.withLock { left in
        left -= 1
        return left == 0
      }
    }
  }
}
