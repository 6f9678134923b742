#if Sync
import SyncServer
import Synchronization

/// A change of a store that waits to be made, with whoever waits for it.
protocol StoreRequest: Sendable {
  var needs: StoreRowsNeeded { get }
  /// Whether a crash of the database may not take it back once it is answered.
  var isDurable: Bool { get }
  /// Whether it reads rows by itself, and shares its transaction with no other.
  var isAlone: Bool { get }

  /// Does it, perhaps not for the first time: what counts is the last.
  func perform(_ transaction: StoreTransaction) throws(PostgresFailure)
  /// Tells who waits: the last outcome, or why there is none.
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
      // What the rules of stores refuse is an answer, and changes nothing; all else ends the transaction.
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
