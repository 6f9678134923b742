#if Sync
import Dispatch
import Synchronization

/// A connection with a thread of its own, so that its calls never block a thread that tasks share.
final class PostgresConnection: Sendable {
  private let queue: DispatchQueue
  private let link: Mutex<PostgresLink>

  init(address: String, name: String) {
    queue = DispatchQueue(label: "vivarium.postgres.\(name)")
    link = Mutex(PostgresLink(address: address, name: name))
  }

  /// Runs a body with the connection, after all earlier calls.
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

  /// Closes the connection after all earlier calls.
  func end() { queue.async { self.link.withLock { $0.end() } } }
}
#endif
