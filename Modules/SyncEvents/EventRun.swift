import SyncModel
import SyncProtocol
import SyncServer

/// Runs one handler: visits the stores that have news, one after the other, and processes their events.
///
/// A store is processed under a lease, which the server grants to one process at a time. The handler's writes and its new cursor are one
/// transaction of the server's store: a process that dies before it has done nothing, and after it everything.
actor EventRun {
  private let handler: any AnyEventHandler
  private let pattern: PathPattern
  private let stores: any EventStores
  private let options: ServerEvents.Options
  private let clock: @Sendable () -> Int64
  private let tell: @Sendable (ServerEventNotice) -> Void
  private let counter: EventCounter
  private let queue: AsyncStream<StorePath>
  private let news: AsyncStream<StorePath>.Continuation
  private var queued: Set<StorePath> = []
  /// The stores that were there when they were last listed.
  private var seen: Set<StorePath> = []
  /// The stores whose log the handler follows, under a lease.
  private var held: [StorePath: Held] = [:]
  /// The stores whose news this process asked for, because it found nothing to do there and so has claimed nothing.
  private var heard: Set<StorePath> = []
  /// Stores leased to others, or that failed, and when to retry them.
  private var waiting: [StorePath: Int64] = [:]
  private var uses: UInt64 = 0
  /// The histories of the stores that the handler has worked at, as long as it runs: there it is not made anew if it is removed.
  private var histories: [StorePath: [UInt8]] = [:]
  /// Where it was seen to be, without a lease. A store that is made has it from the start, so where it is missing it was removed.
  private var present: Set<StorePath> = []
  /// Where it is known to have been removed.
  private var removed: Set<StorePath> = []
  /// Where the handler was made, and nobody could say whether its name was still there.
  private var unchecked: Set<StorePath> = []
  /// How often the event at a number has failed, including under earlier leases.
  private var failures: [StorePath: (number: Seq, count: Int)] = [:]

  private struct Held {
    var lease: HandlerLease
    var end: Int64
    let work: any EventWork
    var use: UInt64
    /// Whether the objects that wait for the handler, whatever the log says, were looked for.
    var hasLooked = false
  }

  init(
    _ handler: any AnyEventHandler, _ pattern: PathPattern, _ stores: any EventStores, _ options: ServerEvents.Options,
    clock: @escaping @Sendable () -> Int64, tell: @escaping @Sendable (ServerEventNotice) -> Void, counter: EventCounter
  ) {
    (self.handler, self.pattern, self.stores, self.options) = (handler, pattern, stores, options)
    (self.clock, self.tell, self.counter) = (clock, tell, counter)
    (queue, news) = AsyncStream.makeStream(of: StorePath.self)
  }

  /// Notes that a store may have news.
  func wake(_ path: StorePath) {
    guard pattern.matches(path), path != EventRegistry.path, queued.insert(path).inserted else { return }
    news.yield(path)
  }

  /// Notes which stores there are: any that was not there the last time may have news that this process did not hear of.
  func see(_ paths: [StorePath]) {
    for path in paths where seen.insert(path).inserted { wake(path) }
    // Those that went are new when they come back.
    if seen.count > paths.count { seen.formIntersection(paths) }
  }

  /// Runs until the task is cancelled, then releases its leases.
  func run() async {
    await register()
    let ticking = Task { await tick() }
    for await path in queue {
      queued.remove(path)
      if Task.isCancelled { break }
      await visit(path)
    }
    ticking.cancel()
    for (path, held) in held { try? await stores.renew(path, held.lease, until: clock(), at: clock()) }
    held = [:]
    for path in heard { await stores.unfollow(path) }
    heard = []
  }

  /// Registers the handler's name, however long that takes.
  private func register() async {
    let registry = EventRegistry(stores: stores, turnMilliseconds: options.leaseMilliseconds, clock: clock)
    var attempts = 0
    while !Task.isCancelled {
      attempts += 1
      var delay = options.pause
      do throws(ServerStoreError) {
        if try await registry.register(handler.name, pattern) { return }
      } catch {
        tell(.unavailable(handler: handler.name, error))
        delay = .milliseconds(options.delay(afterAttempt: attempts))
      }
      do { try await Task.sleep(for: delay) } catch { return }
    }
  }

  /// Retries stores that were leased to others, or that failed.
  private func tick() async {
    while !Task.isCancelled {
      let now = clock()
      for (path, time) in waiting where time <= now { wake(path) }
      do { try await Task.sleep(for: options.pause) } catch { return }
    }
  }

  // MARK: one store

  private func visit(_ path: StorePath) async {
    waiting[path] = nil
    // Beginning and integrating may take longer than a lease, which would make them fail again and again.
    let keeping = Task { await keep(path) }
    defer { keeping.cancel() }
    do {
      if try await isAtRest(path) { return }
      guard try await hold(path) else {
        waiting[path] = clock()
        return
      }
      try await catchUp(path)
    } catch let failure as HandlerFailure {
      if failure.beginsAnew { await letGo(path) }
      waiting[path] = clock() + failure.delay
    } catch is CancellationError {
      if !Task.isCancelled { waiting[path] = clock() }  // it was let go in between
    } catch {
      // The replica may differ from the server's state: it begins anew at the server's cursor.
      await letGo(path)
      guard (error as? ServerStoreError)?.code != .unknownStore else {
        // If it is listed again, it was made again.
        seen.remove(path)
        present.remove(path)
        if heard.remove(path) != nil { await stores.unfollow(path) }
        return
      }
      if (error as? ServerStoreError)?.code == .handlerRemoved {
        // News asks again: another process may have made it anew.
        if removed.insert(path).inserted { tell(.removed(handler: handler.name, store: path)) }
        return
      }
      let isLost = (error as? ServerStoreError)?.code == .leaseLost
      tell(isLost ? .leaseLost(handler: handler.name, store: path) : .unavailable(handler: handler.name, error))
      waiting[path] = clock() + options.delay(afterAttempt: 1)
    }
  }

  /// Whether there is nothing to do at a store that this process does not have: no entry is behind the handler's cursor. A process that
  /// starts takes up only the stores that have news: a lease is a commit, and to begin is to take all objects.
  private func isAtRest(_ path: StorePath) async throws(ServerStoreError) -> Bool {
    if held[path] != nil || handler.looksForWaiting { return false }
    // Without a claim nobody else would ask for the news of another server.
    if heard.insert(path).inserted { await stores.follow(path) }
    // The head is read after the cursor, so where they are equal there was nothing at that moment. What comes later is told.
    guard let cursor = try await stores.handlers(path)[handler.name]?.cursor else {
      if present.contains(path) { throw removal }
      return false
    }
    present.insert(path)
    guard try await stores.heads([path])[path] == cursor else { return false }
    tell(.dealt(handler: handler.name, store: path, number: cursor.rawValue))
    return true
  }

  /// Takes or renews the lease of a store; returns false if another process has it.
  private func hold(_ path: StorePath) async throws -> Bool {
    uses += 1
    let now = clock()
    let end = now + options.leaseMilliseconds
    if var known = held[path] {
      known.use = uses
      if now < known.end - options.leaseMilliseconds / 2 {
        held[path] = known
        return true
      }
      if now < known.end {
        try await stores.renew(path, known.lease, until: end, at: now)
        known.end = end
        held[path] = known
        return true
      }
    }
    if histories[path] == nil { try await checkName(at: path, nil) }
    let claimed = try await stores.claim(
      path, handler: handler.name, heldIn: histories[path], fromStart: true, until: end, at: now)
    removed.remove(path)
    guard let lease = claimed else {
      held[path] = nil
      return false
    }
    if lease.isNew { try await checkName(at: path, lease) }
    histories[path] = lease.history
    // From here on the store can tell.
    present.remove(path)
    // Nobody had it in between: another holder may have written without moving the cursor.
    if var known = held[path], lease.fence == known.lease.fence + 1, lease.cursor == known.lease.cursor,
      lease.history == known.lease.history
    {
      (known.lease, known.end, known.use) = (lease, end, uses)
      held[path] = known
      return true
    }
    held[path] = nil
    let work = try handler.replica(of: path, clock: clock)
    held[path] = Held(lease: lease, end: end, work: work, use: uses)
    makeRoom(besides: path)
    let begun = try await begin(work, lease, path)
    held[path]?.lease = begun
    return true
  }

  /// Throws if the name was removed: where this process has not worked yet, a claim would make the handler anew, behind the back of who has
  /// removed it.
  private func checkName() async throws(ServerStoreError) {
    let registry = EventRegistry(stores: stores, turnMilliseconds: options.leaseMilliseconds, clock: clock)
    var isKnown = false
    do throws(ServerStoreError) { isKnown = try await registry.isKnown(handler.name) } catch {
      guard error.code == .unknownStore else { throw error }
    }
    if !isKnown { throw removal }
  }

  private var removal: ServerStoreError {
    ServerStoreError(.handlerRemoved, "The handler '\(handler.name)' was removed while it was run.")
  }

  /// Before a claim, and with its lease after one that has made the handler at a store. Its name may have been removed between the two, or
  /// the handler from this store: then it would begin with the start of the log, and what was removed be there again.
  private func checkName(at path: StorePath, _ lease: HandlerLease?) async throws(ServerStoreError) {
    do throws(ServerStoreError) {
      if lease != nil, present.contains(path) { throw removal }
      try await checkName()
      unchecked.remove(path)
    } catch {
      if lease != nil { held[path] = nil }
      if error.code == .handlerRemoved {
        // It has handled nothing.
        if lease != nil || unchecked.remove(path) != nil { try? await stores.removeHandler(path, handler.name) }
      } else if let lease {
        // Another process may have it by now, and have handled events: it stays, until it is known whether it may.
        unchecked.insert(path)
        await release(lease, of: path)
      }
      throw error
    }
  }

  private func begin(_ work: any EventWork, _ lease: HandlerLease, _ path: StorePath) async throws -> HandlerLease {
    do {
      try await work.begin(at: lease.cursor, of: stores)
      return lease
    } catch let error as ServerStoreError where error.code == .logTruncated {
      let passed = lease.cursor.rawValue
      var lease = lease
      lease.cursor = try await stores.heads([path])[path] ?? .zero
      _ = try await stores.advance(path, lease, to: lease.cursor, writing: [], at: clock())
      counter.count(handler.name) { $0.missed += lease.cursor.rawValue - min(lease.cursor.rawValue, passed) }
      tell(.missed(handler: handler.name, store: path, before: lease.cursor.rawValue))
      try await work.begin(at: lease.cursor, of: stores)
      return lease
    }
  }

  /// Releases the stores without news for the longest time, but never the one that is being taken up.
  private func makeRoom(besides path: StorePath) {
    let others = held.keys.filter { $0 != path }.sorted { held[$0]?.use ?? 0 < held[$1]?.use ?? 0 }
    for other in others.prefix(max(0, held.count - max(1, options.storesInMemory))) {
      // Out of the memory at once: when its lease is released, it may be taken up again.
      guard let lease = held.removeValue(forKey: other)?.lease else { continue }
      Task { await release(lease, of: other) }
    }
  }

  private func letGo(_ path: StorePath) async {
    if let lease = held.removeValue(forKey: path)?.lease { await release(lease, of: path) }
  }

  private func release(_ lease: HandlerLease, of path: StorePath) async {
    try? await stores.renew(path, lease, until: clock(), at: clock())
  }

  /// Processes everything in the log.
  private func catchUp(_ path: StorePath) async throws {
    guard let work = held[path]?.work else { throw CancellationError() }
    if await work.pendingCount > 0 { try await deal(work, path) }
    while true {
      let cursor = await work.cursor
      let page = try await stores.changes(path, for: work.replica, after: cursor, limitBytes: 1 << 20)
      try follow(page, after: cursor, path)
      for transaction in LogTransaction.all(of: page.entries) {
        try Task.checkCancellation()
        try await work.take(transaction)
        if await work.pendingCount > 0 { try await deal(work, path) }
      }
      await work.skip(to: page.cursor)
      try await advance(path, to: await work.cursor, writing: [])
      if page.cursor >= page.head { break }
    }
    if held[path]?.hasLooked == false {
      try await work.findWaiting()
      held[path]?.hasLooked = true
      if await work.pendingCount > 0 { try await deal(work, path) }
    }
    tell(.dealt(handler: handler.name, store: path, number: await work.cursor.rawValue))
  }

  /// Throws if a page is of another log than the one that is followed, because the store was removed and made anew, or restored: a new
  /// claim says where to begin. The old lease says nothing about this log, and is not given back.
  private func follow(_ page: LogPage, after cursor: Seq, _ path: StorePath) throws(HandlerFailure) {
    guard page.history == held[path]?.lease.history, page.head >= cursor else {
      held[path] = nil
      failures[path] = nil
      throw HandlerFailure(delay: 0, beginsAnew: true)
    }
  }

  /// Processes the events of one transaction.
  private func deal(_ work: any EventWork, _ path: StorePath) async throws {
    let (number, count) = (await work.cursor, await work.pendingCount)
    var (changesets, handled): ([Changeset], Int) = ([], count)
    do { changesets = try await work.deal() } catch {
      // A cancelled handler fails for that reason only.
      if Task.isCancelled { throw CancellationError() }
      let isSpoiled = await work.isSpoiled
      try fail(path, number, count, error, beginsAnew: isSpoiled)
      handled = 0
      if isSpoiled { try await skip(to: number, of: path) }
    }
    do { try await advance(path, to: number, writing: changesets) } catch let error as ServerStoreError where error.code == .writesRefused {
      // The refused writes are still in the replica's memory.
      try fail(path, number, count, error, beginsAnew: true)
      try await skip(to: number, of: path)
    }
    await work.settle()
    failures[path] = nil
    counter.count(handler.name) { $0.handled += UInt64(handled) }
  }

  /// Passes over events whose writes are in the replica's memory and nowhere else: it begins anew behind them.
  private func skip(to number: Seq, of path: StorePath) async throws {
    try await advance(path, to: number, writing: [])
    throw HandlerFailure(delay: 0, beginsAnew: true)
  }

  /// Counts a failure of the events at a number, so many. Returns if they have failed as often as they may and must be skipped; otherwise
  /// throws.
  private func fail(
    _ path: StorePath, _ number: Seq, _ count: Int, _ error: any Error, beginsAnew: Bool
  ) throws(HandlerFailure) {
    counter.count(handler.name) { $0.failed += 1 }
    let known = failures[path].flatMap { $0.number == number ? $0.count : nil } ?? 0
    if let most = options.attemptsMax, known + 1 >= most {
      failures[path] = nil
      counter.count(handler.name) { $0.gaveUp += UInt64(count) }
      return tell(.gaveUp(handler: handler.name, store: path, number: number.rawValue, error))
    }
    failures[path] = (number, known + 1)
    tell(.failed(handler: handler.name, store: path, attempt: known + 1, error))
    throw HandlerFailure(delay: options.delay(afterAttempt: known + 1), beginsAnew: beginsAnew)
  }

  /// Renews the lease while a store is processed.
  private func keep(_ path: StorePath) async {
    while true {
      do { try await Task.sleep(for: .milliseconds(max(1, options.leaseMilliseconds / 3))) } catch { return }
      guard let lease = held[path]?.lease else { continue }
      let end = clock() + options.leaseMilliseconds
      do throws(ServerStoreError) {
        try await stores.renew(path, lease, until: end, at: clock())
        held[path]?.end = end
      } catch {
        // What is out of reach now may be in reach at the next turn, before the lease ends.
        if error.code == .leaseLost || error.code == .unknownStore { return }
      }
    }
  }

  private func advance(_ path: StorePath, to seq: Seq, writing changesets: [Changeset]) async throws {
    guard let lease = held[path]?.lease else { throw CancellationError() }
    if seq == lease.cursor, changesets.isEmpty { return }
    // If the answer is lost, the outcome is unknown: a successor learns it from the server's cursor.
    _ = try await stores.advance(path, lease, to: seq, writing: changesets, at: clock())
    held[path]?.lease.cursor = seq
  }
}

/// A failed event that is retried, or a skipped one or another log, after which the replica begins anew.
private struct HandlerFailure: Error {
  /// The delay in milliseconds.
  let delay: Int64
  /// Whether the replica's memory differs from the store.
  let beginsAnew: Bool
}
