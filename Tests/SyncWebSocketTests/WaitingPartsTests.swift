#if Sync
import NIOCore
import NIOEmbedded
import NIOWebSocket
import SyncProtocol
@testable import SyncWebSocket
import Synchronization
import Testing

/// What passes between a transport and its channel.
private final class Passed: Sendable {
  private struct State {
    var reads = 0
    var written: [Int] = []
    /// What the system has not taken yet.
    var waiting: [EventLoopPromise<Void>?] = []
  }

  private let state = Mutex(State())

  var reads: Int { state.withLock { $0.reads } }
  var written: [Int] { state.withLock { $0.written } }

  func read() { state.withLock { $0.reads += 1 } }

  func write(_ bytes: Int, _ promise: EventLoopPromise<Void>?) {
    state.withLock { state in
      state.written.append(bytes)
      state.waiting.append(promise)
    }
  }

  /// The system takes the first part that waits.
  func takeOne() { state.withLock { $0.waiting.removeFirst() }?.succeed() }

  /// The system takes all that waits.
  func takeAll() {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    for promise in waiting { promise?.succeed() }
  }
}

/// The system, which takes nothing until it is told to.
private final class SlowSystem: ChannelDuplexHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundIn = WebSocketFrame
  private let passed: Passed

  init(_ passed: Passed) { self.passed = passed }

  func read(context: ChannelHandlerContext) { passed.read() }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    passed.write(unwrapOutboundIn(data).data.readableBytes, promise)
  }
}

@Suite("What waits at a WebSocket")
struct WaitingPartsTests {
  private let part = [UInt8](repeating: 7, count: WebSocketTransport.waitingBytes / 4)

  private func withTransport(_ body: (NIOAsyncTestingChannel, WebSocketTransport, Passed) async throws -> Void) async throws {
    let (channel, passed) = (NIOAsyncTestingChannel(), Passed())
    let transport = try await channel.testingEventLoop.executeInContext {
      try channel.pipeline.syncOperations.addHandler(SlowSystem(passed))
      return try WebSocketTransport.end(of: channel, masks: false)
    }
    try await body(channel, transport, passed)
    passed.takeAll()
    _ = try await channel.finish(acceptAlreadyClosed: true)
  }

  private func arrive(_ channel: NIOAsyncTestingChannel, _ opcode: WebSocketOpcode, _ bytes: [UInt8]) async throws {
    try await channel.writeInbound(WebSocketFrame(fin: true, opcode: opcode, data: ByteBuffer(bytes: bytes)))
  }

  @Test("is no more than may, before what is sent waits", .timeLimit(.minutes(5)))
  func sending() async throws {
    try await withTransport { channel, transport, passed in
      let sending = Task { try await transport.send(Array(repeating: part, count: 6)) }
      while passed.written.count < 4 {
        await channel.testingEventLoop.run()
        await Task.yield()
      }
      for _ in 0..<1_000 { await channel.testingEventLoop.run() }
      #expect(passed.written.count == 4)
      passed.takeOne()
      while passed.written.count < 5 { await channel.testingEventLoop.run() }
      for _ in 0..<1_000 { await channel.testingEventLoop.run() }
      #expect(passed.written.count == 5)
      // Nobody takes more, and who waits hears of the end.
      await transport.close()
      await #expect(throws: TransportError.self) { try await sending.value }
      await #expect(throws: TransportError.self) { try await transport.send([[1]]) }
    }
  }

  @Test("is no more than may, before no more is read", .timeLimit(.minutes(5)))
  func receiving() async throws {
    try await withTransport { channel, transport, passed in
      try await channel.testingEventLoop.executeInContext { channel.read() }
      let before = passed.reads
      #expect(before > 0)
      for _ in 0..<4 { try await arrive(channel, .binary, part) }
      // The testing channel reads by itself after what has arrived, too.
      let full = passed.reads
      try await channel.testingEventLoop.executeInContext { for _ in 0..<10 { channel.read() } }
      #expect(passed.reads == full)
      #expect(try await transport.receive() == part)
      await channel.testingEventLoop.run()
      #expect(passed.reads == full + 1)
      try await channel.testingEventLoop.executeInContext { channel.read() }
      #expect(passed.reads == full + 2)
      for _ in 0..<3 { #expect(try await transport.receive() == part) }
    }
  }

  @Test("is received though the connection has ended", .timeLimit(.minutes(5)))
  func ended() async throws {
    try await withTransport { channel, transport, passed in
      try await arrive(channel, .binary, [1])
      try await arrive(channel, .binary, [2])
      try await arrive(channel, .connectionClose, [])
      try await arrive(channel, .binary, [3])
      #expect(try await transport.receive() == [1])
      #expect(try await transport.receive() == [2])
      #expect(try await transport.receive() == nil)
      // The answer: a code of two bytes.
      await channel.testingEventLoop.run()
      #expect(passed.written == [2])
      await #expect(throws: TransportError.self) { try await transport.send([[4]]) }
    }
  }

  @Test("is no answer to who does not take answers", .timeLimit(.minutes(5)))
  func pings() async throws {
    try await withTransport { channel, transport, passed in
      try await arrive(channel, .ping, [1, 2, 3])
      #expect(passed.written == [3])
      channel.isWritable = false
      for _ in 0..<100 { try await arrive(channel, .ping, [1, 2, 3]) }
      #expect(passed.written == [3])
      channel.isWritable = true
      try await arrive(channel, .text, [65])
      #expect(try await transport.receive() == nil)
      #expect(passed.written == [3, 2])
    }
  }
}
#endif
