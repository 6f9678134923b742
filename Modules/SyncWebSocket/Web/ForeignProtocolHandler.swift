#if Sync
import NIOCore

/// The first handler at a server's port: answers clients of another protocol and closes at once, before anything is stored for them.
final class ForeignProtocolHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let isSecure: Bool
  private let notice: @Sendable (String) -> Void
  private var isOurs: Bool?

  /// - Parameters:
  ///   - isSecure: whether the port uses TLS.
  ///   - notice: called with each refusal.
  init(isSecure: Bool, notice: @escaping @Sendable (String) -> Void) { (self.isSecure, self.notice) = (isSecure, notice) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isOurs == nil, let problem = problem(unwrapInboundIn(data)) {
      isOurs = false
      notice(problem.why)
      guard let answer = problem.answer else { return context.close(promise: nil) }
      let text = "\(problem.why)\n"
      let head = "HTTP/1.1 \(answer)\r\nContent-Type: text/plain\r\nContent-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n"
      context.write(wrapOutboundOut(ByteBuffer(string: head + text)), promise: nil)
      context.flush()
      return context.close(promise: nil)
    }
    if isOurs == nil { isOurs = true }
    if isOurs == true { context.fireChannelRead(data) }
  }

  /// What is wrong with the first bytes, and the status of an answer if the client would understand one.
  private func problem(_ bytes: ByteBuffer) -> (why: String, answer: String?)? {
    guard let first = bytes.readableBytesView.first else { return nil }
    let isLetter = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first)
    if isSecure {
      // Each record of a handshake begins with this byte.
      if first == 0x16 { return nil }
      return ("This port speaks TLS: use 'wss://' or 'https://'.", isLetter ? "400 Bad Request" : nil)
    }
    // Any answer that is not TLS tells a TLS client what is wrong; a closed connection does not.
    if first == 0x16 {
      return ("TLS came to a port that speaks none: use 'ws://', or give the server a certificate.", "400 Bad Request")
    }
    if bytes.readableBytesView.starts(with: "PRI * HTTP/2".utf8) {
      return ("This port speaks HTTP/1.1, and not HTTP/2 without asking.", "505 HTTP Version Not Supported")
    }
    return isLetter ? nil : ("What came to the port is no HTTP.", nil)
  }
}

/// The last handler: an error before the connection is a WebSocket closes it.
final class ClosingOnError: ChannelInboundHandler {
  typealias InboundIn = Any

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
#endif
