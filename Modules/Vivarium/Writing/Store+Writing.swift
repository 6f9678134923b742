import ChangeTracker
import Notifications
import StorageInterface
import Synchronization

extension Store {
  /// Whether a write of this store is open.
  public var isInWriteTransaction: Bool { writing != nil }

  /// Opens a write from the newest version. Observers are first notified of the changes up to that version; for first results that
  /// are not ready it does not wait if they come in a turn by themselves. Waits for other writers, of other processes too, for at
  /// most `Configuration.writeTimeout`. The write may stay open over several turns of the context, and excludes all other writers
  /// meanwhile.
  ///
  /// Throws `.alreadyInWrite`, naming where the open write began, if one is open in this store, or in another store of the file
  /// further up the call stack, or if this call would deadlock because that write can only continue on the caller's context;
  /// `.writeTimeout`, `.readOnly`, `.wrongContext`, `.readOnlyOperation`, `.tooManyVersions`.
  ///
  /// - Parameter timeout: how long to wait for other writers; nil: as the configuration says.
  public func beginWrite(
    timeout: Duration? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) throws(StoreError) {
    try beginWrite(timeout.map { .after($0) } ?? writeDeadline, SourcePlace(fileID: fileID, line: line))
  }

  /// The deadline of a write requested now.
  var writeDeadline: Deadline { configuration.writeTimeout.map { .after($0) } ?? .never }

  func beginWrite(_ deadline: Deadline, _ place: any CustomStringConvertible & Sendable) throws(StoreError) {
    try checkContext("beginWrite")
    guard !isReadOnly else { throw .readOnlyOperation("'beginWrite'") }
    try refuseInObserver("'beginWrite'")
    try checkNotWriting()
    deliver(.commits)
    try checkNotWriting()
    // Throw before waiting for other writers.
    if let outdated { throw outdated }
    let site = WriteSite(home, place)
    try openWrite(try shared.writers.right(for: origin, at: site, deadline), deadline, site)
  }

  /// Throws `.alreadyInWrite` inside a write of this store, with a `remedy`.
  func checkNotWriting(
    remedy: String = "Write within it, or use 'savepoint' for a part that can be undone alone."
  ) throws(StoreError) {
    guard writing != nil else { return }
    throw StoreError(
      .alreadyInWrite, "A write of this store is open already: it began at \(writer.place).",
      remedy: remedy, details: ["begun": "\(writer.place)"])
  }

  /// Makes a begun transaction this store's write. First the store moves to what was committed while it waited, and reports that:
  /// no commit is ever reported inside a write. The right is kept meanwhile, so that other writers cannot intervene repeatedly.
  func openWrite(_ begun: any WriteTransaction, _ deadline: Deadline, _ site: WriteSite) throws(StoreError) {
    var transaction = begun
    let writers = shared.writers
    while transaction.version != snapshot.version || isInvalidated {
      writers.keep(transaction, for: origin, at: site)
      deliver(.commits)
      if let kept = writers.takeBack(origin) {
        transaction = kept
        if kept.version == snapshot.version, !isInvalidated { break }
        // It could not be reported now, so it is reported after the write.
        do throws(StoreError) { try advance() } catch {
          kept.end()
          throw error
        }
      } else {
        // An observer used the right for its own write.
        try checkNotWriting()
        transaction = try writers.right(for: origin, at: site, deadline)
      }
    }
    checkCommittedProperties()
    do throws(StoreError) { try checkVersions(transaction.version) } catch {
      transaction.end()
      throw error
    }
    writer.begin(
      RecordedTransaction(
        transaction, origin: origin, recordsValues: configuration.recordsValues, followsRules: true,
        companion: configuration.commitCompanion), at: site.place)
    writers.opened(origin, at: site)
    read(from: transaction)
  }

