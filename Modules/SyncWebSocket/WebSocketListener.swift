#if Sync
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket
import SyncProtocol

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

  /// How a listener is set up beyond its address.
  public struct Options: Sendable {
    /// Speaks TLS with it; nil speaks none.
    public var certificate: ServerCertificate?
    /// Whether plain text may come from other machines: a proxy before it speaks TLS, or the network is private.
    public var allowsPlainText = false
    /// Whether all that comes has passed a proxy, whose header "X-Forwarded-For" says where it is from.
    public var isBehindProxy = false
    /// How much is taken.
    public var limits = Limits()
    /// Answers requests that are for no WebSocket.
    public var answer: @Sendable (WebRequest) async -> WebAnswer = WebSocketListener.plainAnswer
    /// Is told, in a sentence, what was refused at the port.
    public var notice: @Sendable (String) -> Void = { _ in }

    /// The usual.
    public init() {}
  }

  private typealias Upgrade = EventLoopFuture<WebSocketBridge.Channel?>
  /// Those that have not said yet what they want.
  private let pending = PendingChannels()
  private let server: NIOAsyncChannel<Upgrade, Never>
  /// Where it listens: what was asked for, or what the system chose for 0.
  public let port: Int

  /// Listens from now on; who comes is served by `run`. Throws `.badAddress` where the address cannot be listened at, or would take plain
  /// text from the network.
  ///
  /// - Parameters:
  ///   - host: one of this machine's addresses.
  ///   - port: 0 has the system choose.
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

  /// What a server without routes says: whether it is there.
  public static let plainAnswer: @Sendable (WebRequest) async -> WebAnswer = { request in
    if request.method == "GET", request.path == "/health" { return WebAnswer("ok\n") }
    return WebAnswer(status: 426, "This is a server of Vivarium; it speaks WebSocket with '\(WebSocketNames.subprotocol)'.\n")
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

  /// Listens no more, hangs up on who has not said yet what he wants, and ends `run` when all others are served.
  public func close() async {
    do { try await server.channel.close() } catch {}
    pending.close()
  }

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
          try channel.pipeline.syncOperations.addHandler(
            WebRequestHandler(isBehindProxy: options.isBehindProxy, seconds: options.limits.seconds, options.answer))
          return nil
        }
      })
    let result = try pipeline.configureUpgradableHTTPServerPipeline(configuration: .init(upgradeConfiguration: configuration))
    try pipeline.addHandler(ClosingOnError())
    result.whenComplete { outcome in
      timer.cancel()
      pending.remove(channel)
      if case .failure = outcome { channel.close(promise: nil) }
    }
    return result
  }
}
#endif
