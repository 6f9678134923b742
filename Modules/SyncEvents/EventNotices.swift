import Synchronization

/// The listeners to the notices of handlers; each receives them in order.
final class EventNotices: Sendable {
  private struct Listeners {
    var all: [UInt64: AsyncStream<ServerEventNotice>.Continuation] = [:]
    var last: UInt64 = 0
  }

  private let listeners = Mutex(Listeners())

  func tell(_ notice: ServerEventNotice) {
    listeners.withLock { listeners in for listener in listeners.all.values { listener.yield(notice) } }
  }

  func stream() -> AsyncStream<ServerEventNotice> {
    let (stream, continuation) = AsyncStream.makeStream(of: ServerEventNotice.self)
    let number = listeners.withLock { listeners in
      listeners.last += 1
      listeners.all[listeners.last] = continuation
      return listeners.last
    }
    continuation.onTermination = { [weak self] _ in self?.listeners.withLock { $0.all[number] = nil } }
    return stream
  }
}
