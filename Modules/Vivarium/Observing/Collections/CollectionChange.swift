import ChangeTracker
import Notifications
import StorageInterface
import StoreValues

/// A change reported to the observer of a collection.
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
  /// The collection in its first state: reported once, before everything else, never inside the call that observes.
  case initial(C)
  /// The changes since the last call. Deletions and modifications are positions in the collection of that call, insertions in this
  /// one; each ascending, and no position is both a deletion and a modification. Applying the deletions, then the insertions, then
  /// reloading the modified rows turns the old collection into the new one.
  case update(C, deletions: [Int], insertions: [Int], modifications: ChangedRows)
  /// The collection cannot be kept any longer. The last call.
  case error(StoreError)

  /// More about an update: moves, who wrote, which objects; nil for the other cases.
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

  /// The same change of another collection with the same rows at the same positions.
  public func map<Other>(_ transform: (C) throws -> Other) rethrows -> CollectionChange<Other> {
    switch self {
    case .initial(let collection): .initial(try transform(collection))
    case .error(let error): .error(error)
    case .update(let collection, let deletions, let insertions, let modifications):
      .update(try transform(collection), deletions: deletions, insertions: insertions, modifications: modifications)
    }
  }
}

/// The rows that kept their relative order and have changed values: a collection of their positions in the collection of the last
/// call; `new` has the positions of the same rows in this one.
public struct ChangedRows: RandomAccessCollection, Sendable, Hashable, ExpressibleByArrayLiteral {
  /// Positions in the collection of the last call, ascending.
  public let old: [Int]
  /// Positions of the same rows in this collection, in the order of `old`.
  public let new: [Int]
  let details: ChangeDetails?

  init(_ changes: ChangeSet, _ details: ChangeDetails) {
    old = changes.modifications
    new = changes.modificationsInNew
    self.details = details
  }

  /// Creates positions for tests of code that takes change sets.
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

/// The parts of a change set beyond its positions. Sendable; computed on demand, from states of the collection that hold no version
/// of the store.
public struct ChangeDetails: Sendable {
  /// A row that is still in the collection but changed its place relative to the others.
  public struct Move: Sendable, Hashable {
    /// Position in the collection of the last call; also one of the deletions.
    public let from: Int
    /// Position in this collection; also one of the insertions.
    public let to: Int
  }

  private enum Source: Sendable {
    case result(type: String, ResultChange)
    case elements(ChangeSet, ChangedMembers, from: Version, to: Version)
  }

  private let source: Source
  /// The authors of the commits that touched the observed data, each once, in the order in which they wrote, as far as the commits
  /// are known; see `Store.write(author:)`.
  public let authors: [String]
  /// Where these commits were made.
  public let origins: ChangeOrigins
  /// The version of the last call, for observers that asked for old values.
  private let before: SharedVersion?

  /// Details of a change of results. `own` is the origin of the notified store.
  init(_ type: String, _ change: ResultChange, own: UInt64, before: SharedVersion? = nil) {
    source = .result(type: type, change)
    authors = change.sources.authors
    origins = ChangeOrigins(change.sources, own: own)
    self.before = before
  }

  /// Details of a change of an object, or of one of its collections.
  init(_ offer: WatchOffer, _ changes: ChangeSet = ChangeSet(), _ members: ChangedMembers = ChangedMembers(), own: UInt64) {
    source = .elements(changes, members, from: offer.from, to: offer.to)
    authors = offer.sources.authors
    origins = ChangeOrigins(offer.sources, own: own)
    before = nil
  }

  /// Details of a change of an aggregate.
  init(_ change: TotalChange, own: UInt64) {
    source = .elements(ChangeSet(), ChangedMembers(), from: change.from, to: change.to)
    authors = change.sources.authors
    origins = ChangeOrigins(change.sources, own: own)
    before = nil
  }

  /// Details of two successive changes of an object, combined.
  init(_ later: ChangeDetails, since earlier: ChangeDetails) {
    source = .elements(ChangeSet(), ChangedMembers(), from: earlier.fromVersion, to: later.toVersion)
    authors = earlier.authors + later.authors.filter { !earlier.authors.contains($0) }
    origins = earlier.origins.union(later.origins)
    before = nil
  }

  /// The details without positions, identities and members, extended back to an earlier call.
  init(_ details: ChangeDetails, from version: Version) {
    source = .elements(ChangeSet(), ChangedMembers(), from: version, to: details.toVersion)
    authors = details.authors
    origins = details.origins
    before = nil
  }

  /// The rows that are still in the collection but changed their place relative to the others, as few as possible. Each is also a
  /// deletion and an insertion. Ascending by `from`.
  public var moves: [Move] {
    let changes: ChangeSet =
      switch source {
      case .result(_, let change): change.changes
      case .elements(let changes, _, _, _): changes
      }
    return changes.moves.map { Move(from: $0.from, to: $0.to) }
  }
  /// The objects of the deletions, in their order, including moved ones. Empty for a list, whose elements have no identity.
  public var deletedIDs: [ObjectID] { ids { $0.deletedKeys } }
  /// The objects of the insertions, in their order, including moved ones.
  public var insertedIDs: [ObjectID] { ids { $0.keys(at: $0.changes.insertions) } }
  /// The objects of the modifications, in their order.
  public var modifiedIDs: [ObjectID] { ids { $0.keys(at: $0.changes.modificationsInNew) } }
  /// The objects of the deletions as they were before, in their order, including moved ones. Empty unless the observer has
  /// `includingOldValues`. After an observer rested, only those that still existed when the other observers were last notified.
  /// Keeping one of these objects keeps its version in the file.
  public func deletedObjects<T: Model>(_ type: T.Type = T.self) -> [Frozen<T>] { frozen(deletedIDs) }
  /// The objects of the modifications as they were before, in their order. The rules of `deletedObjects` apply.
  public func modifiedObjects<T: Model>(_ type: T.Type = T.self) -> [Frozen<T>] { frozen(modifiedIDs) }

  private func frozen<T: Model>(_ ids: [ObjectID]) -> [Frozen<T>] {
    guard let before, let table = before.catalog[T._$name]?.id else { return [] }
    return ids.filter { $0.type == T._$name && (try? before.contains(table, $0.key)) == true }.map { Frozen($0.key, before) }
  }

  /// For a set, the members of the deletions, in their order; empty for other collections, and if the object with the set was
  /// deleted.
  public var deletedMembers: [Value] { members.deleted }
  /// For a set, the members of the insertions, in their order.
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
  /// The number of commits of the store between the two versions, whatever they touched.
  public var commits: Int { Int(clamping: toVersion.rawValue - fromVersion.rawValue) }

  private var members: ChangedMembers {
    if case .elements(_, let members, _, _) = source { members } else { ChangedMembers() }
  }

  private func ids(_ keys: (ResultChange) -> [Int64]) -> [ObjectID] {
    guard case .result(let type, let change) = source else { return [] }
    return keys(change).map { ObjectID(type: type, key: ObjectKey($0)) }
  }
}
