#if Sync
import NIOCore
import NIOWebSocket

/// Passes on what comes over a WebSocket to its transport, on the event loop; reads no more while too much waits there.
final class WebSocketFrameHandler: ChannelDuplexHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  private let transport: WebSocketTransport

  init(_ transport: WebSocketTransport) { self.transport = transport }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    switch frame.opcode {
    case .binary: transport.came(Array(frame.unmaskedData.readableBytesView))
    case .ping:
      // One that does not take the answers gets no more of them: they would wait in memory.
      guard context.channel.isWritable else { return }
      context.writeAndFlush(wrapOutboundOut(transport.frame(.pong, frame.unmaskedData)), promise: nil)
    case .pong: break
    case .connectionClose: leave(.normalClosure)
    default:
      // Text, or a frame that is not a message by itself.
      leave(.unacceptableData)
    }
  }

  /// The transport asks for more when there is room again.
  func read(context: ChannelHandlerContext) { if !transport.isFull { context.read() } }

  func channelInactive(context: ChannelHandlerContext) {
    transport.end()
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The connection is lost, or it sent an invalid frame.
    transport.end()
    context.close(promise: nil)
  }

  private func leave(_ code: WebSocketErrorCode) { if transport.end() { transport.leave(code) } }
}
#endif
