import StorageInterface
import StorageMemory
import StoreValues
import SyncClient
import SyncModel
import SyncProtocol
import SyncServer
import Vivarium

/// A store in memory that follows the log of a server's store for one handler, one transaction after the other. So the handler sees the
/// store before and after each, and writes on top of that state.
///
/// It lives as long as the handler's lease. Its successor begins with an empty memory, as another replica, at the cursor that the server
/// stores: transactions integrated here and not processed are integrated again.
actor EventReplica<T: Model>: EventWork {
  nonisolated let replica: ReplicaID
  private let handler: EventHandler<T>
  private let path: StorePath
  private let clock: @Sendable () -> Int64
  private let store: Store
  private let file: SessionFile
  private(set) var cursor = Seq.zero
  private var events: [ServerChange<T>] = []
  private(set) var isSpoiled = false
  /// The number of the last changeset that was returned.
  private var lastSent: UInt64 = 0

  init(_ handler: EventHandler<T>, _ path: StorePath, clock: @escaping @Sendable () -> Int64) throws {
    (self.handler, self.path, self.clock) = (handler, path, clock)
    replica = ReplicaID(UInt64.random(in: 1..<1 << 63) | 1 << 63)
    var configuration = StoreConfiguration(backend: MemoryBackend(), models: handler.models)
    var sync = SyncConfiguration()
    sync.wallClock = clock
    configuration.sync = sync
    store = try Store(configuration, isolation: nil)
    file = SessionFile(store.file)
  }

  var pendingCount: Int { events.count }

  // MARK: following the log

  func begin(at seq: Seq, of stores: any EventStores) async throws {
    cursor = seq
    try await file.become(replica)
    // Before the first entry the store is empty.
    if seq == .zero { return }
    var start = Seq.zero
    do { start = try await takeObjects(before: seq, of: stores) } catch let error as ServerStoreError where error.code == .logTruncated {
      // How objects were is not kept of a time before the handler's first lease: if it comes to an end between these entries and the ones
      // after, the successor needs the log itself. `follow` throws the same where that does not go back to its beginning.
    }
    try await follow(from: start, to: seq, of: stores)
  }

  /// Takes in the store as of an entry, or the last one before it of which the server can tell; returns which that is.
  private func takeObjects(before seq: Seq, of stores: any EventStores) async throws -> Seq {
    var states: [ObjectIdentity: ObjectState] = [:]
    var page = try await stores.objects(path, changedAfter: .zero, behind: nil, limitBytes: 4 << 20)
    while true {
      for object in page.objects { states[object.identity] = object.state }
      guard !page.isLast, let last = page.objects.last?.identity else { break }
      page = try await stores.objects(path, changedAfter: .zero, behind: last, limitBytes: 4 << 20)
    }
    // Read after the pages, so it includes everything that changed while they were read.
    let past = try await stores.past(path, at: seq)
    for (object, state) in past.states { states[object] = state }
    let objects = states.map { StatePage.Object($0, $1) }.sorted { $0.identity < $1.identity }
    try await file.begin(with: objects, asOf: past.asOf, page, wall: clock())
    return past.asOf
  }

  /// Takes in the entries between two, without events. O(those).
  private func follow(from start: Seq, to seq: Seq, of stores: any EventStores) async throws {
    var last = start
    while last < seq {
      let page = try await stores.changes(path, for: replica, after: last, limitBytes: 1 << 20)
      let entries = page.entries.filter { $0.seq <= seq }
      if !entries.isEmpty { _ = try await file.integrate(entries, telling: T._$name) }
      guard page.cursor > last else { break }
      last = page.cursor
    }
    store.refresh()
  }

  func take(_ transaction: LogTransaction) async throws {
    let touched = try await file.integrate(transaction.entries, telling: T._$name)
    cursor = transaction.last
    events = try events(touched, transaction)
  }

  func skip(to seq: Seq) { cursor = max(cursor, seq) }

  func findWaiting() throws {
    guard let waiting = handler.waiting else { return }
    let objects = waiting(store)
    let identities = try file.identities(of: objects.map(\._$key), T._$name)
    events = try objects.map { object in
      ServerChange(
        kind: .insert, old: nil, new: try object.freeze(), store: path, number: cursor.rawValue, author: "", isOfHandler: false,
        idempotencyKey: key(of: identities[object._$key], object._$key, "waiting"))
    }
  }

  /// The key of a change, the same in every replica: keys of objects, and their order, are a file's own.
  private func key(of identity: ObjectIdentity?, _ key: Int64, _ event: String) -> String {
    "\(handler.name)\(path):\(event):\(identity.map { "\($0)" } ?? "\(T._$name)#\(key)")"
  }

  /// Called before the store moves on from the version before the transaction; moves it to the version after.
  private func events(_ touched: [SessionFile.Touched], _ transaction: LogTransaction) throws -> [ServerChange<T>] {
    // A handler gets no events of its own writes, including those from before it began anew.
    guard let author = transaction.author, !(author.replica.isHandler && author.user == handler.name) else {
      store.refresh()
      return []
    }
    var before: [Int64: Seen] = [:]
    for object in touched { before[object.key] = try seen(object.key) }
    store.refresh()
    var changes: [ServerChange<T>] = []
    for object in touched {
      let (old, new) = (before[object.key] ?? Seen(), try seen(object.key))
      guard old.isWanted || new.isWanted, let kind = ServerChange<T>.Kind(old.object, new.object) else { continue }
      changes.append(
        ServerChange(
          kind: kind, old: old.object, new: new.object, store: path, number: transaction.last.rawValue, author: author.user,
          isOfHandler: author.replica.isHandler, idempotencyKey: key(of: object.identity, object.key, "\(transaction.last.rawValue)")))
    }
    return changes
  }

  /// An object in the store's version, and whether the handler's condition holds for it.
  private struct Seen {
    var object: Frozen<T>?
    var isWanted = false
  }

  private func seen(_ key: Int64) throws -> Seen {
    guard let object = store.resolve(ObjectReference<T>(key: key, in: store)) else { return Seen() }
    let isWanted = handler.condition.map { store.objects(T.self).where($0).contains(object) } ?? true
    return Seen(object: try object.freeze(), isWanted: isWanted)
  }

  // MARK: processing

  func deal() async throws -> [Changeset] {
    if events.isEmpty { return [] }
    var writes: [@Sendable (Store) throws -> Void] = []
    for event in events { writes.append(try await handler.work(event)) }
    store.refresh()
    let version = store.version
    do { try store.write { for write in writes { try write(store) } } } catch {
      isSpoiled = store.version != version
      throw error
    }
    var changesets: [Changeset] = []
    for entry in try await file.outbox(after: lastSent, bytes: .max) {
      guard case .write(let written, _) = entry else { continue }
      changesets += written
    }
    lastSent = changesets.last?.clientSeq ?? lastSent
    return changesets
  }

  func settle() { events = [] }
}

extension ServerChange.Kind {
  fileprivate init?(_ old: Frozen<T>?, _ new: Frozen<T>?) {
    switch (old, new) {
    case (nil, .some): self = .insert
    case (.some, .some): self = .modify
    case (.some, nil): self = .delete
    case (nil, nil): return nil
    }
  }
}
