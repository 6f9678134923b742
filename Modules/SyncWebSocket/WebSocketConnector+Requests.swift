#if Sync
import NIOCore
import NIOHTTP1
import SyncProtocol

// Requests to the server's HTTP routes, with the same address and trust.

extension WebSocketConnector: WebRequester {
  public func answer(to request: WebRequest) async throws(TransportError) -> WebAnswer {
    let address = address
    var base = Substring(address.path)
    while base.last == "/" { base = base.dropLast() }
    var headers: HTTPHeaders = [
      "Host": address.authority, "Connection": "close", "Content-Type": "application/json", "Content-Length": "\(request.body.count)",
    ]
    if let token = request.token { headers.add(name: "Authorization", value: "Bearer \(token)") }
    let head = HTTPRequestHead(
      version: .http1_1, method: HTTPMethod(rawValue: request.method), uri: base + request.path, headers: headers)
    let body = request.body
    let (opened, ear) = try await open { channel in
      let answer = channel.eventLoop.makePromise(of: WebAnswer.self)
      try channel.pipeline.syncOperations.addHTTPClientHandlers()
      try channel.pipeline.syncOperations.addHandler(AnswerReader(head, body, answer))
      return answer.futureResult
    }
    do { return try await opened.get() } catch {
      guard ear.hasHeard else { throw silence }
      throw TransportError(.foreignProtocol, "Who answers at \(address) says nothing that a server of Vivarium would say: \(error).")
    }
  }
}

/// Sends one request, and waits for the whole answer.
private final class AnswerReader: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias OutboundOut = HTTPClientRequestPart
  /// The connection was closed before the answer was complete.
  private struct Ended: Error {}
  /// The answer is longer than any that a server gives.
  private struct TooLong: Error {}

  private let (head, body): (HTTPRequestHead, [UInt8])
  private let whole: EventLoopPromise<WebAnswer>
  private var answer = WebAnswer(status: 0)
  private static let bytes = 16 << 20

  init(_ head: HTTPRequestHead, _ body: [UInt8], _ whole: EventLoopPromise<WebAnswer>) {
    (self.head, self.body, self.whole) = (head, body, whole)
  }

  func channelActive(context: ChannelHandlerContext) {
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if !body.isEmpty { context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil) }
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      let later = head.headers["Retry-After"].first.flatMap { UInt64($0) } ?? 0
      answer = WebAnswer(status: Int(head.status.code), type: head.headers["Content-Type"].first ?? "", retryAfterSeconds: later)
    case .body(let part):
      answer.body.append(contentsOf: part.readableBytesView)
      if answer.body.count > AnswerReader.bytes { fail(context, TooLong()) }
    case .end:
      whole.succeed(answer)
      context.close(promise: nil)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { fail(context, error) }

  func channelInactive(context: ChannelHandlerContext) { whole.fail(Ended()) }

  func handlerRemoved(context: ChannelHandlerContext) { whole.fail(Ended()) }

  private func fail(_ context: ChannelHandlerContext, _ error: any Error) {
    whole.fail(error)
    context.close(promise: nil)
  }
}
#endif
