#if Sync
import Dispatch
import Synchronization

/// A connection with a thread of its own, so that its calls never block a thread that tasks share.
final class PostgresConnection: Sendable {
  private let queue: DispatchQueue
  private let link: Mutex<PostgresLink>
  /// How many transactions have begun. For tests.
  let transactionCount = Atomic(0)

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

  private static let pauses = [0.03, 0.2, 1]

  /// Runs a body that performs one transaction, and rolls back if it throws. Retries after a conflict with another transaction, and after a
  /// lost connection, although the transaction may have been committed: the body must then find what it did, and do nothing more. An upload
  /// counts once by its number, and a lease by its fence.
  func transaction<R: Sendable>(
    _ body: @escaping @Sendable (PostgresLink) throws(PostgresFailure) -> R
  ) async throws(PostgresFailure) -> R {
    var (losses, conflicts) = (0, 0)
    while true {
      transactionCount.add(1, ordering: .relaxed)
      do throws(PostgresFailure) { return try await run { link throws(PostgresFailure) in try link.rollingBack(body) } } catch {
        if error.isConflict, conflicts < 20 {
          conflicts += 1
          await pause(Double.random(in: 0.001...0.02))
        } else if error.isLost, losses < PostgresConnection.pauses.count {
          await pause(PostgresConnection.pauses[losses] * Double.random(in: 0.8...1.2))
          losses += 1
        } else {
          throw error
        }
      }
    }
  }

  /// Ends early if the task is cancelled.
  private func pause(_ seconds: Double) async { do { try await Task.sleep(for: .seconds(seconds)) } catch {} }

  /// Closes the connection after all earlier calls.
  func end() { queue.async { self.link.withLock { $0.end() } } }
}
#endif
