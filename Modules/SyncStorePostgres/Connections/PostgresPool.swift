#if Sync
/// Connections to one database, each used by one transaction at a time; callers get them in order.
actor PostgresPool {
  private let address: String
  private let limit: Int
  private var all: [PostgresConnection] = []
  private var idle: [PostgresConnection] = []
  private var waiting: [CheckedContinuation<PostgresConnection, Never>] = []
  private var isEnded = false

  init(address: String, limit: Int) { (self.address, self.limit) = (address, max(limit, 1)) }

  /// Waits for a connection, which then belongs to the caller until it is given back. Whoever can share a transaction takes the connection
  /// first, and then all that waits: the longer it took, the more share it.
  func take() async -> PostgresConnection {
    if let connection = idle.popLast() { return connection }
    if all.count < limit {
      let connection = PostgresConnection(address: address, name: "vivarium")
      all.append(connection)
      return connection
    }
    return await withCheckedContinuation { waiting.append($0) }
  }

  func giveBack(_ connection: PostgresConnection) {
    // What it was used for may have connected again.
    if isEnded { connection.end() }
    if waiting.isEmpty { idle.append(connection) } else { waiting.removeFirst().resume(returning: connection) }
  }

  /// Closes all connections once their transactions are done.
  func end() {
    isEnded = true
    for connection in all { connection.end() }
  }

  /// Runs one transaction on the next connection that is free.
  func transaction<R: Sendable>(
    _ body: @escaping @Sendable (PostgresLink) throws(PostgresFailure) -> R
  ) async throws(PostgresFailure) -> R {
    let connection = await take()
    defer { giveBack(connection) }
    return try await connection.transaction(body)
  }
}
#endif
