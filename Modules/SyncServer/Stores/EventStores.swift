import SyncModel
import SyncProtocol

/// The stores of a server, as handlers of events use them (`ServerEvents`): the logs and objects, and the handlers' leases and cursors.
///
/// Every `SyncServerStore` is one, for handlers in a process that has the stores itself; `RemoteEventStores` is one over a connection to a
/// server. Every call is one transaction, as there. Times are milliseconds since 1970 by the caller's clock, for one process always the
/// same. **Threads.** Any task may call. **Errors.** `ServerStoreError`; `.unknownStore` if a path has no store, `.unavailable` if the
/// stores cannot be reached.
public protocol EventStores: Sendable {
  /// Creates the store in which a server keeps the names of handlers. Throws `.storeExists`.
  func makeHandlerNames() async throws(ServerStoreError)

  /// All paths, in order.
  func stores() async throws(ServerStoreError) -> [StorePath]

  /// The entries after a number in the form for one replica: its own changesets as markers, and no refusals of others. About
  /// `limitBytes`, and at least one entry if there is one. Throws `.logTruncated` if the first of them is gone.
  func changes(
    _ path: StorePath, for replica: ReplicaID, after seq: Seq, limitBytes: Int
  ) async throws(ServerStoreError) -> LogPage

  /// The objects that an entry after a number touched, or all for `.zero`, including known deleted ones, in the order of their identities
  /// after `last`, about `limitBytes`. The page says as of which entry it is. Pages of one walk may differ in that, and each object knows
  /// the last entry that it includes. The receiver continues with the entries after the *first* page's number, and applies to each object
  /// those that it does not include. For a delta, it must apply the last page's purge (`stable`, `floor`) to its own state *before* it
  /// takes any page: the server's objects no longer say which incarnations links led to. Its clock must receive `latest`.
  ///
  /// - Parameter history: that of the store whose other pages the receiver has; nil for any. Throws `.historyChanged` for a store that was
  ///   restored, or removed and made anew: pages of two stores must not be taken together.
  func objects(
    _ path: StorePath, of history: [UInt8]?, changedAfter seq: Seq, behind last: ObjectIdentity?, limitBytes: Int
  ) async throws(ServerStoreError) -> StatePage

  /// Grants the lease of a handler until a time, unless another holder still has it. A new handler begins at the head of the log, or at
  /// its start.
  ///
  /// - Parameter history: that of the store if the process has had a lease of the handler there. Throws `.handlerRemoved` if the handler
  ///   was removed since: it would begin anew, and the process handle once more what it has handled. Leases from before that are void, also
  ///   where somebody else has made the handler again.
  func claim(
    _ path: StorePath, handler: String, heldIn history: [UInt8]?, fromStart: Bool, until end: Int64, at time: Int64
  ) async throws(ServerStoreError) -> HandlerLease?

  /// Changes the end of a lease; an end in the past releases it. Throws `.leaseLost`.
  func renew(_ path: StorePath, _ lease: HandlerLease, until end: Int64, at time: Int64) async throws(ServerStoreError)

  /// How the objects were that changed since an entry: as of that entry or, where each of many changes would have to keep a long list, as
  /// of an earlier one. Read after the pages of `objects`, it gives a handler with these the store of then, and with the entries in between
  /// that of its cursor; what purges have forgotten besides makes no difference. Throws `.logTruncated` if it was not kept: a store does so
  /// from the first claim of a handler on, after the lowest of the handlers' cursors. O(those objects).
  func past(_ path: StorePath, at seq: Seq) async throws(ServerStoreError) -> StorePast

  /// The handlers of a store: the entry up to which each has processed events, and the end of its lease.
  func handlers(_ path: StorePath) async throws(ServerStoreError) -> [String: HandlerStanding]

  /// Removes a handler that no longer runs: otherwise it blocks purges and truncation. No effect if it does not exist.
  func removeHandler(_ path: StorePath, _ name: String) async throws(ServerStoreError)

  /// Stores that a handler has processed the events up to a number, together with its writes; returns the entries of those. If either
  /// fails, neither is stored: `.leaseLost` if another process has the lease, `.writesRefused` if the changesets are not exactly the next
  /// transaction of their author, or build on something unknown. A repetition of the last call, whose answer was lost, stores nothing and
  /// returns no entries.
  ///
  /// A handler writes as a replica of its own (`ReplicaID.isHandler`). No client binds to it, and it is forgotten when the handler writes
  /// as another replica.
  func advance(
    _ path: StorePath, _ lease: HandlerLease, to cursor: Seq, writing changesets: [Changeset], at time: Int64
  ) async throws(ServerStoreError) -> [Seq]

  /// The last entries of some stores, without those that do not exist.
  func heads(_ paths: [StorePath]) async throws(ServerStoreError) -> [StorePath: Seq]

  /// The stores that get an entry from now on, or are removed; several of these may be reported as one. What another process does to a
  /// store that is neither followed here, nor has had a handler claimed here, may be left out.
  func wakeups() async -> AsyncStream<StorePath>

  /// Has news of a store reported until `unfollow` was called as often. There need not be a store at the path yet: its news is reported
  /// from the next `bind`, or the next look at its `handlers`, on.
  func follow(_ path: StorePath) async

  /// Ends what one call of `follow` has begun.
  func unfollow(_ path: StorePath) async
}

extension EventStores {
  /// Does nothing, for a store that reports all news.
  public func follow(_ path: StorePath) async {}

  /// Does nothing, for a store that reports all news.
  public func unfollow(_ path: StorePath) async {}

  /// A page of whatever store there is.
  public func objects(
    _ path: StorePath, changedAfter seq: Seq, behind last: ObjectIdentity?, limitBytes: Int
  ) async throws(ServerStoreError) -> StatePage {
    try await objects(path, of: nil, changedAfter: seq, behind: last, limitBytes: limitBytes)
  }

  /// The lease of a handler that this process has had no lease of before.
  public func claim(
    _ path: StorePath, handler: String, fromStart: Bool, until end: Int64, at time: Int64
  ) async throws(ServerStoreError) -> HandlerLease? {
    try await claim(path, handler: handler, heldIn: nil, fromStart: fromStart, until: end, at: time)
  }
}
