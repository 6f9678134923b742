#if Sync
import SyncModel
import SyncServer

/// Notifies listeners of new entries, by this process and by others: through the database's notices if it has them, and by polling the
/// last entries of the stores that somebody here waits for.
actor StoreNews {
  private let bell: PostgresConnection
  private let ear: PostgresEar
  /// Distinguishes own notices from those of others.
  private let origin = String(UInt64.random(in: .min ... .max), radix: 16)
  private let usesNotices: Bool
  private var listeners: [UInt64: AsyncStream<StorePath>.Continuation] = [:]
  private var lastListener: UInt64 = 0
  /// The stores that somebody here waits for, and the last entry that was announced.
  private var known: [Int64: (path: StorePath, head: Seq)] = [:]
  /// The numbers of those, by path: a session that ends must not cost as much as all that others follow. There are two where one that was
  /// removed is not forgotten yet.
  private var numbers: [StorePath: Set<Int64>] = [:]
  /// How many follow what is at each path, and where handlers work. Counted, as calls may come in another order than they were made.
  private var followers: [StorePath: Int] = [:]
  private var claimed: Set<StorePath> = []
  private var untold: [Int64: Seq] = [:]
  private var untoldRemovals: Set<Int64> = []
  private var ringing: Task<Void, Never>?
  private var hearing: Task<Void, Never>?

  static let channel = "vivarium_sync"
  /// The database limits a notice to 8,000 bytes.
  private static let longest = 7_500

  init(address: String, usesNotices: Bool, pollMilliseconds: Int) {
    bell = PostgresConnection(address: address, name: "vivarium bell")
    ear = PostgresEar(address: address, listens: usesNotices, milliseconds: pollMilliseconds)
    self.usesNotices = usesNotices
  }

  /// Closes the connections. Nothing is announced any more.
  func end() {
    hearing?.cancel()
    ear.wake()
    bell.end()
    for listener in listeners.values { listener.finish() }
    listeners = [:]
  }

  deinit {
    hearing?.cancel()
    ear.wake()
  }

  func wakeups() -> AsyncStream<StorePath> {
    let (stream, continuation) = AsyncStream.makeStream(of: StorePath.self)
    lastListener += 1
    let number = lastListener
    listeners[number] = continuation
    continuation.onTermination = { _ in Task { await self.forget(number) } }
    if hearing == nil { hearing = Task { [weak self, ear] in await StoreNews.hear(ear) { [weak self] in await self?.take($0) ?? [] } } }
    return stream
  }

  private func forget(_ listener: UInt64) { listeners[listener] = nil }

  /// Forgets a store that was removed. Another one may be at its path by now.
  private func forget(_ store: Int64, at path: StorePath) {
    known[store] = nil
    numbers[path]?.remove(store)
    guard numbers[path]?.isEmpty ?? true else { return }
    numbers[path] = nil
    claimed.remove(path)
  }

  /// Counts one more who follows what is at a path.
  func follow(_ path: StorePath) {
    followers[path, default: 0] += 1
    if followers[path] == 0 { followers[path] = nil }
  }

  /// Counts one less. Returns whether nobody here waits for the store any more.
  func unfollow(_ path: StorePath) -> Bool {
    followers[path, default: 0] -= 1
    if followers[path] == 0 { followers[path] = nil }
    if followers[path, default: 0] > 0 || claimed.contains(path) { return false }
    for store in numbers.removeValue(forKey: path) ?? [] { known[store] = nil }
    return true
  }

  /// Notes which store is at a path, for those who follow it. Returns whether somebody does.
  ///
  /// - Parameters:
  ///   - head: its last entry, or an earlier one: then it is announced once too often.
  ///   - isClaimed: whether a handler works there from now on.
  @discardableResult
  func watch(_ path: StorePath, _ store: Int64, _ head: Seq, isClaimed: Bool = false) -> Bool {
    if isClaimed { claimed.insert(path) }
    guard followers[path, default: 0] > 0 || claimed.contains(path) else { return false }
    if known[store] == nil {
      known[store] = (path, head)
      numbers[path, default: []].insert(store)
    }
    return true
  }

  /// The stores to poll. For tests.
  var watched: Set<StorePath> { Set(known.values.map(\.path)) }

  /// Announces entries of this process.
  func tell(_ path: StorePath, _ store: Int64, _ head: Seq) {
    if let before = known[store] { known[store] = (path, max(head, before.head)) }
    for listener in listeners.values { listener.yield(path) }
    guard usesNotices else { return }
    untold[store] = head
    ringSoon()
  }

  /// Announces that this process has removed a store.
  func tellRemoval(of path: StorePath, _ store: Int64) {
    forget(store, at: path)
    for listener in listeners.values { listener.yield(path) }
    guard usesNotices else { return }
    untold[store] = nil
    untoldRemovals.insert(store)
    ringSoon()
  }

  private func ringSoon() {
    if ringing == nil { ringing = Task { [weak self] in await self?.ring() } }
  }

  /// Sends at most one notice in 10 ms, outside of every transaction that commits changes: a commit with a notice locks the whole
  /// database.
  private func ring() async {
    do { try await Task.sleep(for: .milliseconds(10)) } catch { return }
    var (texts, text) = ([String](), origin)
    let items = untold.map { ",\($0.key):\($0.value.rawValue)" } + untoldRemovals.map { ",\($0):\(PostgresEar.removal)" }
    for item in items {
      if text.utf8.count + item.utf8.count > StoreNews.longest { (texts, text) = (texts + [text], origin) }
      text += item
    }
    (untold, untoldRemovals) = ([:], [])
    texts.append(text)
    let all = texts
    // What no notice announces is found by polling. One may come twice, if the connection was lost.
    do throws(PostgresFailure) {
      try await bell.transaction { link throws(PostgresFailure) in
        for text in all { _ = try link.query("SELECT pg_notify($1, $2)", .text(StoreNews.channel), .text(text)) }
      }
    } catch {}
    ringing = nil
    if !untold.isEmpty || !untoldRemovals.isEmpty { ringSoon() }
  }

  // MARK: others' entries

  private static func hear(_ ear: PostgresEar, _ take: @Sendable ([PostgresEar.News]) async -> [Int64]) async {
    var watched: [Int64] = []
    while !Task.isCancelled { watched = await take(await ear.next(watched)) }
    ear.end()
  }

  /// Announces news, and returns the stores to poll.
  private func take(_ news: [PostgresEar.News]) -> [Int64] {
    for new in news where new.origin != origin {
      for (store, head) in new.heads {
        guard let before = known[store], head > before.head else { continue }
        known[store] = (before.path, head)
        for listener in listeners.values { listener.yield(before.path) }
      }
      for store in new.removed {
        guard let before = known[store] else { continue }
        forget(store, at: before.path)
        for listener in listeners.values { listener.yield(before.path) }
      }
    }
    return Array(known.keys)
  }
}
#endif
