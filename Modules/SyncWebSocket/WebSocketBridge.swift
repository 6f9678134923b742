#if Sync
import NIOCore
import NIOWebSocket
import SyncProtocol

/// Carries parts between a WebSocket and one end of a connection within the process, until either ends. The queues in between are
/// bounded, so a slow reader slows down the writer.
struct WebSocketBridge: Sendable {
  typealias Channel = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>

  /// With as many bytes waiting in a direction, no further part is taken. Much less than what a slow connection carries while nothing
  /// moves without it being given up: what was taken counts as a sign that the other side is there.
  static let waitingBytes = 256 << 10

  let end: MemoryTransport
  /// Whether to mask frames, as clients must.
  let masks: Bool

  func carry(_ channel: Channel) async {
    do {
      try await channel.executeThenClose { inbound, outbound in
        await withTaskGroup(of: Void.self) { group in
          group.addTask { await send(outbound) }
          group.addTask { await receive(inbound, outbound) }
          _ = await group.next()
          await end.close()
          group.cancelAll()
        }
      }
    } catch {
      // The connection is lost; both ends are notified.
    }
    await end.close()
  }

  private func send(_ outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>) async {
    do {
      while let part = try await end.receive() { try await outbound.write(frame(.binary, ByteBuffer(bytes: part))) }
      try await outbound.write(closing(.normalClosure))
    } catch {
      // The connection is lost; nothing more can be sent.
    }
  }

  private func receive(
    _ inbound: NIOAsyncChannelInboundStream<WebSocketFrame>, _ outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>
  ) async {
    do {
      for try await frame in inbound {
        switch frame.opcode {
        case .binary: try await end.send([Array(frame.unmaskedData.readableBytesView)])
        case .ping: try await outbound.write(self.frame(.pong, frame.unmaskedData))
        case .pong: break
        case .connectionClose:
          try await outbound.write(closing(.normalClosure))
          return
        default:
          // Text, or a frame that is not a message by itself.
          try await outbound.write(closing(.unacceptableData))
          return
        }
      }
    } catch {
      // Cancelled, or the connection is lost, or it sent an invalid frame.
    }
  }

  private func frame(_ opcode: WebSocketOpcode, _ data: ByteBuffer) -> WebSocketFrame {
    WebSocketFrame(fin: true, opcode: opcode, maskKey: masks ? .random() : nil, data: data)
  }

  private func closing(_ code: WebSocketErrorCode) -> WebSocketFrame {
    var data = ByteBuffer()
    data.write(webSocketErrorCode: code)
    return frame(.connectionClose, data)
  }

  /// The channel of a WebSocket; joins fragmented messages.
  static func channel(_ channel: any NIOCore.Channel) throws -> Channel {
    try channel.pipeline.syncOperations.addHandler(
      NIOWebSocketFrameAggregator(
        minNonFinalFragmentSize: 1, maxAccumulatedFrameCount: 1024, maxAccumulatedFrameSize: WebSocketNames.frameBytes))
    return try Channel(wrappingChannelSynchronously: channel)
  }
}
#endif
