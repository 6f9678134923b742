import Dispatch
import Notifications
import StorageInterface

extension Store {
  /// Waits for the right to write without blocking, then runs `block` on the store's own context in an open write, where it may use
  /// the context's objects. Blocks run in the order of the calls.
  ///
  /// ```swift
  /// store.beginAsyncWrite {
  ///   dog.age += 1
  ///   try store.commitAsyncWrite()
  /// }
  /// ```
  ///
  /// The block must end the write: if it leaves a write open or throws, that write is undone. `onError` receives what the block
  /// threw, and errors that prevented the write: `.writeTimeout`, `.cancelled`, `.readOnly`; without `onError` they are logged. A
  /// `beginWrite` or `write` of the same store in between goes first. Throws `.wrongContext` if the store has no context to run the
  /// block on.
  @discardableResult
  public func beginAsyncWrite(
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping () throws -> Void, onError: ((any Error) -> Void)? = nil
  ) throws(StoreError) -> AsyncWrite {
    bind(isolation)
    if case .manual = home {
      throw .wrongContext("beginAsyncWrite", expected: "an actor, a queue or a run loop", actual: "none")
    }
    try checkContext("beginAsyncWrite")
    let request = AsyncWrite()
    let onError = onError ?? { StoreLog.warning("An asynchronous write failed: \($0)") }
    writer.pendingWrites.append(
      PendingWrite(
        request: request, deadline: writeDeadline, place: SourcePlace(fileID: fileID, line: line), block: block, onError: onError))
    // Said by the next turn, not when the right to write comes.
    let (home, weak) = (home, ConfinedStore(self))
    _ = request.whenCancelled { home.schedule { weak.store?.reportCancelledWrites() } }
    beginPendingWrites()
    return request
  }

  /// Commits the open write and returns when it is visible to all readers; the disk sync happens in the background. `onComplete`
  /// then runs on the store's context: without an error, the commit survives a power cut. With `allowGrouping`, commits in quick
  /// succession share one disk sync.
  ///
  /// For stores whose durability is `.full`; with another, `onComplete` runs when that durability is reached. Throws the errors of
  /// `commitWrite`.
  public func commitAsyncWrite(
    withoutNotifying tokens: [NotificationToken] = [], author: String? = nil, allowGrouping: Bool = false,
    isolation: isolated (any Actor)? = #isolation,
    onComplete: @escaping @Sendable (StoreError?) -> Void = { _ in }
  ) throws(StoreError) {
    bind(isolation)
    let home = home
    let report: @Sendable (StoreError?) -> Void = { error in
      home.schedule { onComplete(error) } otherwise: { onComplete(error) }
    }
    guard configuration.durability == .full, shared.syncer.isPossible else {
      try commitWrite(withoutNotifying: tokens, author: author)
      return report(nil)
    }
    try commitWrite(withoutNotifying: tokens, author: author, durability: .relaxed)
    shared.syncer.sync(allowGrouping: allowGrouping, report)
  }

  private func reportCancelledWrites() {
    let cancelled = writer.pendingWrites.filter { !$0.request.isWaiting }
    if cancelled.isEmpty { return }
    writer.pendingWrites.removeAll { !$0.request.isWaiting }
    for pending in cancelled { pending.onError(StoreError.cancelledWrite) }
  }

  /// Requests the right to write for the pending writes, unless it is requested already.
  func beginPendingWrites() {
    reportCancelledWrites()
    guard let first = writer.pendingWrites.first, writing == nil else { return }
    // A fetch whose right another write took is of no use any more.
    if let fetch = writer.fetch, shared.writers.isFetched(fetch) { return }
    let (writers, home, weak) = (shared.writers, home, ConfinedStore(self))
    writer.fetch = writers.fetch(for: origin, at: WriteSite(home, first.place), first.deadline) { fetch in
      home.schedule {
        weak.store?.turn(of: fetch)
      } otherwise: {
        // The actor is deallocated, or the run loop's thread has ended or ends now, and with it every user of the store: pending writes
        // and store would retain each other for ever, and nobody would give the right back.
        writers.abandon(fetch)
        weak.store?.writer.pendingWrites = []
      }
    }
  }

  /// Runs a pending write: the right has arrived, unless a write that could not wait took it.
  private func turn(of fetch: WriterQueue.Waiter) {
    guard writer.fetch == fetch else { return }
    writer.fetch = nil
    defer { beginPendingWrites() }
    guard let result = shared.writers.take(fetch) else { return }
    while !writer.pendingWrites.isEmpty {
      let pending = writer.pendingWrites.removeFirst()
      guard pending.request.begin() else {
        pending.onError(StoreError.cancelledWrite)
        continue
      }
      defer { pending.request.end() }
      do {
        let site = WriteSite(home, pending.place)
        try openWrite(try result.get(), pending.deadline, site)
        try shared.writers.running(origin, at: site, pending.block)
        cancelWrite()
      } catch {
        cancelWrite()
        pending.onError(error)
      }
      return
    }
    if case .success(let unwanted) = result { unwanted.end() }
  }
}

/// A block that waits for the right to write, to run on its store's context.
struct PendingWrite {
  let request: AsyncWrite
  let deadline: Deadline
  let place: SourcePlace
  let block: () throws -> Void
  let onError: (any Error) -> Void
}
