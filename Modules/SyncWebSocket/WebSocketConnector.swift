#if Sync
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import SyncProtocol

/// Connects to a server over WebSocket.
///
/// ```swift
/// let connector = try WebSocketConnector("wss://sync.example.org")
/// ```
public struct WebSocketConnector: SyncConnector {
  /// The server's address.
  public let address: WebSocketAddress
  let security: ClientSecurity?
  let limit: TimeAmount

  /// - Parameters:
  ///   - address: see `WebSocketAddress`.
  ///   - trust: how to verify the server, if it uses TLS.
  ///   - seconds: the time limit for connecting.
  public init(
    _ address: String, trust: ServerTrust = .system, allowsPlainText: Bool = false, seconds: Int64 = 10
  ) throws(TransportError) {
    self.address = try WebSocketAddress(address, allowsPlainText: allowsPlainText)
    security = self.address.isSecure ? try ClientSecurity(trust, host: self.address.host) : nil
    limit = .seconds(max(1, seconds))
  }

  public func connect() async throws(TransportError) -> any SyncTransport {
    let (upgrade, ear) = try await open { channel in try WebSocketConnector.upgrade(channel, address) }
    guard let transport = try? await upgrade.get() else {
      throw ear.hasHeard ? TransportError(.foreignProtocol, "Who answers at \(address) is no server of Vivarium.") : silence
    }
    return transport
  }

  /// A side that says nothing may be a server that has as many connections as it takes, or that ends, or is behind a proxy without it.
  var silence: TransportError {
    TransportError(.unreachable, "The connection to \(address) ended, or took too long, before anybody answered.")
  }

  /// Opens a connection, with TLS if the address says so, and returns what `configure` makes of it within the time limit.
  func open<R: Sendable>(
    _ configure: @escaping @Sendable (any Channel) throws -> EventLoopFuture<R>
  ) async throws(TransportError) -> (result: EventLoopFuture<R>, ear: FirstBytes.Ear) {
    let (security, limit, ear) = (security, limit, FirstBytes.Ear())
    let opened: (handshake: EventLoopFuture<Void>, result: EventLoopFuture<R>)
    do {
      opened = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connectTimeout(limit)
        .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        .connect(host: address.host, port: address.port) { channel in
          channel.eventLoop.makeCompletedFuture {
            let timer = channel.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
            let handshake = try security?.add(to: channel) ?? channel.eventLoop.makeSucceededVoidFuture()
            try channel.pipeline.syncOperations.addHandler(FirstBytes(ear))
            let result = try configure(channel)
            result.whenComplete { _ in timer.cancel() }
            return (handshake, result)
          }
        }
    } catch { throw TransportError(.unreachable, "There is no way to \(address): \(error).") }
    do { try await opened.handshake.get() } catch {
      throw security?.meaning(of: error, address) ?? TransportError(.unreachable, "There is no way to \(address).")
    }
    return (opened.result, ear)
  }

  private static func upgrade(
    _ channel: any Channel, _ address: WebSocketAddress
  ) throws -> EventLoopFuture<WebSocketTransport?> {
    let upgrader = NIOTypedWebSocketClientUpgrader<WebSocketTransport?>(
      maxFrameSize: WebSocketNames.frameBytes,
      upgradePipelineHandler: { channel, answer in
        channel.eventLoop.makeCompletedFuture {
          guard answer.headers["Sec-WebSocket-Protocol"] == [WebSocketNames.subprotocol] else {
            channel.close(promise: nil)
            return nil
          }
          return try WebSocketTransport.end(of: channel, masks: true)
        }
      })
    var headers = HTTPHeaders()
    headers.add(name: "Host", value: address.authority)
    headers.add(name: "Sec-WebSocket-Protocol", value: WebSocketNames.subprotocol)
    headers.add(name: "Content-Length", value: "0")
    let request = HTTPRequestHead(version: .http1_1, method: .GET, uri: address.path, headers: headers)
    let configuration = NIOTypedHTTPClientUpgradeConfiguration<WebSocketTransport?>(
      upgradeRequestHead: request, upgraders: [upgrader],
      notUpgradingCompletionHandler: { channel in
        channel.close(promise: nil)
        return channel.eventLoop.makeSucceededFuture(nil)
      })
    return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
      configuration: .init(upgradeConfiguration: configuration))
  }
}
#endif
