import ChangeTracker
import Notifications
import StorageInterface
import StoreValues

/// What an observer of a collection hears.
///
/// ```swift
/// token = people.observe { change in
///   switch change {
///   case .initial: table.reloadData()
///   case .update(_, let deletions, let insertions, let modifications):
///     table.apply(deletions, insertions, modifications)
///   case .error(let error): show(error)
///   }
/// }
/// ```
public enum CollectionChange<C> {
  /// The collection as it is when it is first there: once, before everything else, never inside the call that observes.
  case initial(C)
  /// What changed since the last call: deletions and modifications are positions in the collection of that call,
  /// insertions in this one; each ascending, and no position is in two of deletions and modifications. Deleting these,
  /// inserting these and reloading these brings the old collection to the new one.
  case update(C, deletions: [Int], insertions: [Int], modifications: ChangedRows)
  /// The collection cannot be kept any more. The last call.
  case error(StoreError)

  /// More about an update: moves, who wrote, which objects; nil for the others.
  public var details: ChangeDetails? {
    if case .update(_, _, _, let modifications) = self { modifications.details } else { nil }
  }

  /// The collection; nil for an error.
  public var collection: C? {
    switch self {
    case .initial(let collection), .update(let collection, _, _, _): collection
    case .error: nil
    }
  }

  /// The same change of another collection that has the same rows in the same places.
  public func map<Other>(_ transform: (C) throws -> Other) rethrows -> CollectionChange<Other> {
    switch self {
    case .initial(let collection): .initial(try transform(collection))
    case .error(let error): .error(error)
    case .update(let collection, let deletions, let insertions, let modifications):
      .update(try transform(collection), deletions: deletions, insertions: insertions, modifications: modifications)
    }
  }
}

/// The rows that stayed where they were among the others and have other values: a collection of their positions in
/// the collection of the last call, and `new` the same rows in this one.
public struct ChangedRows: RandomAccessCollection, Sendable, Hashable, ExpressibleByArrayLiteral {
  /// Their positions in the collection of the last call, ascending.
  public let old: [Int]
  /// Positions of the same rows in this collection, in the order of `old`.
  public let new: [Int]
  let details: ChangeDetails?

  init(_ changes: ChangeSet, _ details: ChangeDetails) {
    old = changes.modifications
    new = changes.modificationsInNew
    self.details = details
  }

  /// For tests of code that takes change sets.
  public init(old: [Int], new: [Int]) {
    self.old = old
    self.new = new
    details = nil
  }

  public init(arrayLiteral elements: Int...) { self.init(old: elements, new: elements) }

  public var startIndex: Int { 0 }
  public var endIndex: Int { old.count }
  /// A position in the collection of the last call.
  public subscript(index: Int) -> Int { old[index] }

  public static func == (a: Self, b: Self) -> Bool { a.old == b.old && a.new == b.new }
  public func hash(into hasher: inout Hasher) {
    hasher.combine(old)
    hasher.combine(new)
  }
}

/// What a change set says beyond its positions. Sendable; worked out when it is asked for, from states of the collection
/// that hold no version of the store.
public struct ChangeDetails: Sendable {
  /// A row that is still there and stands elsewhere among the others.
  public struct Move: Sendable, Hashable {
    /// In the collection of the last call; also one of the deletions.
    public let from: Int
    /// In this one; also one of the insertions.
    public let to: Int
  }

  private enum Source: Sendable {
    case result(type: String, ResultChange)
    case elements(ChangeSet, ChangedMembers, from: Version, to: Version)
  }

  private let source: Source
  /// The authors of commits that touched what is observed, each once, in the order in which they wrote; as far as the commits
  /// are known, see `Store.write(author:)`.
  public let authors: [String]
  /// Where these commits were made.
  public let origins: ChangeOrigins
  /// The version of the last call, for observers that asked for old values.
  private let before: SharedVersion?

  /// Of results; `own` is the origin of the store that is notified.
  init(_ type: String, _ change: ResultChange, own: UInt64, before: SharedVersion? = nil) {
    source = .result(type: type, change)
    authors = change.sources.authors
    origins = ChangeOrigins(change.sources, own: own)
    self.before = before
  }

