/// As `Signal`, for tests that suspend: nobody's thread is blocked, so what is waited for finds one. One waiter.
public final class AsyncSignal: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  public init() { (stream, continuation) = AsyncStream.makeStream() }

  /// Says that the event happened. From any thread.
  public func fire() { continuation.yield() }

  /// Waits for so many events more than were waited for before.
  public func wait(count: Int = 1) async {
    var events = stream.makeAsyncIterator()
    for _ in 0..<count { await events.next() }
  }
}
