import SyncModel
import SyncProtocol
import Synchronization
import Testing
import VivariumTestSupport

@testable import SyncServer

/// A transport that has room for so many parts, and holds what it has none for until it is let go.
private final class NarrowTransport: SyncTransport {
  private struct State {
    var room: Int
    var offers: [Bool] = []
    var sends = 0
    var held: CheckedContinuation<Void, Never>?
  }

  private let inner: any SyncTransport
  private let state: Mutex<State>
  /// Fires whenever the server asks for the next part.
  let asked = AsyncSignal()

  init(_ inner: any SyncTransport, room: Int) {
    self.inner = inner
    state = Mutex(State(room: room))
  }

  /// What came of the parts that were offered, and how many were sent otherwise.
  var passed: (offers: [Bool], sends: Int) { state.withLock { ($0.offers, $0.sends) } }

  func offer(_ part: [UInt8]) -> Bool {
    let hasRoom = state.withLock { state in
      state.offers.append(state.room > 0)
      guard state.room > 0 else { return false }
      state.room -= 1
      return true
    }
    return hasRoom && inner.offer(part)
  }

  func send(_ parts: [[UInt8]]) async throws(TransportError) {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        state.sends += 1
        if state.room > 0 { return true }
        state.held = continuation
        return false
      }
      if isFree { continuation.resume() }
    }
    try await inner.send(parts)
  }

  /// There is room for as many as come.
  func letGo() {
    let held = state.withLock { state in
      state.room = .max / 2
      defer { state.held = nil }
      return state.held
    }
    held?.resume()
  }

  func receive() async throws(TransportError) -> [UInt8]? {
    asked.fire()
    return try await inner.receive()
  }

  func close() async { await inner.close() }
}

@Suite("What a server has to send")
struct OfferedPartsTests {
  @Test("goes at once while there is room, and in its order behind what waits", .timeLimit(.minutes(5)))
  func order() async throws {
    let host = SyncHost(stores: MemoryServerStore(), access: OpenAccess(), clock: { 1_000_000 })
    let (here, there) = MemoryTransport.pair(capacity: 64)
    let (encoder, narrow) = (FrameEncoder(), NarrowTransport(there, room: 2))
    var decoder = FrameDecoder()
    func say(_ message: ClientMessage) async throws {
      for part in try encoder.parts(of: message.frame) { try await here.send([part]) }
    }
    func next() async throws -> ServerMessage? {
      while let part = try await here.receive() { if let frame = try decoder.take(part) { return try ServerMessage(frame) } }
      return nil
    }
    let serving = Task { await host.serve(narrow) }
    try await say(.hello(Hello(versions: [1], features: [], token: "ann")))
    guard case .welcome = try await next() else {
      Issue.record("Nobody is welcome.")
      return
    }
    try await say(.ping(number: 1, roundTrip: 0))
    #expect(try await next() == .pong(number: 1))
    try await say(.ping(number: 2, roundTrip: 0))
    try await say(.ping(number: 3, roundTrip: 0))
    // The greeting, three pings, and what comes next: by then all have their answers.
    await narrow.asked.wait(count: 5)
    #expect(narrow.passed.offers == [true, true, false])
    narrow.letGo()
    #expect(try await next() == .pong(number: 2))
    #expect(try await next() == .pong(number: 3))
    // Once nothing waits, what comes goes at once again.
    while narrow.passed.offers.count < 4 {
      try await say(.ping(number: 4, roundTrip: 0))
      #expect(try await next() == .pong(number: 4))
    }
    #expect(narrow.passed.offers == [true, true, false, true])
    await here.close()
    await serving.value
  }
}