  /// Commits the open write. Afterwards the store is at the new version, and every observer will be notified, except those of
  /// `tokens`: they know what the write did, and are notified of everything else as usual. Observers of single properties were
  /// notified already.
  ///
  /// ```swift
  /// try store.beginWrite()
  /// try store.delete(messages[row])
  /// table.deleteRow(at: row)
  /// try store.commitWrite(withoutNotifying: [token])
  /// ```
  ///
  /// A write that changed nothing makes no version. If this throws, the write has ended and nothing of it is visible. It also
  /// throws if an edit in the write was rejected that cannot throw itself, a setter's or a collection's: then the error of the
  /// first one.
  ///
  /// - Parameter silently: notifies no token of results, numbers, objects and collections of this process; observers of stores, of
  ///   single properties, and other processes are notified as usual.
  ///
  /// Throws `.notInWrite`, `.wrongContext` (then the write stays open), `.outOfDiskSpace`, `.io`; `.unsynced` if the write is visible, and
  /// the disk failed to confirm it.
  public func commitWrite(
    withoutNotifying tokens: [NotificationToken] = [], silently: Bool = false, author: String? = nil,
    durability: Durability? = nil
  ) throws(StoreError) {
    guard let write = writing else { throw .notInWrite("'commitWrite'") }
    try checkContext("commitWrite")
    try refuseInObserver("'commitWrite'")
    if let fault = writer.edits.fault {
      cancelWrite()
      throw fault
    }
    dropWindows()
    let hooks = writer.end()
    let made = write.transaction.version.next
    let result = shared.writers.ending(origin) {
      defer { write.end() }
      return Result { () throws(StorageError) in
        try write.isEmpty
          ? nil
          : commit(
            write, without: tokens, silently, author ?? configuration.author, durability ?? configuration.durability)
      }
    }
    read(from: snapshot)
    defer { beginPendingWrites() }
    var committed = snapshot.version
    switch result {
    case .success(nil): scheduleTurnIfBehind()
    case .success(let next?):
      committed = next.version
      take(next, skipping: tokens, orAll: silently)
    case .failure(let error) where error.code == .unsynced:
      // Everybody sees it, and only the disk may lack it.
      take(Committed(version: made, snapshot: snapshot(of: made)), skipping: tokens, orAll: silently)
      hooks.runAfterCommit(made)
      throw StoreError(error)
    case .failure(let error):
      // As after `cancelWrite`: set values are restored.
      checkPropertyObservers()
      allTrackedReadsDidChange()
      scheduleTurnIfBehind()
      hooks.runAfterRollback()
      throw StoreError(error)
    }
    hooks.runAfterCommit(committed)
  }

  /// Reads what was committed from now on.
  private func take(_ committed: Committed, skipping tokens: [NotificationToken], orAll silently: Bool) {
    let isSkipping = silently || !tokens.isEmpty
    if let snapshot = committed.snapshot {
      do throws(StoreError) { try follow(snapshot) } catch { misuse(error) }
    } else if isSkipping {
      // Observers move version by version, as in other stores: first to the one that they are not told of.
      deliver(.commits)
    } else {
      // One that is not available now is taken at the next refresh.
      try? advance()
    }
    checkCommittedProperties()
    if isSkipping, committed.snapshot != nil { followMoves(of: tokens, orAll: silently) }
    if observing.missedTurn { scheduleTurnIfBehind() }
  }

  /// A commit, and a snapshot of the version it made; nil if somebody was quicker with another commit, which observers are to be told of.
  private struct Committed {
    let version: Version
    let snapshot: (any ReadTransaction)?
  }

  /// A snapshot of exactly this version. The writer's lock is not held any more.
  private func snapshot(of version: Version) -> (any ReadTransaction)? {
    guard let read = try? shared.engine.beginRead() else { return nil }
    if read.version == version { return read }
    read.end()
    return nil
  }

