import Foundation
import StorageInterface
import StoreValues

/// One commit, as the file remembers it.
public struct StoreCommit: Sendable {
  /// What it did to one type.
  public struct TypeChanges: Sendable {
    /// The type's name in the schema.
    public let type: String
    /// Objects that were made and are there after the commit.
    public let inserted: [ObjectID]
    /// Objects that were there before and are gone.
    public let deleted: [ObjectID]
    /// Objects that were there before and after, with the names of the properties that were set or edited.
    public let modified: [(id: ObjectID, properties: [String])]
    /// What scalars were and are, of objects that were changed, made or deleted, null where there was or is no object. Empty
    /// unless the store that wrote has `Configuration.recordsValues`. A link is the key of the object it leads to.
    public let values: [(id: ObjectID, property: String, old: Value, new: Value)]
  }

  /// Its place in the one history of the store: the cursor from which the next ones follow.
  public let version: Version
  /// Who wrote it, if the writer said: `Configuration.author`, or what the write was given.
  public let author: String?
  /// By the writer's clock; nothing is ordered by it.
  public let date: Date
  /// Whether this store made it.
  public let isOwn: Bool
  /// What it did, a value for each type that it touched.
  public let changes: [TypeChanges]
}

extension Store {
  /// The commits after a version, of all processes, oldest first, up to the version that this store reads. Keep the version
  /// of the last one that was dealt with, in the store itself best of all, and go on from there after a restart: each commit
  /// comes exactly once.
  ///
  /// `.historyTrimmed` when the first of them is no longer kept, and when the file has never come to that version, because an
  /// older copy of it was put in its place: then everything may have changed.
  public func commits(since version: Version) throws(StoreError) -> [StoreCommit] {
    if version > snapshot.version {
      // A store that is behind will see it.
      let newest = try storing { () throws(StorageError) in try shared.engine.latestVersion() }
      if version > newest { throw .cursorAhead(version, of: newest) }
    }
    var commits: [StoreCommit] = []
    let (catalog, origin) = (snapshot.catalog, origin)
    var isBeyond = false
    try storing { () throws(StorageError) in
      try snapshot.history(after: version) { record in
        // No store reports so many one by one: the file is damaged, or is better read anew.
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

  /// The same without an end: waits for more in the store's context. Fails like it, too: a cursor that the file has never come to
  /// would wait until other commits have taken its number.
  ///
  /// ```swift
  /// for try await commit in store.changes(since: cursor) { try handle(commit) }
  /// ```
  public func changes(since version: Version) -> StoreCommits { StoreCommits(store: self, start: version) }
}

extension StoreError {
  /// A cursor of another history than the file has.
  fileprivate static func cursorAhead(_ cursor: Version, of newest: Version) -> StoreError {
    StoreError(
      .historyTrimmed,
      "The file is at version \(newest.rawValue) and has never come to \(cursor.rawValue): it was restored from an older copy.",
      remedy: "Read everything anew, and go on from 'store.version'.",
      details: ["cursor": "\(cursor.rawValue)", "newest": "\(newest.rawValue)"])
  }
}

extension CommitRecord {
  /// Whether it changed no object and no schema: then all it wrote is side entries, which are nobody's news.
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

/// The commits of a store from a version on, as they come. Ends with the task.
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

    /// The next commit; nil once the task is cancelled. `.historyTrimmed`; `.newerSchema` after the last one that this program
    /// can read, once a newer one has migrated the file.
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
