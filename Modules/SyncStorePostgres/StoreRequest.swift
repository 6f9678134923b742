#if Sync
import SyncServer
import Synchronization

/// A waiting change of a store, with its caller.
protocol StoreRequest: Sendable {
  var needs: StoreRowsNeeded { get }
  /// Whether the change, once answered, must survive a crash of the database.
  var isDurable: Bool { get }
  /// Whether it reads rows by itself, and cannot share its transaction.
  var isAlone: Bool { get }

  /// Performs the change, possibly again: the last result counts.
  func perform(_ transaction: StoreTransaction) throws(PostgresFailure)
  /// Answers the caller with the last result, or with the failure.
  func answer(_ failure: PostgresFailure?)
}

/// A change with a result.
final class AskedChange<R: Sendable>: StoreRequest {
  typealias Body = @Sendable (StoreTransaction) throws(PostgresFailure) -> R

  let needs: StoreRowsNeeded
  let isDurable: Bool
  let isAlone: Bool
  private let body: Body
  private let outcome = Mutex<Result<R, PostgresFailure>?>(nil)
  private let asker: CheckedContinuation<Result<R, PostgresFailure>, Never>

  init(
    _ needs: StoreRowsNeeded, isDurable: Bool, isAlone: Bool, _ asker: CheckedContinuation<Result<R, PostgresFailure>, Never>,
    _ body: @escaping Body
  ) {
    (self.needs, self.isDurable, self.isAlone, self.asker, self.body) = (needs, isDurable, isAlone, asker, body)
  }

  func perform(_ transaction: StoreTransaction) throws(PostgresFailure) {
    let result: Result<R, PostgresFailure>
    do throws(PostgresFailure) { result = .success(try body(transaction)) } catch {
      // A store error is a result, and changes nothing; any other error ends the transaction.
      guard case .answer = error.kind else { throw error }
      result = .failure(error)
    }
    outcome.withLock { $0 = result }
  }

  func answer(_ failure: PostgresFailure?) {
    let last = outcome.withLock { $0 }
    if let failure { return asker.resume(returning: .failure(failure)) }
    asker.resume(returning: last ?? .failure(PostgresFailure(.lost, "Nothing was done.")))
  }
}
#endif
