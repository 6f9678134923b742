#if Sync
import NIOCore
import NIOPosix
import Synchronization

/// A wire between devices and a server that can be slow, cut at a byte, cut for all, and dead without a word: a TCP proxy.
final class Wire: Sendable {
  enum Direction: Sendable { case toServer, toClient }

  /// How it is.
  struct Weather: Sendable {
    /// Milliseconds that each piece waits.
    var delay = 0...0
    /// Nobody gets through.
    var isCut = false
    /// What comes is swallowed, and neither side is told; a connection that lost anything carries nothing in that direction any more.
    var isDead = false
    /// Bytes after which, in either direction, the connection is cut; once.
    var cutAfter: (toServer: Int, toClient: Int)?
  }

  private struct State {
    var weather = Weather()
    var target: Int
    var open: [UInt64: [any Channel]] = [:]
    var last: UInt64 = 0
    var carried = (toServer: 0, toClient: 0)
  }

  private typealias Side = NIOAsyncChannel<ByteBuffer, ByteBuffer>
  private let listener: NIOAsyncChannel<Side, Never>
  private let state: Mutex<State>
  private let running = Mutex<Task<Void, Never>?>(nil)
  /// Where clients connect.
  let port: Int

  /// A wire to a server of this machine.
  init(to target: Int) async throws {
    state = Mutex(State(target: target))
    listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .bind(host: "127.0.0.1", port: 0) { channel in
        channel.eventLoop.makeCompletedFuture { try Side(wrappingChannelSynchronously: channel) }
      }
    port = listener.channel.localAddress?.port ?? 0
    let task = Task { [listener, carry] in await Wire.run(listener, carry) }
    running.withLock { $0 = task }
  }

  /// Ends it, with what goes over it. It has to be ended.
  func end() async {
    change { $0.isCut = true }
    do { try await listener.channel.close() } catch {
      // It is closed.
    }
    // Not cancelled: a channel that was accepted and that nobody takes ends the process.
    await running.withLock { $0 }?.value
  }

  /// Changes how it is. Where it is cut then, everything that is open is closed.
  func change(_ body: (inout Weather) -> Void) {
    let closing = state.withLock { state -> [any Channel] in
      body(&state.weather)
      guard state.weather.isCut else { return [] }
      defer { state.open = [:] }
      return state.open.values.flatMap { $0 }
    }
    for channel in closing { channel.close(promise: nil) }
  }

  /// The server's port.
  var target: Int { state.withLock { $0.target } }

  /// Leads to another server from the next connection on.
  func lead(to target: Int) { state.withLock { $0.target = target } }

  /// Bytes that came through, and forgets them.
  func takeCarried() -> (toServer: Int, toClient: Int) {
    state.withLock { state in
      defer { state.carried = (0, 0) }
      return state.carried
    }
  }

  // MARK: carrying

  private static func run(_ listener: NIOAsyncChannel<Side, Never>, _ carry: @escaping @Sendable (Side) async -> Void) async {
    do {
      try await listener.executeThenClose { inbound in
        try await withThrowingDiscardingTaskGroup { group in
          for try await client in inbound { group.addTask { await carry(client) } }
        }
      }
    } catch {
      // It was ended.
    }
  }

  @Sendable private func carry(_ client: Side) async {
    let (target, isCut) = state.withLock { ($0.target, $0.weather.isCut) }
    guard !isCut, let server = try? await connect(target) else { return await Wire.drop(client) }
    guard let number = register([client.channel, server.channel]) else {
      await Wire.drop(server)
      return await Wire.drop(client)
    }
    do {
      try await client.executeThenClose { fromClient, toClient in
        try await server.executeThenClose { fromServer, toServer in
          await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.pump(fromClient, toServer, .toServer) }
            group.addTask { await self.pump(fromServer, toClient, .toClient) }
            await group.next()
            group.cancelAll()
          }
        }
      }
    } catch {
      // One side is gone, and so is the other.
    }
    state.withLock { $0.open[number] = nil }
  }

  private func connect(_ port: Int) async throws -> Side {
    try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture { try Side(wrappingChannelSynchronously: channel) }
      }
  }

  /// nil where it was cut meanwhile.
  private func register(_ channels: [any Channel]) -> UInt64? {
    state.withLock { state in
      if state.weather.isCut { return nil }
      state.last += 1
      state.open[state.last] = channels
      return state.last
    }
  }

  private static func drop(_ side: Side) async {
    do { try await side.executeThenClose { _, _ in } } catch {
      // It is closed.
    }
  }

  private func pump(
    _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>, _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>, _ direction: Direction
  ) async {
    // For good: a stream has no holes, whatever the weather is later.
    var isDead = false
    do {
      for try await var buffer in inbound {
        let (allowed, weather) = allow(buffer.readableBytes, direction)
        if weather.isDead { isDead = true }
        if isDead { continue }
        let delay = Int.random(in: weather.delay)
        if delay > 0 { try await Task.sleep(for: .milliseconds(delay)) }
        let isWhole = allowed == buffer.readableBytes
        if let part = buffer.readSlice(length: allowed), part.readableBytes > 0 { try await outbound.write(part) }
        if !isWhole { return }
      }
    } catch {
      // One side is gone.
    }
  }

  /// How many of some bytes come through.
  private func allow(_ bytes: Int, _ direction: Direction) -> (Int, Weather) {
    state.withLock { state in
      var allowed = bytes
      if let cut = state.weather.cutAfter {
        allowed = min(bytes, direction == .toServer ? cut.toServer : cut.toClient)
        if direction == .toServer { state.weather.cutAfter?.toServer -= allowed } else { state.weather.cutAfter?.toClient -= allowed }
        if allowed < bytes { state.weather.cutAfter = nil }
      }
      if direction == .toServer { state.carried.toServer += allowed } else { state.carried.toClient += allowed }
      return (allowed, state.weather)
    }
  }
}
#endif