  /// Of an object, or of a collection of one.
  init(_ offer: WatchOffer, _ changes: ChangeSet = ChangeSet(), _ members: ChangedMembers = ChangedMembers(), own: UInt64) {
    source = .elements(changes, members, from: offer.from, to: offer.to)
    authors = offer.sources.authors
    origins = ChangeOrigins(offer.sources, own: own)
    before = nil
  }

  /// Of a number.
  init(_ change: TotalChange, own: UInt64) {
    source = .elements(ChangeSet(), ChangedMembers(), from: change.from, to: change.to)
    authors = change.sources.authors
    origins = ChangeOrigins(change.sources, own: own)
    before = nil
  }

  /// Of an object: a change on top of an earlier one.
  init(_ later: ChangeDetails, since earlier: ChangeDetails) {
    source = .elements(ChangeSet(), ChangedMembers(), from: earlier.fromVersion, to: later.toVersion)
    authors = earlier.authors + later.authors.filter { !earlier.authors.contains($0) }
    origins = earlier.origins.union(later.origins)
    before = nil
  }

  /// Without positions, identities and members, and back to an earlier call.
  init(_ details: ChangeDetails, from version: Version) {
    source = .elements(ChangeSet(), ChangedMembers(), from: version, to: details.toVersion)
    authors = details.authors
    origins = details.origins
    before = nil
  }

  /// Rows that are still there and stand elsewhere among the others, as few as possible: each is a deletion and an
  /// insertion too. Ascending by `from`.
  public var moves: [Move] {
    let changes: ChangeSet =
      switch source {
      case .result(_, let change): change.changes
      case .elements(let changes, _, _, _): changes
      }
    return changes.moves.map { Move(from: $0.from, to: $0.to) }
  }
  /// The objects that went, in the order of the deletions; moved ones included. Empty for a list, whose elements have no
  /// identity.
  public var deletedIDs: [ObjectID] { ids { $0.deletedKeys } }
  /// The objects that came, in the order of the insertions; moved ones included.
  public var insertedIDs: [ObjectID] { ids { $0.keys(at: $0.changes.insertions) } }
  /// The objects of the modifications, in their order.
  public var modifiedIDs: [ObjectID] { ids { $0.keys(at: $0.changes.modificationsInNew) } }
  /// The objects of the deletions as they were before, in their order, moved ones included. Only for observers with
  /// `includingOldValues`, else empty; one that rested gets those that were still there when the others were last notified.
  /// Keeping one keeps its version in the file.
  public func deletedObjects<T: Model>(_ type: T.Type = T.self) -> [Frozen<T>] { frozen(deletedIDs) }
  /// The objects of the modifications as they were before, in their order; as `deletedObjects`.
  public func modifiedObjects<T: Model>(_ type: T.Type = T.self) -> [Frozen<T>] { frozen(modifiedIDs) }

  private func frozen<T: Model>(_ ids: [ObjectID]) -> [Frozen<T>] {
    guard let before, let table = before.catalog[T._$name]?.id else { return [] }
    return ids.filter { $0.type == T._$name && (try? before.contains(table, $0.key)) == true }.map { Frozen($0.key, before) }
  }

  /// Of a set, the members that went, in the order of the deletions; empty for other collections, and where the set's object
  /// is gone.
  public var deletedMembers: [Value] { members.deleted }
  /// Of a set, the members that came, in the order of the insertions.
  public var insertedMembers: [Value] { members.inserted }
  /// The version of the last call.
  public var fromVersion: Version {
    switch source {
    case .result(_, let change): change.from
    case .elements(_, _, let from, _): from
    }
  }
  /// The version of this call.
  public var toVersion: Version {
    switch source {
    case .result(_, let change): change.to
    case .elements(_, _, _, let to): to
    }
  }
  /// How many commits of the store lie between the two, whatever they touched.
  public var commits: Int { Int(clamping: toVersion.rawValue - fromVersion.rawValue) }

  private var members: ChangedMembers {
    if case .elements(_, let members, _, _) = source { members } else { ChangedMembers() }
  }

  private func ids(_ keys: (ResultChange) -> [Int64]) -> [ObjectID] {
    guard case .result(let type, let change) = source else { return [] }
    return keys(change).map { ObjectID(type: type, key: ObjectKey($0)) }
  }
}
