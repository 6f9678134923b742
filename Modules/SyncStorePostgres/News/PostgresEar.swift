#if Sync
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif
import SyncModel
import Synchronization

/// Waits for the database's notices, with a connection and a thread of its own, and polls the last entries if none came for a while.
final class PostgresEar: Sendable {
  /// The last entries of stores; for a notice, also its sender.
  struct News: Sendable {
    var origin: String?
    var heads: [Int64: Seq] = [:]
    /// The stores that were removed.
    var removed: Set<Int64> = []
  }

  /// Milliseconds until it listens again, however seldom it polls.
  private static let longestPause = 1_000

  /// What a notice says in place of a removed store's last entry.
  static let removal = "removed"

  private let connection: PostgresConnection
  private let listens: Bool
  private let milliseconds: Int
  /// Written to wake a wait.
  private let pipe: (read: Int32, write: Int32)
  private let state = Mutex(State())

  private struct State {
    var isListening = false
    var asked = ContinuousClock.now
  }

  init(address: String, listens: Bool, milliseconds: Int) {
    connection = PostgresConnection(address: address, name: "vivarium ear")
    (self.listens, self.milliseconds) = (listens, milliseconds)
    var ends: [Int32] = [-1, -1]
    // Without a pipe, a wait ends by its timeout, a little later.
    if Self.makePipe(&ends) != 0 { ends = [-1, -1] }
    pipe = (ends[0], ends[1])
  }

  private static func makePipe(_ ends: inout [Int32]) -> Int32 {
    ends.withUnsafeMutableBufferPointer { ends in
      #if canImport(Glibc)
      Glibc.pipe(ends.baseAddress!)  // it has two elements
      #elseif canImport(Musl)
      Musl.pipe(ends.baseAddress!)  // it has two elements
      #else
      Darwin.pipe(ends.baseAddress!)  // it has two elements
      #endif
    }
  }

  deinit { for end in [pipe.read, pipe.write] where end >= 0 { close(end) } }

  /// Ends the present wait, and all later ones.
  func wake() {
    var byte: UInt8 = 0
    if pipe.write >= 0 { _ = write(pipe.write, &byte, 1) }
  }

  func end() { connection.end() }

  /// Waits until a notice comes, or it is time to poll.
  func next(_ stores: [Int64]) async -> [News] {
    do throws(PostgresFailure) {
      return try await connection.run { link throws(PostgresFailure) in try self.heard(stores, link) }
    } catch {
      self.state.withLock { $0.isListening = false }
      // The database is unreachable: retrying at once would keep a core busy.
      do { try await Task.sleep(for: .milliseconds(min(milliseconds, PostgresEar.longestPause))) } catch {}
      return []
    }
  }

  private func heard(_ stores: [Int64], _ link: PostgresLink) throws(PostgresFailure) -> [News] {
    let (isListening, asked) = state.withLock { ($0.isListening, $0.asked) }
    if listens, !isListening {
      try link.run("LISTEN \(StoreNews.channel)")
      // Notices before it, and between two connections, are lost: what is in use by now is asked for next.
      state.withLock { ($0.isListening, $0.asked) = (true, .now - .milliseconds(milliseconds)) }
      return []
    }
    let left = milliseconds - Int((ContinuousClock.now - asked) / .milliseconds(1))
    if left > 0 {
      var sockets = [pollfd(fd: link.socket, events: Int16(POLLIN), revents: 0), pollfd(fd: pipe.read, events: Int16(POLLIN), revents: 0)]
      _ = poll(&sockets, 2, Int32(truncatingIfNeeded: left))
      if listens, sockets[0].revents != 0 {
        let news = try link.notices().map { Self.news(of: $0) }
        if !news.isEmpty { return news }
      }
      if sockets[1].revents != 0 { return [] }
    }
    return milliseconds <= Int((ContinuousClock.now - asked) / .milliseconds(1)) ? try ask(stores, link) : []
  }

  private func ask(_ stores: [Int64], _ link: PostgresLink) throws(PostgresFailure) -> [News] {
    state.withLock { $0.asked = .now }
    if stores.isEmpty { return [] }
    let rows = try link.query("SELECT id, head FROM sync_store WHERE id = ANY($1)", .ints(stores))
    var news = News()
    for row in 0..<rows.count { news.heads[try rows.int(row, 0)] = try rows.seq(row, 1) }
    news.removed = Set(stores).subtracting(news.heads.keys)
    return [news]
  }

  /// Parses "origin,store:head,store:removed"; ignores anything else.
  static func news(of text: String) -> News {
    let parts = text.split(separator: ",")
    var news = News(origin: parts.first.map(String.init))
    for part in parts.dropFirst() {
      let pair = part.split(separator: ":")
      guard pair.count == 2, let store = Int64(pair[0]) else { continue }
      if pair[1] == removal { news.removed.insert(store) }
      if let head = UInt64(pair[1]) { news.heads[store] = Seq(head) }
    }
    return news
  }
}
#endif
