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

  /// The maximal number of sessions that share a read.
  private static let most = 256

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
    let askers = next(place)
    let outcome = await pages(place, askers, connection)
    await pool.giveBack(connection)
    switch outcome {
    case .success(let pages):
      for (asker, page) in zip(askers, pages) { asker.answer.resume(returning: .success(page)) }
    case .failure(let failure):
      for asker in askers { asker.answer.resume(returning: .failure(failure)) }
    }
  }

  /// Those who share the next read. Their pages are in memory at once, so there is a limit; others get a read of their own.
  private func next(_ place: Place) -> [Asker] {
    let (askers, isMore) = waiting.withLock { waiting in
      let all = waiting.removeValue(forKey: place) ?? []
      if all.count > LogReader.most { waiting[place] = Array(all[LogReader.most...]) }
      return (Array(all.prefix(LogReader.most)), all.count > LogReader.most)
    }
    if isMore { Task { await read(place) } }
    return askers
  }

  private func pages(
    _ place: Place, _ askers: [Asker], _ connection: PostgresConnection
  ) async -> Result<[LogPage], PostgresFailure> {
    let replicas = askers.map { ($0.replica, $0.limitBytes) }
    do throws(PostgresFailure) {
      return .success(
        try await connection.transaction { link throws(PostgresFailure) in
          try StoreReading(link, place.store, place.path).changes(for: replicas, after: place.seq)
        })
    } catch { return .failure(error) }
  }

  /// The number of sessions that wait for a connection. For tests.
  var waitingCount: Int { waiting.withLock { $0.values.reduce(0) { $0 + $1.count } } }
}
#endif
