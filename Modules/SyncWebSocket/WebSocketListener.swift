#if Sync
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket
import SyncProtocol

/// Accepts connections over WebSocket.
///
/// ```swift
/// let listener = try WebSocketListener(host: "127.0.0.1", port: 9480)
/// try await listener.run { transport in await host.serve(transport) }
/// ```
public final class WebSocketListener: Sendable {
  /// The limits of a listener.
  public struct Limits: Hashable, Sendable {
    /// The maximal number of connections at one time.
    public var connections = 10_000
    /// The maximal number of connections from one address.
    public var connectionsOfAddress = 1_000
    /// Seconds in which a connection must ask for a WebSocket.
    public var seconds: Int64 = 10
    /// Seconds in which a client must take what is left for it when it is no longer served. Then its connection is closed.
    public var secondsToEnd: Int64 = 10

    /// Creates the default limits.
    public init() {}
  }

  /// The options of a listener beyond its address.
  public struct Options: Sendable {
    /// The certificate for TLS; nil for none.
    public var certificate: ServerCertificate?
    /// Whether to accept plain text from other machines: behind a proxy with TLS, or in a private network.
    public var allowsPlainText = false
    /// Whether every connection comes through a proxy, whose header "X-Forwarded-For" has the client's address.
    public var isBehindProxy = false
    /// The limits of connections.
    public var limits = Limits()
    /// Answers requests that do not ask for a WebSocket.
    public var answer: @Sendable (WebRequest) async -> WebAnswer = WebSocketListener.plainAnswer
    /// Called with a sentence about each refusal at the port.
    public var notice: @Sendable (String) -> Void = { _ in }

    /// Creates the default options.
    public init() {}
  }

  private typealias Upgrade = EventLoopFuture<WebSocketTransport?>
  /// The connections that nobody serves yet.
  private let pending = PendingChannels()
  private let server: NIOAsyncChannel<Upgrade, Never>
  /// The port: the requested one, or the one that the system chose for 0.
  public let port: Int

  /// Listens from now on; `run` serves the connections. Throws `.badAddress` if listening at the address is not possible, or would accept
  /// plain text from the network.
  ///
  /// - Parameters:
  ///   - host: one of this machine's addresses.
  ///   - port: 0 lets the system choose.
  public init(host: String, port: Int, options: Options) async throws(TransportError) {
    guard options.certificate != nil || options.allowsPlainText || options.isBehindProxy || WebSocketAddress.isLoopback(host) else {
      throw TransportError(
        .badAddress,
        "Others can read what comes to '\(host)' in plain text: give the server a certificate, or put a proxy with TLS before it.")
    }
    let counts = ConnectionCounts(options.limits)
    let pending = pending
    do {
      server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .serverChannelOption(.backlog, value: 1024)
        .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        .bind(host: host, port: port) { channel in
          channel.eventLoop.makeCompletedFuture { try WebSocketListener.upgrade(channel, counts, pending, options) }
        }
    } catch { throw TransportError(.badAddress, "Nobody can listen at '\(host)', port \(port): \(error).") }
    self.port = server.channel.localAddress?.port ?? port
  }

  /// Listens without TLS.
  public convenience init(
    host: String, port: Int, allowsPlainText: Bool = false, limits: Limits = Limits()
  ) async throws(TransportError) {
    var options = Options()
    (options.allowsPlainText, options.limits) = (allowsPlainText, limits)
    try await self.init(host: host, port: port, options: options)
  }

  /// The answers of a server without routes: only its health.
  public static let plainAnswer: @Sendable (WebRequest) async -> WebAnswer = { request in
    if request.method == "GET", request.path == "/health" { return WebAnswer("ok\n") }
    return WebAnswer(status: 426, "This is a server of Vivarium; it speaks WebSocket with '\(WebSocketNames.subprotocol)'.\n")
  }

