#if Sync
/// Connections to one database, each used by one transaction at a time; callers get them in order.
actor PostgresPool {
  private let address: String
  private let limit: Int
  private var all: [PostgresConnection] = []
  private var idle: [PostgresConnection] = []
  private var waiting: [CheckedContinuation<PostgresConnection, Never>] = []

  init(address: String, limit: Int) { (self.address, self.limit) = (address, max(limit, 1)) }

  private func taken() async -> PostgresConnection {
    if let connection = idle.popLast() { return connection }
    if all.count < limit {
      let connection = PostgresConnection(address: address, name: "vivarium")
      all.append(connection)
      return connection
    }
    return await withCheckedContinuation { waiting.append($0) }
  }

  private func giveBack(_ connection: PostgresConnection) {
    if waiting.isEmpty { idle.append(connection) } else { waiting.removeFirst().resume(returning: connection) }
  }

  /// Closes all connections once their transactions are done.
  func end() { for connection in all { connection.end() } }

  private static let pauses = [0.03, 0.2, 1]

  /// Runs a body that performs one transaction. Retries after a conflict with another transaction, and after a lost connection, although
  /// the transaction may have been committed: an upload counts once by its number, and a lease by its fence.
  func transaction<R: Sendable>(
    _ body: @escaping @Sendable (PostgresLink) throws(PostgresFailure) -> R
  ) async throws(PostgresFailure) -> R {
    let connection = await taken()
    defer { giveBack(connection) }
    var (losses, conflicts) = (0, 0)
    while true {
      do throws(PostgresFailure) { return try await connection.run(body) } catch {
        if error.isConflict, conflicts < 20 {
          conflicts += 1
          await pause(Double.random(in: 0.001...0.02))
        } else if error.isLost, losses < PostgresPool.pauses.count {
          await pause(PostgresPool.pauses[losses] * Double.random(in: 0.8...1.2))
          losses += 1
        } else {
          throw error
        }
      }
    }
  }

  /// Ends early if the task is cancelled.
  private func pause(_ seconds: Double) async { do { try await Task.sleep(for: .seconds(seconds)) } catch {} }
}
#endif
