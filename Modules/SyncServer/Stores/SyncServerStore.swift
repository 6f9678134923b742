import SyncModel
import SyncProtocol

/// Where a server keeps its stores: for each a log of what replicas did, the merged objects, how far each replica is, and how far each
/// handler of events is.
///
/// Every call is one transaction: done as a whole, durably when it returns, or not at all. Times are milliseconds since 1970 by the
/// server's clock, which the caller reads, so that a simulation can have its own.
///
/// **Order.** Entries of one store are numbered 1, 2, 3 … without a gap, in the order in which they became visible; who has read up to a
/// number never finds a lower one later. **Threads.** Any task may call; calls for one store take effect one after the other. **Errors.**
/// `ServerStoreError`; `.unknownStore` where a path has no store, `.unavailable` for whatever the place of the data causes.
public protocol SyncServerStore: Sendable {
  /// Makes an empty store. Throws `.storeExists`.
  func makeStore(_ path: StorePath) async throws(ServerStoreError)

  /// All paths, in order.
  func stores() async throws(ServerStoreError) -> [StorePath]

  /// Says that a replica is there, and owns it from its first time on: throws `.replicaTaken` for another secret or user. Throws
  /// `.replicaExpired` for one that was forgotten (`purge`): it comes back as a new one.
  func bind(
    _ path: StorePath, _ replica: ReplicaID, secret: [UInt8], user: String, at time: Int64
  ) async throws(ServerStoreError) -> Standing

  /// Judges uploads of a replica in their order, and takes in what passes. One outcome for each.
  ///
  /// What the model refuses by itself (a stamp too far ahead, an epoch or element that nobody knows) the judge is not asked about.
  /// Changesets of one transaction (`Changeset.isContinued`) are taken in or refused together. `refusalSeen` is what the replica has
  /// said last.
  func commit(
    _ path: StorePath, _ replica: ReplicaID, _ uploads: [Upload], refusalSeen: Seq, at time: Int64, judge: @escaping UploadJudge
  ) async throws(ServerStoreError) -> [UploadOutcome]

  /// Entries after a number, as one replica is shown them: its own as markers, others' refusals not at all. About `limitBytes`, and at
  /// least one where there is one. Throws `.logTruncated` where the first of them is gone.
  func changes(
    _ path: StorePath, for replica: ReplicaID, after seq: Seq, limitBytes: Int
  ) async throws(ServerStoreError) -> LogPage

  /// Objects that an entry after a number touched, all for `.zero`, deleted ones that are remembered too; in the order of their
  /// identities from behind `last` on, about `limitBytes`. The page says as of which entry it is; pages of one walk may be of different
  /// ones, and each object knows its own last: who takes them goes on with the entries after the *first* page's number, and applies to
  /// each object those that it does not have. Of a difference he applies the last page's purge (`stable`, `floor`) to what he has
  /// *before* he takes any page: the server's objects do not say any more which incarnations links led to. His clock takes note of
  /// `latest`.
  func objects(
    _ path: StorePath, changedAfter seq: Seq, behind last: ObjectIdentity?, limitBytes: Int
  ) async throws(ServerStoreError) -> StatePage

  /// Notes how far a replica is. Never goes back.
  func acknowledge(
    _ path: StorePath, _ replica: ReplicaID, _ state: Acknowledgement, at time: Int64
  ) async throws(ServerStoreError)

  /// Forgets replicas that were not there since `expiry`, and makes all others forget what no replica can still act against: appends a
  /// purge to the log and applies it. nil where there is nothing new to forget.
  func purge(_ path: StorePath, expiry: Int64) async throws(ServerStoreError) -> Purge?

  /// Removes entries up to a number, as far as no handler still needs them. Replicas that do take objects.
  func truncateLog(_ path: StorePath, through seq: Seq) async throws(ServerStoreError)

  /// Gives the right to work for a handler until a time, unless another holder has it still. A new handler begins at the head of the log,
  /// or at its start.
  func claim(
    _ path: StorePath, handler: String, fromStart: Bool, until end: Int64, at time: Int64
  ) async throws(ServerStoreError) -> HandlerLease?

  /// Makes a lease last until another time; one that is over by then is given back. Throws `.leaseLost`.
  func renew(_ path: StorePath, _ lease: HandlerLease, until end: Int64, at time: Int64) async throws(ServerStoreError)

  /// How objects were as of an entry, all that a later entry touched; nil for one that was not there. With the pages of `objects` it gives
  /// the store as it was, to a handler that begins at its cursor. Throws `.logTruncated` where that was not kept: a store
  /// keeps it from the first claim of a handler on, behind the cursors of all.
  func objects(_ path: StorePath, asOf seq: Seq) async throws(ServerStoreError) -> [ObjectIdentity: ObjectState?]

  /// The handlers that a store knows, and up to where each has dealt with its events.
  func handlers(_ path: StorePath) async throws(ServerStoreError) -> [String: Seq]

  /// Takes a handler out that nobody runs any more: it holds back what is forgotten and removed otherwise. Nothing where there is none.
  func removeHandler(_ path: StorePath, _ name: String) async throws(ServerStoreError)

  /// Notes that a handler has dealt with the events up to a number, and takes in what it wrote, together; returns the entries that became
  /// of that. Nothing is noted and nothing written where either cannot be: `.leaseLost` where the lease is another's by now,
  /// `.writesRefused` where the changesets are not one transaction and the next of their author, or build on what nobody knows.
  ///
  /// A handler writes as a replica of its own (`ReplicaID.isHandler`), to which no client binds and which is forgotten when the handler
  /// writes as another one.
  func advance(
    _ path: StorePath, _ lease: HandlerLease, to cursor: Seq, writing changesets: [Changeset], at time: Int64
  ) async throws(ServerStoreError) -> [Seq]

  /// The last entries of some stores; those that are not there are left out.
  func heads(_ paths: [StorePath]) async throws(ServerStoreError) -> [StorePath: Seq]

  /// Stores that got an entry, from now on; several may come as one. What comes before anybody listens is not told.
  func wakeups() async -> AsyncStream<StorePath>
}
