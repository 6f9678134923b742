import Foundation
import StorageInterface
import StoreValues

/// One commit, as the file's history records it.
public struct StoreCommit: Sendable {
  /// The changes of one type.
  public struct TypeChanges: Sendable {
    /// The type's name in the schema.
    public let type: String
    /// Objects that the commit created and left in place.
    public let inserted: [ObjectID]
    /// Objects that existed before and are deleted.
    public let deleted: [ObjectID]
    /// Objects that existed before and after, with the names of the properties that were set or edited.
    public let modified: [(id: ObjectID, properties: [String])]
    /// Old and new values of the scalars of modified, created or deleted objects; null if the object did not exist. Empty unless
    /// the writing store has `Configuration.recordsValues`. A link is the key of its target.
    public let values: [(id: ObjectID, property: String, old: Value, new: Value)]
  }

  /// Its place in the store's single history: the cursor from which the next ones follow.
  public let version: Version
  /// Who made it, if the writer said so: `Configuration.author`, or the author given to the write.
  public let author: String?
  /// By the writer's clock; does not determine any order.
  public let date: Date
  /// Whether this store made it.
  public let isOwn: Bool
  /// The changes, one element for each type that the commit touched.
  public let changes: [TypeChanges]
}

extension Store {
  /// The commits of all processes after a version, oldest first, up to the version that this store reads. Keep the version of the
  /// last one processed, best in the store itself, and continue from it after a restart: each commit arrives exactly once.
  ///
  /// `.historyTrimmed` if the first of them is no longer kept, or if the file has never reached that version because an older copy
  /// replaced it: then everything may have changed.
  public func commits(since version: Version) throws(StoreError) -> [StoreCommit] {
    if version > snapshot.version {
      // A store that is behind will get there.
      let newest = try storing { () throws(StorageError) in try shared.engine.latestVersion() }
      if version > newest { throw .cursorAhead(version, of: newest) }
    }
    var commits: [StoreCommit] = []
    let (catalog, origin) = (snapshot.catalog, origin)
    var isBeyond = false
    try storing { () throws(StorageError) in
      try snapshot.history(after: version) { record in
        // No store can usefully report so many one by one: the file is damaged, or the caller had better read everything again.
        isBeyond = record.changeCount > StoreCommit.changesMax
        if isBeyond { return .stop }
        if !record.changesNothing { commits.append(StoreCommit(record, catalog, isOwn: record.origin == origin)) }
        return .proceed
      }
    }
    if isBeyond {
      throw StoreError(
        .historyTrimmed, "A commit after version \(version.rawValue) changed more objects than can be named.",
        remedy: "Read everything anew, and go on from 'store.version'.")
    }
    return commits
  }

  /// The same commits as an endless sequence that waits for more in the store's context. Throws the same errors: with a cursor that
  /// the file has never reached, it would otherwise wait until other commits have taken its number.
  ///
  /// ```swift
  /// for try await commit in store.changes(since: cursor) { try handle(commit) }
  /// ```
  public func changes(since version: Version) -> StoreCommits { StoreCommits(store: self, start: version) }
}

extension StoreError {
  /// The error for a cursor from a history that is not the file's.
  fileprivate static func cursorAhead(_ cursor: Version, of newest: Version) -> StoreError {
    StoreError(
      .historyTrimmed,
      "The file is at version \(newest.rawValue) and has never come to \(cursor.rawValue): it was restored from an older copy.",
      remedy: "Read everything anew, and go on from 'store.version'.",
      details: ["cursor": "\(cursor.rawValue)", "newest": "\(newest.rawValue)"])
  }
}

extension CommitRecord {
  /// Whether it changed no object and no schema, so that it wrote only side entries, of which no observer is notified.
  var changesNothing: Bool { tables.isEmpty && !changedCatalog }
}

extension StoreCommit {
  /// About two gigabytes of names.
  fileprivate static let changesMax = 1 << 26

  fileprivate init(_ record: CommitRecord, _ catalog: Catalog, isOwn: Bool) {
    version = record.version
    author = record.author
    date = Date(timeIntervalSince1970: Double(record.timeMilliseconds) / 1_000)
    self.isOwn = isOwn
    changes = record.tables.compactMap { change in
      guard let table = catalog.tables.first(where: { $0.id == change.table }) else { return nil }
      func id(_ key: Int64) -> ObjectID { ObjectID(type: table.name, key: ObjectKey(key)) }
      return TypeChanges(
        type: table.name, inserted: change.inserted.map(id), deleted: change.deleted.map(id),
        modified: change.modified.map { object in
          (id(object.key.rawValue), table.columns.filter { object.properties.contains($0.id) }.map(\.schema.name))
        },
        values: record.values.filter { $0.table == change.table }.compactMap { value in
          table[value.property].map { (id(value.key.rawValue), $0.schema.name, value.old, value.new) }
        })
    }
  }
}

/// The commits of a store from a version on, as they arrive. Ends when the task is cancelled.
public struct StoreCommits: AsyncSequence {
  public typealias Element = StoreCommit
  public typealias Failure = StoreError

  let store: Store
  let start: Version

  public func makeAsyncIterator() -> Iterator { Iterator(store, start) }

  public final class Iterator: AsyncIteratorProtocol {
    private let store: Store
    private var cursor: Version
    private var found: [StoreCommit] = []
    private var waiter: CheckedContinuation<Void, Never>?

    init(_ store: Store, _ start: Version) {
      self.store = store
      cursor = start
    }

    public func next() async throws(StoreError) -> StoreCommit? { try await next(isolation: nil) }

    /// The next commit; nil if the task is cancelled. `.historyTrimmed`; `.newerSchema` after the last commit that this program can
    /// read, if a newer one has migrated the file.
    public func next(isolation actor: isolated (any Actor)?) async throws(StoreError) -> StoreCommit? {
      store.bind(actor)
      while !Task.isCancelled {
        if found.isEmpty {
          store.refresh()
          found = try store.commits(since: cursor).reversed()
        }
        if let next = found.popLast() {
          cursor = next.version
          return next
        }
        if let outdated = store.outdated { throw outdated }
        if case .manual = store.home { throw .noContext }
        await wait(actor)
      }
      return nil
    }

    private func wait(_ actor: isolated (any Actor)?) async {
      let turn = ConfinedStore(store)
      let home = store.home
      store.observing.waiters[ObjectIdentifier(self)] = { [unowned self] in
        let waiting = waiter
        waiter = nil
        waiting?.resume()
      }
      await withTaskCancellationHandler {
        await withCheckedContinuation(isolation: actor) { waiter = $0 }
      } onCancel: {
        home.schedule { turn.store?.turn() }
      }
      store.observing.waiters[ObjectIdentifier(self)] = nil
    }
  }
}
