#if Sync
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import SyncProtocol
import Synchronization

/// Takes connections over WebSocket.
///
/// ```swift
/// let listener = try WebSocketListener(host: "127.0.0.1", port: 9480)
/// try await listener.run { transport in await host.serve(transport) }
/// ```
public final class WebSocketListener: Sendable {
  /// How much is taken.
  public struct Limits: Hashable, Sendable {
    /// Connections at one time.
    public var connections = 10_000
    /// Of these, from one address.
    public var connectionsOfAddress = 1_000
    /// Seconds within which a connection has to say that it is a WebSocket.
    public var seconds: Int64 = 10

    /// The usual.
    public init() {}
  }

  private typealias Upgrade = EventLoopFuture<WebSocketBridge.Channel?>
  private let server: NIOAsyncChannel<Upgrade, Never>
  private let counts: ConnectionCounts
  /// Where it listens: what was asked for, or what the system chose for 0.
  public let port: Int

  /// Listens from now on; who comes is served by `run`. Throws `.badAddress` where the address cannot be listened at, or would take plain
  /// text from the network.
  ///
  /// - Parameters:
  ///   - host: one of this machine's addresses.
  ///   - port: 0 has the system choose.
  ///   - allowsPlainText: where a proxy before it speaks TLS, or the network is private.
  public init(host: String, port: Int, allowsPlainText: Bool = false, limits: Limits = Limits()) async throws(TransportError) {
    guard allowsPlainText || WebSocketAddress.isLoopback(host) else {
      throw TransportError(.badAddress, "Others can read what comes to '\(host)' in plain text: put a proxy with TLS before it.")
    }
    let counts = ConnectionCounts(limits)
    self.counts = counts
    do {
      server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .serverChannelOption(.backlog, value: 1024)
        .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        .bind(host: host, port: port) { channel in
          channel.eventLoop.makeCompletedFuture { try WebSocketListener.upgrade(channel, counts) }
        }
    } catch { throw TransportError(.badAddress, "Nobody can listen at '\(host)', port \(port): \(error).") }
    self.port = server.channel.localAddress?.port ?? port
  }

  /// Serves who comes, each beside the others, until the task is cancelled or the listener closed.
  public func run(_ serve: @escaping @Sendable (any SyncTransport) async -> Void) async throws(TransportError) {
    do {
      try await server.executeThenClose { inbound in
        await withDiscardingTaskGroup { group in
          do {
            for try await upgrade in inbound { group.addTask { await WebSocketListener.take(upgrade, serve) } }
          } catch {
            // It does not listen any more.
          }
          group.cancelAll()
        }
      }
    } catch { throw TransportError(.closed, "It listens no more: \(error).") }
  }

  /// Listens no more, and ends `run`.
  public func close() async { do { try await server.channel.close() } catch {} }

  private static func take(_ upgrade: Upgrade, _ serve: @Sendable (any SyncTransport) async -> Void) async {
    // Who says what is no request is not one of ours.
    guard let channel = try? await upgrade.get() else { return }
    let (here, there) = MemoryTransport.pair()
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await WebSocketBridge(end: there, masks: false).carry(channel) }
      await serve(here)
      await here.close()
    }
  }

  private static func upgrade(_ channel: any Channel, _ counts: ConnectionCounts) throws -> Upgrade {
    let address = channel.remoteAddress?.ipAddress ?? ""
    guard counts.begin(address) else {
      channel.close(promise: nil)
      throw TransportError(.closed, "There are too many connections.")
    }
    channel.closeFuture.whenComplete { _ in counts.end(address) }
    let timer = channel.eventLoop.scheduleTask(in: .seconds(counts.limits.seconds)) { channel.close(promise: nil) }
    let upgrader = NIOTypedWebSocketServerUpgrader<WebSocketBridge.Channel?>(
      maxFrameSize: WebSocketNames.frameBytes,
      shouldUpgrade: { channel, head in
        let offered = head.headers[canonicalForm: "Sec-WebSocket-Protocol"]
        let isOurs = offered.contains { $0 == WebSocketNames.subprotocol }
        return channel.eventLoop.makeSucceededFuture(isOurs ? ["Sec-WebSocket-Protocol": WebSocketNames.subprotocol] : nil)
      },
      upgradePipelineHandler: { channel, _ in channel.eventLoop.makeCompletedFuture { try WebSocketBridge.channel(channel) } })
    let configuration = NIOTypedHTTPServerUpgradeConfiguration<WebSocketBridge.Channel?>(
      upgraders: [upgrader],
      notUpgradingCompletionHandler: { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(PlainRequestHandler())
          return nil
        }
      })
    let result = try channel.pipeline.syncOperations.configureUpgradableHTTPServerPipeline(
      configuration: .init(upgradeConfiguration: configuration))
    result.whenComplete { outcome in
      timer.cancel()
      if case .failure = outcome { channel.close(promise: nil) }
    }
    return result
  }
}

/// Answers who does not want a WebSocket: whether the server is there.
private final class PlainRequestHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(let head) = unwrapInboundIn(data) else { return }
    let isHealth = head.method == .GET && head.uri == "/health"
    let text = isHealth ? "ok\n" : "This is a server of Vivarium; it speaks WebSocket with '\(WebSocketNames.subprotocol)'.\n"
    let headers: HTTPHeaders = ["Content-Type": "text/plain", "Content-Length": "\(text.utf8.count)", "Connection": "close"]
    let answer = HTTPResponseHead(version: .http1_1, status: isHealth ? .ok : .upgradeRequired, headers: headers)
    context.write(wrapOutboundOut(.head(answer)), promise: nil)
    context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
    let closed = context.eventLoop.makePromise(of: Void.self)
    let channel = context.channel
    closed.futureResult.whenComplete { _ in channel.close(promise: nil) }
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: closed)
  }
}

/// How many connections there are.
final class ConnectionCounts: Sendable {
  let limits: WebSocketListener.Limits
  private let counts = Mutex<(all: Int, ofAddress: [String: Int])>((0, [:]))

  init(_ limits: WebSocketListener.Limits) { self.limits = limits }

  func begin(_ address: String) -> Bool {
    counts.withLock { counts in
      guard counts.all < limits.connections, counts.ofAddress[address, default: 0] < limits.connectionsOfAddress else { return false }
      counts.all += 1
      counts.ofAddress[address, default: 0] += 1
      return true
    }
  }

  func end(_ address: String) {
    counts.withLock { counts in
      counts.all -= 1
      counts.ofAddress[address, default: 1] -= 1
      if counts.ofAddress[address] == 0 { counts.ofAddress[address] = nil }
    }
  }
}
#endif
