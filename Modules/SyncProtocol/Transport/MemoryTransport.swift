import Synchronization

/// The two ends of a connection within the process: for tests, and for an app that contains its server.
public final class MemoryTransport: SyncTransport {
  private let incoming: Pipe
  private let outgoing: Pipe

  private init(_ incoming: Pipe, _ outgoing: Pipe) { (self.incoming, self.outgoing) = (incoming, outgoing) }

  /// Creates both ends. At most `capacity` parts wait in each direction, and the last of them when fewer than `bytes` bytes do.
  public static func pair(capacity: Int = 16, bytes: Int = .max) -> (MemoryTransport, MemoryTransport) {
    let (there, back) = (Pipe(max(1, capacity), max(1, bytes)), Pipe(max(1, capacity), max(1, bytes)))
    return (MemoryTransport(back, there), MemoryTransport(there, back))
  }

  public func receive() async throws(TransportError) -> [UInt8]? { await incoming.take() }

  public func send(_ parts: [[UInt8]]) async throws(TransportError) {
    for part in parts where await !outgoing.put(part) { throw TransportError(.closed, "The connection was closed.") }
  }

  public func close() async {
    outgoing.close()
    incoming.close()
  }
}

/// One direction: a bounded queue with one producer and one consumer.
private final class Pipe: Sendable {
  private struct State {
    var parts: [[UInt8]] = []
    var bytes = 0
    var isClosed = false
    var taker: CheckedContinuation<Void, Never>?
    var putter: CheckedContinuation<Void, Never>?
  }

  private let capacity: Int
  private let bytesMax: Int
  private let state = Mutex(State())

  init(_ capacity: Int, _ bytesMax: Int) { (self.capacity, self.bytesMax) = (capacity, bytesMax) }

  private func hasRoom(_ state: State) -> Bool { state.parts.count < capacity && state.bytes < bytesMax }

  /// Waits for room; returns false once the pipe is closed.
  func put(_ part: [UInt8]) async -> Bool {
    while true {
      let (outcome, taker) = state.withLock { state -> (Bool?, CheckedContinuation<Void, Never>?) in
        if state.isClosed { return (false, nil) }
        guard hasRoom(state) else { return (nil, nil) }
        state.parts.append(part)
        state.bytes += part.count
        defer { state.taker = nil }
        return (true, state.taker)
      }
      taker?.resume()
      if let outcome { return outcome }
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
        let part = state.parts.removeFirst()
        state.bytes -= part.count
        return (part, false, state.putter)
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
