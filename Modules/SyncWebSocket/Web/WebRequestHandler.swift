#if Sync
import NIOCore
import NIOHTTP1
import SyncProtocol

/// Receives one plain HTTP request, has it answered, and closes.
final class WebRequestHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias Answerer = @Sendable (WebRequest) async -> WebAnswer

  private let answerer: Answerer
  private let isBehindProxy: Bool
  private let seconds: Int64
  private var request: WebRequest?
  private var timer: Scheduled<Void>?
  private var task: Task<Void, Never>?

  /// - Parameter seconds: the time limit for receiving the whole request.
  init(isBehindProxy: Bool, seconds: Int64, _ answerer: @escaping Answerer) {
    (self.isBehindProxy, self.seconds, self.answerer) = (isBehindProxy, seconds, answerer)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    timer?.cancel()
    task?.cancel()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      // One request per connection.
      guard request == nil, task == nil else { return }
      request = WebRequest(head, from: context.channel, isBehindProxy: isBehindProxy)
      let channel = context.channel
      timer = context.eventLoop.scheduleTask(in: .seconds(seconds)) { channel.close(promise: nil) }
    case .body(let part):
      request?.body.append(contentsOf: part.readableBytesView)
      guard (request?.body.count ?? 0) > WebRequest.bytes else { return }
      request = nil
      answer(context.channel) { WebAnswer(status: 413, "A request has at most \(WebRequest.bytes) bytes.\n") }
    case .end:
      guard let request else { return }
      self.request = nil
      answer(context.channel) { [answerer] in await answerer(request) }
    }
  }

  private func answer(_ channel: any Channel, _ body: @escaping @Sendable () async -> WebAnswer) {
    guard task == nil else { return }
    timer?.cancel()
    task = Task {
      let answer = await body()
      var headers: HTTPHeaders = [
        "Content-Type": answer.type, "Content-Length": "\(answer.body.count)", "Connection": "close", "Cache-Control": "no-store",
      ]
      if answer.retryAfterSeconds > 0 { headers.add(name: "Retry-After", value: "\(answer.retryAfterSeconds)") }
      if answer.status == 204 { headers.remove(name: "Content-Length") }
      let head = HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status), headers: headers)
      channel.write(HTTPServerResponsePart.head(head), promise: nil)
      if !answer.body.isEmpty { channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: answer.body))), promise: nil) }
      do { try await channel.writeAndFlush(HTTPServerResponsePart.end(nil)) } catch {
        // The client is gone.
      }
      channel.close(promise: nil)
    }
  }
}

extension WebRequest {
  fileprivate init(_ head: HTTPRequestHead, from channel: any Channel, isBehindProxy: Bool) {
    let path = head.uri.prefix { $0 != "?" }
    let remote = channel.remoteAddress?.ipAddress ?? ""
    // The proxy itself added the last address; the client may have forged those before it.
    let forwarded = head.headers["X-Forwarded-For"].last?.split(separator: ",").last.map { $0.trimmed }
    let authorization = head.headers["Authorization"].first.flatMap { value -> String? in
      value.lowercased().hasPrefix("bearer ") ? Substring(value.dropFirst(7)).trimmed : nil
    }
    self.init(
      method: head.method.rawValue, path: String(path), query: String(head.uri.dropFirst(path.count + 1)), token: authorization,
      address: ConnectionCounts.place(ofText: isBehindProxy ? forwarded ?? remote : remote),
      isLocal: !isBehindProxy && WebSocketAddress.isLoopback(remote))
  }
}

extension Substring {
  fileprivate var trimmed: String { String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
}
#endif
