import SyncModel
import SyncProtocol

/// The storage of a server: for each store a log of changesets, the merged objects, and the progress of each replica and event handler.
///
/// Every call is one transaction: when it returns, everything is done, durably, or nothing. Times are milliseconds since 1970 by the
/// server's clock; the caller passes them, so that a simulation can have its own.
///
/// **Order.** Entries of one store are numbered 1, 2, 3 … without a gap, in the order in which they become visible: a reader that has
/// read up to a number never finds a lower one later. **Threads.** Any task may call; calls for one store take effect one after the
/// other. **Errors.** `ServerStoreError`; `.unknownStore` if a path has no store, `.unavailable` for all errors of the underlying
/// storage.
public protocol SyncServerStore: EventStores {
  /// Creates an empty store, with a cursor of each registered handler that is for it: it keeps its log for them from its first entry on.
  /// Throws `.storeExists`.
  func makeStore(_ path: StorePath) async throws(ServerStoreError)

  /// Removes a store with everything in it, for good. Calls under way end first, or find no store; it is reported as news (`wakeups`). A
  /// store made at the path later is another one: its history differs, and it knows no replica.
  func removeStore(_ path: StorePath) async throws(ServerStoreError)

  /// Binds a replica; the first bind makes its secret and user the owner. Throws `.replicaTaken` for another secret or user, and
  /// `.replicaExpired` for one that was forgotten (`purge`) or given up, which must come back as a new one.
  ///
  /// - Parameters:
  ///   - limit: how many replicas the user may have at the store. If there are as many, the one that was not seen for the longest time is
  ///     given up for a new one, after a day: it counts no more, and holds purges back until it is forgotten. Throws `.quotaExceeded` for a
  ///     new one if all were seen since.
  ///   - spared: replicas that are connected, and are not given up; nil to give up none.
  func bind(
    _ path: StorePath, _ replica: ReplicaID, secret: [UInt8], user: String, limit: Int, sparing spared: Set<ReplicaID>?, at time: Int64
  ) async throws(ServerStoreError) -> Standing

  /// About how many bytes a store's log and objects have: what a quota counts.
  func size(of path: StorePath) async throws(ServerStoreError) -> Int

  /// Adds to what the replicas of a store have declared of their types, and returns all of it. An empty declaration only reads. Throws
  /// `.schemaConflict` if a property was declared otherwise, or there is too much.
  func declare(_ path: StorePath, _ schema: SyncSchema) async throws(ServerStoreError) -> SyncSchema

  /// Judges uploads of a replica in order, and commits those that pass. Returns one outcome for each.
  ///
  /// The judge is not called for what the model itself refuses: a stamp too far ahead, or from before the floor, an unknown epoch or
  /// element. Changesets of one transaction (`Changeset.isContinued`) are committed or refused together. `refusalSeen` is the replica's
  /// last acknowledgement.
  func commit(
    _ path: StorePath, _ replica: ReplicaID, _ uploads: [Upload], refusalSeen: Seq, at time: Int64, judge: @escaping UploadJudge
  ) async throws(ServerStoreError) -> [UploadOutcome]

  /// Stores the progress of a replica, which never decreases.
  func acknowledge(
    _ path: StorePath, _ replica: ReplicaID, _ state: Acknowledgement, at time: Int64
  ) async throws(ServerStoreError)

  /// Forgets replicas that were not seen since `expiry`. Then appends a purge to the log, of everything that no operation to come can
  /// conflict with, nor one that a handler has not passed, and applies it. Returns nil if there is nothing new to forget.
  func purge(_ path: StorePath, expiry: Int64) async throws(ServerStoreError) -> Purge?

  /// Removes entries up to a number, unless a handler still needs them. A replica that needs them takes objects.
  func truncateLog(_ path: StorePath, through seq: Seq) async throws(ServerStoreError)
}

extension SyncServerStore {
  public func makeHandlerNames() async throws(ServerStoreError) { try await makeStore(HandlerNames.path) }

  /// Binds any number of replicas.
  public func bind(
    _ path: StorePath, _ replica: ReplicaID, secret: [UInt8], user: String, at time: Int64
  ) async throws(ServerStoreError) -> Standing {
    try await bind(path, replica, secret: secret, user: user, limit: .max, at: time)
  }

  /// Binds a replica where none is connected.
  public func bind(
    _ path: StorePath, _ replica: ReplicaID, secret: [UInt8], user: String, limit: Int, at time: Int64
  ) async throws(ServerStoreError) -> Standing {
    try await bind(path, replica, secret: secret, user: user, limit: limit, sparing: [], at: time)
  }
}
