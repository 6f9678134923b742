#if Sync
import SyncModel
import SyncServer
import Synchronization

/// Serializes this process's changes of one store. Changes that arrive during a transaction, or before there is a connection for it, share
/// the next one: many changesets cost one commit of the database, and each process has one writer of the store's row.
actor StoreQueue {
  private let path: StorePath
  nonisolated let store: Int64
  private let pool: PostgresPool
  private let news: StoreNews
  /// The maximal number of changes that share a transaction; 1 for measurements without sharing.
  private let batch: Int
  private var waiting: [any StoreRequest] = []
  private var isBusy = false

  init(path: StorePath, store: Int64, pool: PostgresPool, news: StoreNews, batch: Int) {
    (self.path, self.store, self.pool, self.news, self.batch) = (path, store, pool, news, batch)
  }

  /// Makes a change, and returns once it is committed.
  func change<R: Sendable>(
    _ needs: StoreRowsNeeded, isDurable: Bool = true, isAlone: Bool = false,
    _ body: @escaping AskedChange<R>.Body
  ) async throws(ServerStoreError) -> R {
    let result = await withCheckedContinuation { asker in
      waiting.append(AskedChange(needs, isDurable: isDurable, isAlone: isAlone, asker, body))
      if !isBusy {
        isBusy = true
        Task { await work() }
      }
    }
    do throws(PostgresFailure) { return try result.get() } catch { throw error.error }
  }

  private func work() async {
    while !waiting.isEmpty { await make { next() } }
    isBusy = false
  }

  /// Makes and answers changes that are chosen once there is a connection for them.
  private func make(_ choose: () -> [any StoreRequest]) async {
    let connection = await pool.take()
    let requests = choose()
    let outcome = await make(requests, on: connection)
    await pool.giveBack(connection)
    await answer(requests, outcome)
  }

  private func next() -> [any StoreRequest] {
    var count = 1
    if !waiting[0].isAlone {
      while count < min(waiting.count, batch), !waiting[count].isAlone { count += 1 }
    }
    defer { waiting.removeFirst(count) }
    return Array(waiting.prefix(count))
  }

  /// Performs changes in one transaction. Returns the last entry if there are new ones.
  private func make(
    _ requests: [any StoreRequest], on connection: PostgresConnection
  ) async -> Result<Seq?, PostgresFailure> {
    var needs = requests[0].needs
    for request in requests.dropFirst() { needs.formUnion(request.needs) }
    let isDurable = requests.contains { $0.isDurable }
    let (store, path, all) = (store, path, needs)
    // The last entry before the first attempt: if that was committed and its answer lost, the next one adds none.
    let first = Mutex<Seq?>(nil)
    do throws(PostgresFailure) {
      return .success(
        try await connection.transaction { link throws(PostgresFailure) in
          let transaction = try StoreTransaction(link, store: store, path: path, needs: all, isDurable: isDurable)
          let head = transaction.log.head
          let before = first.withLock { first in
            let before = first ?? head
            first = before
            return before
          }
          for request in requests { try request.perform(transaction) }
          try transaction.commit()
          return transaction.log.head > before ? transaction.log.head : nil
        })
    } catch { return .failure(error) }
  }

  private func answer(_ requests: [any StoreRequest], _ outcome: Result<Seq?, PostgresFailure>) async {
    switch outcome {
    case .success(let head):
      // Listeners are notified after the commit, so they find the entries.
      if let head { await news.tell(path, store, head) }
      for request in requests { request.answer(nil) }
    case .failure(let failure) where requests.count > 1 && failure.isOfOne:
      // Each alone: what one of them reads or writes is refused, and the others must not pay for it.
      for request in requests { await make { [request] } }
    case .failure(let failure):
      for request in requests { request.answer(failure) }
    }
  }

  /// The number of changes that wait. For tests.
  var waitingCount: Int { waiting.count }
}
#endif
