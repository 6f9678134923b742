import SyncModel
import SyncProtocol
import SyncServer

/// One handler at work: goes through the stores that have news, one after the other, and deals with what they have.
///
/// A store is dealt with under a lease, of which the server knows one at a time. What the handler writes, and that it has dealt with
/// the events, is one transaction of the server's store: a process that dies before it has done nothing, and after it all.
actor EventRun {
  private let handler: any AnyEventHandler
  private let pattern: PathPattern
  private let stores: any SyncServerStore
  private let options: ServerEvents.Options
  private let clock: @Sendable () -> Int64
  private let tell: @Sendable (ServerEventNotice) -> Void
  private let queue: AsyncStream<StorePath>
  private let news: AsyncStream<StorePath>.Continuation
  private var queued: Set<StorePath> = []
  /// Stores that the handler follows.
  private var held: [StorePath: Held] = [:]
  /// Stores that others have, or that failed: they are asked again.
  private var waiting: [StorePath: Int64] = [:]
  private var uses: UInt64 = 0
  /// How often the event at a number has failed, also under leases before this one.
  private var failures: [StorePath: (number: Seq, count: Int)] = [:]

  private struct Held {
    var lease: HandlerLease
    var end: Int64
    let work: any EventWork
    var use: UInt64
  }

  init(
    _ handler: any AnyEventHandler, _ pattern: PathPattern, _ stores: any SyncServerStore, _ options: ServerEvents.Options,
    clock: @escaping @Sendable () -> Int64, tell: @escaping @Sendable (ServerEventNotice) -> Void
  ) {
    (self.handler, self.pattern, self.stores, self.options) = (handler, pattern, stores, options)
    (self.clock, self.tell) = (clock, tell)
    (queue, news) = AsyncStream.makeStream(of: StorePath.self)
  }

  /// A store may have news.
  func wake(_ path: StorePath) {
    guard pattern.matches(path), path != EventRegistry.path, queued.insert(path).inserted else { return }
    news.yield(path)
  }

  /// Until the task is cancelled: then it gives back what it has.
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
  }

  /// Makes the handler's name known, however long that takes.
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

  /// Asks again for what others had, or what failed.
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
    // To begin and to take in may last longer than a lease: both would be in vain, again and again.
    let keeping = Task { await keep(path) }
    defer { keeping.cancel() }
    do {
      guard try await hold(path) else {
        waiting[path] = clock()
        return
      }
      try await catchUp(path)
    } catch let failure as HandlerFailure {
      if failure.beginsAnew { await letGo(path) }
      waiting[path] = clock() + failure.delay
    } catch is CancellationError {
    } catch {
      // What it has taken in may be behind what the server knows: it begins anew where the server says.
      await letGo(path)
      guard (error as? ServerStoreError)?.code != .unknownStore else { return }
      let isLost = (error as? ServerStoreError)?.code == .leaseLost
      tell(isLost ? .leaseLost(handler: handler.name, store: path) : .unavailable(handler: handler.name, error))
      waiting[path] = clock() + options.delay(afterAttempt: 1)
    }
  }

  /// Takes the lease of a store, or keeps it; false where another has it.
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
    guard let lease = try await stores.claim(path, handler: handler.name, fromStart: true, until: end, at: now) else {
      held[path] = nil
      return false
    }
    if var known = held[path], lease.cursor == known.lease.cursor {
      (known.lease, known.end, known.use) = (lease, end, uses)
      held[path] = known
      return true
    }
    held[path] = nil
    let work = try handler.replica(of: path, clock: clock)
    held[path] = Held(lease: lease, end: end, work: work, use: uses)
    makeRoom()
    let begun = try await begin(work, lease, path)
    held[path]?.lease = begun
    return true
  }

  private func begin(_ work: any EventWork, _ lease: HandlerLease, _ path: StorePath) async throws -> HandlerLease {
    do {
      try await work.begin(at: lease.cursor, of: stores)
      return lease
    } catch let error as ServerStoreError where error.code == .logTruncated {
      var lease = lease
      lease.cursor = try await stores.heads([path])[path] ?? .zero
      _ = try await stores.advance(path, lease, to: lease.cursor, writing: [], at: clock())
      tell(.missed(handler: handler.name, store: path, before: lease.cursor.rawValue))
      try await work.begin(at: lease.cursor, of: stores)
      return lease
    }
  }

  /// Stores that had no news for the longest time go.
  private func makeRoom() {
    guard held.count > options.storesInMemory else { return }
    for path in held.keys.sorted(by: { held[$0]?.use ?? 0 < held[$1]?.use ?? 0 }).prefix(held.count - options.storesInMemory) {
      Task { await letGo(path) }
    }
  }

  private func letGo(_ path: StorePath) async {
    guard let old = held.removeValue(forKey: path) else { return }
    try? await stores.renew(path, old.lease, until: clock(), at: clock())
  }

  /// Deals with all that is in the log.
  private func catchUp(_ path: StorePath) async throws {
    guard let work = held[path]?.work else { return }
    if await work.isPending { try await deal(work, path) }
    while true {
      let page = try await stores.changes(path, for: work.replica, after: await work.cursor, limitBytes: 1 << 20)
      for transaction in LogTransaction.all(of: page.entries) {
        try Task.checkCancellation()
        try await work.take(transaction)
        if await work.isPending { try await deal(work, path) }
      }
      await work.skip(to: page.cursor)
      try await advance(path, to: await work.cursor, writing: [])
      if page.cursor >= page.head { break }
    }
    tell(.dealt(handler: handler.name, store: path, number: await work.cursor.rawValue))
  }

  /// The events of one transaction.
  private func deal(_ work: any EventWork, _ path: StorePath) async throws {
    let number = await work.cursor
    var changesets: [Changeset] = []
    do { changesets = try await work.deal() } catch {
      // Who is told to end fails for that alone.
      if Task.isCancelled { throw CancellationError() }
      try fail(path, number, error, beginsAnew: false)
    }
    do { try await advance(path, to: number, writing: changesets) } catch let error as ServerStoreError where error.code == .writesRefused {
      // What nobody took in is in its memory still.
      try fail(path, number, error, beginsAnew: true)
      try await advance(path, to: number, writing: [])
      throw HandlerFailure(delay: 0, beginsAnew: true)
    }
    await work.settle()
    failures[path] = nil
  }

  /// Counts a failure of the event at a number. Returns when it is to be skipped, having failed as often as it may; else throws.
  private func fail(_ path: StorePath, _ number: Seq, _ error: any Error, beginsAnew: Bool) throws(HandlerFailure) {
    let known = failures[path].flatMap { $0.number == number ? $0.count : nil } ?? 0
    if let most = options.attemptsMax, known + 1 >= most {
      failures[path] = nil
      return tell(.gaveUp(handler: handler.name, store: path, number: number.rawValue, error))
    }
    failures[path] = (number, known + 1)
    tell(.failed(handler: handler.name, store: path, attempt: known + 1, error))
    throw HandlerFailure(delay: options.delay(afterAttempt: known + 1), beginsAnew: beginsAnew)
  }

  /// Makes the lease last while a store is dealt with.
  private func keep(_ path: StorePath) async {
    while true {
      do { try await Task.sleep(for: .milliseconds(max(1, options.leaseMilliseconds / 3))) } catch { return }
      guard let lease = held[path]?.lease else { continue }
      let end = clock() + options.leaseMilliseconds
      guard (try? await stores.renew(path, lease, until: end, at: clock())) != nil else { return }
      held[path]?.end = end
    }
  }

  private func advance(_ path: StorePath, to seq: Seq, writing changesets: [Changeset]) async throws {
    guard let lease = held[path]?.lease else { throw CancellationError() }
    if seq == lease.cursor, changesets.isEmpty { return }
    // Whether it was done is not known where the answer is lost: the server's cursor says so to who begins anew.
    _ = try await stores.advance(path, lease, to: seq, writing: changesets, at: clock())
    held[path]?.lease.cursor = seq
  }
}

/// An event that comes again, or those behind one that was skipped.
private struct HandlerFailure: Error {
  /// In milliseconds.
  let delay: Int64
  /// Whether what the handler has in memory is not what the store has.
  let beginsAnew: Bool
}
