#if Sync
import NIOCore
import Synchronization

/// Notes whether the other side has said anything: who says something else is told apart from who is not there.
final class FirstBytes: ChannelInboundHandler, RemovableChannelHandler, Sendable {
  typealias InboundIn = ByteBuffer

  /// What is known outside of the connection.
  final class Ear: Sendable {
    private let heard = Atomic(false)

    var hasHeard: Bool { heard.load(ordering: .acquiring) }

    fileprivate func hear() { heard.store(true, ordering: .releasing) }
  }

  private let ear: Ear

  init(_ ear: Ear) { self.ear = ear }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    ear.hear()
    context.fireChannelRead(data)
    context.pipeline.syncOperations.removeHandler(self, promise: nil)
  }
}
#endif
