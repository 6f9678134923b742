import Synchronization

/// The two ends of a connection within the process: for tests, and for an app that contains its server.
public final class MemoryTransport: SyncTransport {
  private let incoming: Pipe
  private let outgoing: Pipe

  private init(_ incoming: Pipe, _ outgoing: Pipe) { (self.incoming, self.outgoing) = (incoming, outgoing) }

  /// Creates both ends. At most `capacity` parts wait in each direction.
  public static func pair(capacity: Int = 16) -> (MemoryTransport, MemoryTransport) {
    let (there, back) = (Pipe(max(1, capacity)), Pipe(max(1, capacity)))
    return (MemoryTransport(back, there), MemoryTransport(there, back))
  }

  public func receive() async throws(TransportError) -> [UInt8]? { await incoming.take() }

  public func send(_ parts: [[UInt8]]) async throws(TransportError) {
    for part in parts where await !outgoing.put(part) { throw TransportError(.closed, "The connection was closed.") }
  }

  public func offer(_ part: [UInt8]) -> Bool { outgoing.offer(part) == true }

  public func close() async {
    outgoing.close()
    incoming.close()
  }
}

/// One direction: a bounded queue with one producer and one consumer.
private final class Pipe: Sendable {
  private struct State {
    var parts: [[UInt8]] = []
    var isClosed = false
    var taker: CheckedContinuation<Void, Never>?
    var putter: CheckedContinuation<Void, Never>?
  }

  private let capacity: Int
  private let state = Mutex(State())

  init(_ capacity: Int) { self.capacity = capacity }

  private func hasRoom(_ state: State) -> Bool { state.parts.count < capacity }

  /// Returns whether the pipe has taken the part; false once it is closed, nil if there is no room.
  func offer(_ part: [UInt8]) -> Bool? {
    let (outcome, taker) = state.withLock { state -> (Bool?, CheckedContinuation<Void, Never>?) in
      if state.isClosed { return (false, nil) }
      guard hasRoom(state) else { return (nil, nil) }
      state.parts.append(part)
      defer { state.taker = nil }
      return (true, state.taker)
    }
    taker?.resume()
    return outcome
  }

  /// Waits for room; returns false once the pipe is closed.
  func put(_ part: [UInt8]) async -> Bool {
    while true {
      if let outcome = offer(part) { return outcome }
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          if state.isClosed || hasRoom(state) { return true }
          state.putter = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    }
  }

  /// Waits for a part; returns nil once the pipe is closed and empty.
  func take() async -> [UInt8]? {
    while true {
      let (part, isEnd, putter) = state.withLock { state -> ([UInt8]?, Bool, CheckedContinuation<Void, Never>?) in
        if state.parts.isEmpty { return (nil, state.isClosed, nil) }
        defer { state.putter = nil }
        return (state.parts.removeFirst(), false, state.putter)
      }
      putter?.resume()
      if part != nil || isEnd { return part }
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          if state.isClosed || !state.parts.isEmpty { return true }
          state.taker = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    }
  }

  func close() {
    let (taker, putter) = state.withLock { state in
      state.isClosed = true
      defer { (state.taker, state.putter) = (nil, nil) }
      return (state.taker, state.putter)
    }
    taker?.resume()
    putter?.resume()
  }
}
