#if Sync
import NIOCore
import NIOPosix
import SyncProtocol
@testable import SyncWebSocket
import Testing

/// Says the same to everybody, and closes.
private final class Answering: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer
  private let answer: String

  init(_ answer: String) { self.answer = answer }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
    context.close(promise: nil)
  }
}

@Suite("A WebSocket")
struct WebSocketTests {
  @Test("carries parts both ways, in order, up to the longest")
  func parts() async throws {
    try await withEcho { port in
      let transport = try await WebSocketConnector("ws://127.0.0.1:\(port)", seconds: 600).connect()
      let parts = [[UInt8](), [1], [UInt8](repeating: 7, count: (256 << 10) + 16)] + (0..<50).map { [UInt8](repeating: $0, count: 1000) }
      let sending = Task { try await transport.send(parts) }
      for part in parts { #expect(try await transport.receive() == part) }
      try await sending.value
      await transport.close()
      #expect(try await transport.receive() == nil)
    }
  }

  @Test("ends on the other side when one closes it")
  func closing() async throws {
    let listener = try await WebSocketListener(host: "127.0.0.1", port: 0)
    let (ends, continuation) = AsyncStream.makeStream(of: Bool.self)
    let running = Task {
      try await listener.run { transport in
        let part = try? await transport.receive()
        // The first says goodbye, the second is said goodbye to.
        if part == [1] { continuation.yield((try? await transport.receive()) == nil) }
      }
    }
    let first = try await WebSocketConnector("ws://127.0.0.1:\(listener.port)", seconds: 600).connect()
    try await first.send([[1]])
    await first.close()
    var iterator = ends.makeAsyncIterator()
    #expect(await iterator.next() == true)
    let second = try await WebSocketConnector("ws://127.0.0.1:\(listener.port)", seconds: 600).connect()
    try await second.send([[2]])
    #expect(try await second.receive() == nil)
    running.cancel()
  }

  @Test("is not had where nobody is, and where somebody speaks something else")
  func foreign() async throws {
    await #expect { _ = try await WebSocketConnector("ws://127.0.0.1:1").connect() } throws: {
      ($0 as? TransportError)?.code == .unreachable
    }
    for answer in ["SSH-2.0-none\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ""] {
      let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Answering(answer)) }
        }
        .bind(host: "127.0.0.1", port: 0).get()
      let port = server.localAddress?.port ?? 0
      await #expect { _ = try await WebSocketConnector("ws://127.0.0.1:\(port)", seconds: 5).connect() } throws: {
        ($0 as? TransportError)?.code == (answer.isEmpty ? .unreachable : .foreignProtocol)
      }
      try await server.close()
    }
  }

  @Test("is asked for at a port that tells others that it is there")
  func health() async throws {
    try await withEcho { port in
      #expect(try await said(to: "GET /health HTTP/1.1\r\nHost: x\r\n\r\n", port).hasSuffix("ok\n"))
      #expect(try await said(to: "GET / HTTP/1.1\r\nHost: x\r\n\r\n", port).hasPrefix("HTTP/1.1 426"))
      // It goes on.
      let transport = try await WebSocketConnector("ws://127.0.0.1:\(port)", seconds: 600).connect()
      try await transport.send([[5]])
      #expect(try await transport.receive() == [5])
    }
  }

  @Test("has an address of a known form, and none that others could listen to")
  func addresses() throws {
    let address = try WebSocketAddress("ws://[::1]:9480/a/b")
    #expect((address.host, address.port, address.path) == ("::1", 9480, "/a/b"))
    #expect(try WebSocketAddress("ws://localhost").port == 80)
    let secure = try WebSocketAddress("wss://example.org/sync")
    #expect((secure.host, secure.port, secure.path, secure.isSecure) == ("example.org", 443, "/sync", true))
    #expect("\(secure)" == "wss://example.org:443/sync")
    #expect(try WebSocketAddress("ws://example.org:1", allowsPlainText: true).host == "example.org")
    for text in [
      "", "http://localhost", "ws://", "ws://localhost:0", "ws://localhost:99999", "ws://a b", "ws://example.org", "ws://127.evil.org",
    ] {
      #expect(throws: TransportError.self, "\(text)") { try WebSocketAddress(text) }
    }
  }

  @Test("counts the addresses of one network of version 6 as one place")
  func places() throws {
    let places = try ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::7", "2001:db8::1", "10.0.0.1", "::1"].map {
      ConnectionCounts.place(of: try SocketAddress(ipAddress: $0, port: 1))
    }
    #expect(places == ["2001:db8:1:2::/64", "2001:db8:1:2::/64", "2001:db8:0:0::/64", "10.0.0.1", "0:0:0:0::/64"])
  }

  @Test("ends at once, though somebody has connected and says nothing")
  func silence() async throws {
    var limits = WebSocketListener.Limits()
    limits.seconds = 3_600
    let listener = try await WebSocketListener(host: "127.0.0.1", port: 0, limits: limits)
    let running = Task { try await listener.run { await $0.close() } }
    let silent = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connect(host: "127.0.0.1", port: listener.port).get()
    // One more that speaks: the silent one was taken before it.
    let transport = try await WebSocketConnector("ws://127.0.0.1:\(listener.port)", seconds: 600).connect()
    await listener.close()
    try await running.value
    try await silent.closeFuture.get()
    await transport.close()
  }

  @Test("ends where the listener is cancelled, or closed, before anybody has served it", arguments: [true, false])
  func neverServed(isCancelled: Bool) async throws {
    let listener = try await WebSocketListener(host: "127.0.0.1", port: 0)
    let connector = try WebSocketConnector("ws://127.0.0.1:\(listener.port)", seconds: 600)
    let transports = [try await connector.connect(), try await connector.connect()]
    if isCancelled {
      let running = Task {
        while !Task.isCancelled { await Task.yield() }
        try await listener.run { await $0.close() }
      }
      running.cancel()
      try await running.value
    } else {
      await listener.close()
      try await listener.run { await $0.close() }
    }
    for transport in transports { #expect(try await transport.receive() == nil) }
  }

  @Test("ends where the listener is cancelled while it is asked for")
  func askedForAtTheEnd() async throws {
    for _ in 0..<20 {
      let listener = try await WebSocketListener(host: "127.0.0.1", port: 0)
      let connector = try WebSocketConnector("ws://127.0.0.1:\(listener.port)", seconds: 600)
      let running = Task { try await listener.run { await $0.close() } }
      let asking = (0..<8).map { _ in Task { try? await connector.connect() } }
      running.cancel()
      for task in asking {
        guard let transport = await task.value else { continue }
        #expect(try await transport.receive() == nil)
      }
      try await running.value
    }
  }

  @Test("gives its place back once it is served no more, though its client does not read", .timeLimit(.minutes(5)))
  func unread() async throws {
    var options = WebSocketListener.Options()
    (options.limits.connections, options.limits.seconds, options.limits.secondsToEnd) = (1, 600, 0)
    let listener = try await WebSocketListener(host: "127.0.0.1", port: 0, options: options)
    let (served, continuation) = AsyncStream.makeStream(of: Void.self)
    let running = Task {
      try await listener.run { transport in
        // More in one part than any system takes from who is not read.
        try? await transport.send([[UInt8](repeating: 7, count: 32 << 20)])
        continuation.yield()
      }
    }
    let silent = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(.socketOption(.so_rcvbuf), value: 4096)
      .channelOption(.autoRead, value: false)
      .connect(host: "127.0.0.1", port: listener.port).get()
    let request = """
      GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
      Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: vivarium-sync.1\r\n\r\n
      """
    try await silent.writeAndFlush(ByteBuffer(string: request)).get()
    var iterator = served.makeAsyncIterator()
    _ = await iterator.next()
    let connector = try WebSocketConnector("ws://127.0.0.1:\(listener.port)", seconds: 600)
    var next = try? await connector.connect()
    while next == nil, !Task.isCancelled { next = try? await connector.connect() }
    #expect(next != nil)
    await next?.close()
    running.cancel()
    try await running.value
    try? await silent.close()
  }

  @Test("is taken only so many times from one address")
  func limits() async throws {
    var limits = WebSocketListener.Limits()
    limits.connectionsOfAddress = 2
    try await withEcho(limits) { port in
      let connector = try WebSocketConnector("ws://127.0.0.1:\(port)", seconds: 600)
      let (first, second) = (try await connector.connect(), try await connector.connect())
      // It is not said to be another protocol: a server with as many connections as it takes will have room again.
      await #expect { _ = try await connector.connect() } throws: { ($0 as? TransportError)?.code == .unreachable }
      try await first.send([[1]])
      #expect(try await first.receive() == [1])
      await second.close()
    }
  }
}
#endif