  /// Serves connections concurrently, until the task is cancelled or the listener closed. Connections that nobody serves then are closed.
  public func run(_ serve: @escaping @Sendable (any SyncTransport) async -> Void) async throws(TransportError) {
    do {
      try await server.executeThenClose { inbound in
        await withDiscardingTaskGroup { group in
          do {
            for try await upgrade in inbound {
              group.addTask { [pending] in await WebSocketListener.take(upgrade, pending, serve) }
            }
          } catch {
            // The listener was closed.
          }
          pending.close()
          group.cancelAll()
        }
      }
    } catch { throw TransportError(.closed, "It listens no more: \(error).") }
  }

  /// Stops listening, closes connections that nobody serves yet, and ends `run` when all others are served.
  public func close() async {
    do { try await server.channel.close() } catch {}
    pending.close()
  }

  private static func take(
    _ upgrade: Upgrade, _ pending: PendingChannels, _ serve: @Sendable (any SyncTransport) async -> Void
  ) async {
    // A client that sends an invalid request is ignored.
    guard let transport = try? await upgrade.get() else { return }
    let channel = transport.channel
    pending.remove(channel)
    await withTaskCancellationHandler { await serve(transport) } onCancel: { channel.close(promise: nil) }
    await transport.close()
    // A client that has stopped reading would keep its socket, and what is left for it in memory, for ever: the transport gives up on it.
    do { try await channel.closeFuture.get() } catch {}
  }

  private static func upgrade(
    _ channel: any Channel, _ counts: ConnectionCounts, _ pending: PendingChannels, _ options: Options
  ) throws -> Upgrade {
    let address = options.isBehindProxy ? nil : ConnectionCounts.place(of: channel.remoteAddress)
    guard counts.begin(address) else {
      options.notice("There are too many connections\(address.map { " from \($0)" } ?? "").")
      channel.close(promise: nil)
      throw TransportError(.closed, "There are too many connections.")
    }
    channel.closeFuture.whenComplete { _ in counts.end(address) }
    pending.insert(channel)
    let timer = channel.eventLoop.scheduleTask(in: .seconds(counts.limits.seconds)) { channel.close(promise: nil) }
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(ForeignProtocolHandler(isSecure: options.certificate != nil, notice: options.notice))
    if let certificate = options.certificate { try pipeline.addHandler(NIOSSLServerHandler(context: certificate.context)) }
    let upgrader = NIOTypedWebSocketServerUpgrader<WebSocketTransport?>(
      maxFrameSize: WebSocketNames.frameBytes,
      shouldUpgrade: { channel, head in
        let offered = head.headers[canonicalForm: "Sec-WebSocket-Protocol"]
        let isOurs = offered.contains { $0 == WebSocketNames.subprotocol }
        return channel.eventLoop.makeSucceededFuture(isOurs ? ["Sec-WebSocket-Protocol": WebSocketNames.subprotocol] : nil)
      },
      upgradePipelineHandler: { channel, _ in
        channel.eventLoop.makeCompletedFuture {
          try WebSocketTransport.end(of: channel, masks: false, timeToEnd: .seconds(options.limits.secondsToEnd))
        }
      })
    let configuration = NIOTypedHTTPServerUpgradeConfiguration<WebSocketTransport?>(
      upgraders: [upgrader],
      notUpgradingCompletionHandler: { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            WebRequestHandler(isBehindProxy: options.isBehindProxy, seconds: options.limits.seconds, options.answer))
          return nil
        }
      })
    let result = try pipeline.configureUpgradableHTTPServerPipeline(configuration: .init(upgradeConfiguration: configuration))
    try pipeline.addHandler(ClosingOnError())
    result.whenComplete { outcome in
      timer.cancel()
      switch outcome {
      // It is removed when somebody serves it.
      case .success(.some): break
      case .success(nil): pending.remove(channel)
      case .failure:
        pending.remove(channel)
        channel.close(promise: nil)
      }
    }
    return result
  }
}
#endif
