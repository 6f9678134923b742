#if Sync
import NIOCore
import NIOPosix
import SyncProtocol
import SyncWebSocket
import Synchronization

/// A listener with a server that answers each part by the same, for as long as `body` goes on. It waits for long: on a busy machine a test
/// may say what it has to say much later.
func withEcho(_ options: WebSocketListener.Options, _ body: (Int) async throws -> Void) async throws {
  var options = options
  if options.limits.seconds == WebSocketListener.Limits().seconds { options.limits.seconds = 600 }
  let listener = try await WebSocketListener(host: "127.0.0.1", port: 0, options: options)
  let running = Task {
    try await listener.run { transport in
      do throws(TransportError) { while let part = try await transport.receive() { try await transport.send([part]) } } catch {}
    }
  }
  defer { running.cancel() }
  try await body(listener.port)
  await listener.close()
}

func withEcho(
  _ limits: WebSocketListener.Limits = WebSocketListener.Limits(), _ body: (Int) async throws -> Void
) async throws {
  var options = WebSocketListener.Options()
  options.limits = limits
  try await withEcho(options, body)
}

/// Says some bytes, and gives what is answered until the other side closes.
func said(to bytes: [UInt8], _ port: Int) async throws -> String {
  let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connect(host: "127.0.0.1", port: port) { channel in
    channel.eventLoop.makeCompletedFuture {
      try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
    }
  }
  return try await channel.executeThenClose { inbound, outbound in
    try await outbound.write(ByteBuffer(bytes: bytes))
    var all = ""
    do { for try await part in inbound { all += String(buffer: part) } } catch {}
    return all
  }
}

func said(to text: String, _ port: Int) async throws -> String { try await said(to: Array(text.utf8), port) }

/// What was noticed.
final class Notices: Sendable {
  private let texts = Mutex<[String]>([])
  var all: [String] { texts.withLock { $0 } }
  func add(_ text: String) { texts.withLock { $0.append(text) } }
}
#endif