  private func commit(
    _ write: RecordedTransaction, without tokens: [NotificationToken], _ silently: Bool, _ author: String?,
    _ durability: Durability
  ) throws(StorageError) -> Committed {
    let time = Store.now
    // Tokens of other files are not notified of this one anyway, and their versions are unrelated.
    let observations = tokens.compactMap { $0.subject as? ResultObservation }.filter { $0.file == shared.number }
    let watches = tokens.compactMap { $0.subject as? ObjectWatch }.filter { $0.file == shared.number }
    if !observations.isEmpty || !watches.isEmpty || silently {
      shared.results.settleStarts(of: observations, watches, andOfAllOthers: silently)
    }
    // Before anyone can be notified of the commit.
    let version = write.transaction.version.next
    let passed = tokens.compactMap { $0.subject as? StoreWatch }.filter { $0.file == shared.number && $0.pass(version) }
    do throws(StorageError) {
      return try shared.commitGate.withLock { _ throws(StorageError) in
        if observations.isEmpty, watches.isEmpty, !silently {
          let version = try shared.results.commit(write, author: author, timeMilliseconds: time, durability)
          return Committed(version: version, snapshot: try? shared.engine.beginRead())
        }
        try write.complete()
        var record = write.record
        record.version = version
        record.author = author
        _ = try shared.results.commit(
          write.transaction, record, skipping: observations, watches: watches, skipsEverybody: silently
        ) { () throws(StorageError) in
          try write.commit(author: author, timeMilliseconds: time, durability)
        }
        return Committed(version: version, snapshot: snapshot(of: version))
      }
    } catch {
      if error.code != .unsynced { for watch in passed { watch.takeBack(version) } }
      throw error
    }
  }

  /// Undoes the open write: every object is as before, objects created in it are invalid. Does nothing without one.
  public func cancelWrite() {
    guard let write = writing else { return }
    do throws(StoreError) {
      try checkContext("cancelWrite")
      try refuseInObserver("'cancelWrite'")
    } catch {
      return misuse(error)
    }
    dropWindows()
    let hooks = writer.end()
    shared.writers.ending(origin) { write.end() }
    read(from: snapshot)
    checkPropertyObservers()
    allTrackedReadsDidChange()
    scheduleTurnIfBehind()
    hooks.runAfterRollback()
    beginPendingWrites()
  }

  /// Runs `body` in a write, synchronously, and returns its result. If `body` throws, everything is undone and the error is
  /// rethrown; if an edit in it was rejected, everything is undone too, and that error is thrown. `body` may commit or cancel
  /// itself.
  @discardableResult
  public func write<R>(
    withoutNotifying tokens: [NotificationToken] = [], silently: Bool = false, author: String? = nil,
    durability: Durability? = nil, fileID: StaticString = #fileID, line: UInt = #line, _ body: () throws -> R
  ) throws -> R {
    if silently || !tokens.isEmpty { notifyFirst(tokens, orAll: silently) }
    try beginWrite(fileID: fileID, line: line)
    return try finishWrite(withoutNotifying: tokens, silently: silently, author, durability, body)
  }

  /// Runs `body` in the open write and ends the write.
  func finishWrite<R>(
    withoutNotifying tokens: [NotificationToken], silently: Bool = false, _ author: String?, _ durability: Durability?,
    _ body: () throws -> R
  ) throws -> R {
    do {
      let result = try shared.writers.running(origin, at: WriteSite(home, writer.place), body)
      if writing != nil {
        try commitWrite(withoutNotifying: tokens, silently: silently, author: author, durability: durability)
      }
      return result
    } catch {
      cancelWrite()
      throw error
    }
  }

  /// The open write, for an operation that needs one.
  func openWrite(for what: @autoclosure () -> String) throws(StoreError) -> RecordedTransaction {
    try refuseInObserver(what())
    if let writing { return writing }
    try checkContext(what())
    if isReadOnly { throw .readOnlyOperation(what()) }
    throw .notInWrite(what())
  }
}

extension StorageError {
  /// The error of a store that did not get its turn to write in time.
  static var lateForWrite: StorageError {
    StorageError(
      .writeTimeout, .statement, "Another writer held the store until the deadline.",
      remedy: "Try again, give writes a longer timeout, or keep write transactions short.")
  }
}
