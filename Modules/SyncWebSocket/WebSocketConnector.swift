#if Sync
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import SyncProtocol

/// Reaches a server over WebSocket.
///
/// ```swift
/// let connector = try WebSocketConnector("ws://127.0.0.1:9480")
/// ```
public struct WebSocketConnector: SyncConnector {
  /// Where the server is.
  public let address: WebSocketAddress
  private let seconds: Int64

  /// - Parameters:
  ///   - address: see `WebSocketAddress`.
  ///   - seconds: for the connection to be there.
  public init(_ address: String, allowsPlainText: Bool = false, seconds: Int64 = 10) throws(TransportError) {
    self.address = try WebSocketAddress(address, allowsPlainText: allowsPlainText)
    self.seconds = max(1, seconds)
  }

  public func connect() async throws(TransportError) -> any SyncTransport {
    let upgraded: WebSocketBridge.Channel?
    do { upgraded = try await upgrade() } catch let error as TransportError { throw error } catch {
      throw TransportError(.unreachable, "There is no way to \(address): \(error).")
    }
    guard let upgraded else { throw TransportError(.foreignProtocol, "Who answers at \(address) is no server of Vivarium.") }
    let (here, there) = MemoryTransport.pair()
    Task { await WebSocketBridge(end: there, masks: true).carry(upgraded) }
    return here
  }

  /// nil where who answers does not want to speak our protocol.
  private func upgrade() async throws -> WebSocketBridge.Channel? {
    let (address, limit) = (address, TimeAmount.seconds(seconds))
    let result: EventLoopFuture<WebSocketBridge.Channel?> = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connectTimeout(limit)
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .connect(host: address.host, port: address.port) { channel in
        channel.eventLoop.makeCompletedFuture {
          let timer = channel.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
          let result = try WebSocketConnector.upgrade(channel, address)
          result.whenComplete { _ in timer.cancel() }
          return result
        }
      }
    // Who closes, or says what is no answer, is none of ours.
    do { return try await result.get() } catch { return nil }
  }

  private static func upgrade(
    _ channel: any Channel, _ address: WebSocketAddress
  ) throws -> EventLoopFuture<WebSocketBridge.Channel?> {
    let upgrader = NIOTypedWebSocketClientUpgrader<WebSocketBridge.Channel?>(
      maxFrameSize: WebSocketNames.frameBytes,
      upgradePipelineHandler: { channel, answer in
        channel.eventLoop.makeCompletedFuture {
          guard answer.headers["Sec-WebSocket-Protocol"] == [WebSocketNames.subprotocol] else {
            channel.close(promise: nil)
            return nil
          }
          return try WebSocketBridge.channel(channel)
        }
      })
    var headers = HTTPHeaders()
    headers.add(name: "Host", value: "\(address.host.contains(":") ? "[\(address.host)]" : address.host):\(address.port)")
    headers.add(name: "Sec-WebSocket-Protocol", value: WebSocketNames.subprotocol)
    headers.add(name: "Content-Length", value: "0")
    let request = HTTPRequestHead(version: .http1_1, method: .GET, uri: address.path, headers: headers)
    let configuration = NIOTypedHTTPClientUpgradeConfiguration<WebSocketBridge.Channel?>(
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
