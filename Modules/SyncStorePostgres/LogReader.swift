#if Sync
import SyncModel
import SyncServer
import Synchronization

/// Reads stores' logs for many sessions at once. Sessions that go on behind the same entry and ask before there is a connection for them
/// share one read of the database: a change that a thousand sessions want is read and decoded a few times, not a thousand.
///
/// A read begins after all of those who share it have asked. So each of them sees what was committed before it asked.
final class LogReader: Sendable {
  private let pool: PostgresPool
  private let waiting = Mutex<[Place: [Asker]]>([:])

  private struct Place: Hashable {
    let path: StorePath
    /// A store that is made anew at the path has another.
    let store: Int64
    let seq: Seq
  }

  private struct Asker: Sendable {
    let replica: ReplicaID
    let limitBytes: Int
    let answer: CheckedContinuation<Result<LogPage, PostgresFailure>, Never>
  }

  /// Creates a reader on connections that it shares with others.
  init(pool: PostgresPool) { self.pool = pool }

  /// Reads a page of a store's log for a replica.
  func changes(
    _ path: StorePath, _ store: Int64, for replica: ReplicaID, after seq: Seq, limitBytes: Int
  ) async throws(ServerStoreError) -> LogPage {
    let place = Place(path: path, store: store, seq: seq)
    let page = await withCheckedContinuation { answer in
      let isFirst = waiting.withLock { waiting in
        waiting[place, default: []].append(Asker(replica: replica, limitBytes: limitBytes, answer: answer))
        return waiting[place]?.count == 1
      }
      if isFirst { Task { await read(place) } }
    }
    do throws(PostgresFailure) { return try page.get() } catch { throw error.error }
  }

  private func read(_ place: Place) async {
    let connection = await pool.take()
    let askers = waiting.withLock { $0.removeValue(forKey: place) ?? [] }
    let replicas = askers.map { ($0.replica, $0.limitBytes) }
    do throws(PostgresFailure) {
      let pages = try await connection.transaction { link throws(PostgresFailure) in
        try StoreReading(link, place.store, place.path).changes(for: replicas, after: place.seq)
      }
      await pool.giveBack(connection)
      for (asker, page) in zip(askers, pages) { asker.answer.resume(returning: .success(page)) }
    } catch {
      await pool.giveBack(connection)
      for asker in askers { asker.answer.resume(returning: .failure(error)) }
    }
  }

  /// The number of sessions that wait for a connection. For tests.
  var waitingCount: Int { waiting.withLock { $0.values.reduce(0) { $0 + $1.count } } }
}
#endif
