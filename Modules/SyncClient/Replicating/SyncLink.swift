import SyncProtocol
import Synchronization

/// One connection of a session: encodes messages to parts and decodes them, each in order.
final class SyncLink: Sendable {
  enum News: Sendable {
    /// A message, and its size in bytes, inflated.
    case message(ServerMessage, bytes: Int)
    /// A part of a longer message came, or one of several that wait to be sent was taken.
    case moved
    /// The other side sent an invalid message, or a message to send could not be encoded.
    case fault(FrameError)
    /// The connection has ended.
    case end
  }

  private let transport: any SyncTransport
  private let outgoing: AsyncStream<ClientMessage>.Continuation
  private let features: Mutex<SyncFeatures>
  /// How many messages wait to be sent, with the one that is being sent.
  private let waiting = Mutex(0)
  private let tasks: Mutex<[Task<Void, Never>]>

  /// - Parameter tell: called with one event after the other; nothing more is read from the connection before it returns.
  init(_ transport: any SyncTransport, _ tell: @escaping @Sendable (News) async -> Void) {
    self.transport = transport
    features = Mutex([])
    let (messages, continuation) = AsyncStream.makeStream(of: ClientMessage.self)
    outgoing = continuation
    tasks = Mutex([])
    let receiving = Task {
      var decoder = FrameDecoder(.ofClient)
      do throws(TransportError) {
        while let part = try await transport.receive() {
          do throws(FrameError) {
            guard let frame = try decoder.take(part) else {
              await tell(.moved)
              continue
            }
            await tell(.message(try ServerMessage(frame), bytes: frame.body.count))
          } catch { return await tell(.fault(error)) }
        }
      } catch {}
      await tell(.end)
    }
    let sending = Task { [weak self] in
      for await message in messages {
        do {
          let compresses = self?.features.withLock { $0.contains(.compression) } ?? false
          let parts = try FrameEncoder(compresses: compresses).parts(of: message.frame)
          // One by one: a large message takes minutes over a slow connection.
          for (number, part) in parts.enumerated() {
            try await transport.send([part])
            if number < parts.count - 1 { await tell(.moved) }
          }
          if self?.isMoreWaiting() == true { await tell(.moved) }
        } catch let error as FrameError {
          return await tell(.fault(error))
        } catch { return await tell(.end) }
      }
    }
    tasks.withLock { $0 = [receiving, sending] }
  }

  /// Queues a message. The credit granted by the server bounds what waits.
  func send(_ message: ClientMessage) {
    waiting.withLock { $0 += 1 }
    outgoing.yield(message)
  }

  /// Notes that a message was sent. Returns whether others wait.
  private func isMoreWaiting() -> Bool {
    waiting.withLock { waiting in
      waiting -= 1
      return waiting > 0
    }
  }

  /// Sets the features that both sides support.
  func agree(to features: SyncFeatures) { self.features.withLock { $0 = features } }

  func close() async {
    outgoing.finish()
    await transport.close()
  }
}
