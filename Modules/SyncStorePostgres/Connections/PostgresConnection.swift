#if Sync
import Dispatch
import Synchronization

/// A connection with a thread of its own: what it does blocks, and never on a thread that tasks share.
final class PostgresConnection: Sendable {
  private let queue: DispatchQueue
  private let link: Mutex<PostgresLink>

  init(address: String, name: String) {
    queue = DispatchQueue(label: "vivarium.postgres.\(name)")
    link = Mutex(PostgresLink(address: address, name: name))
  }

  /// Does something with the connection, after all that was asked of it before.
  func run<R: Sendable>(
    _ body: @escaping @Sendable (PostgresLink) throws(PostgresFailure) -> R
  ) async throws(PostgresFailure) -> R {
    let result: Result<R, PostgresFailure> = await withCheckedContinuation { continuation in
      queue.async {
        continuation.resume(
          returning: self.link.withLock { link in
            do throws(PostgresFailure) { return .success(try body(link)) } catch { return .failure(error) }
          })
      }
    }
    return try result.get()
  }

  /// Ends the connection when all that was asked of it is done.
  func end() { queue.async { self.link.withLock { $0.end() } } }
}
#endif
