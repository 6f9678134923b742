import StorageInterface
import StoreValues

/// A hook that extends every write of a file in the same transaction: replication's records, for example, which must always
/// match the objects exactly.
///
/// Called once per write that changed something, after its consequences (orphans, derived properties) are applied and before
/// the engine commits. Nil for files without a companion: then an edit and a commit cost one test each.
package protocol CommitCompanion: Sendable {
  /// - Parameters:
  /// - write: still open. Changes made in it are part of the commit's record, except side entries.
  /// - record: the write's net changes so far.
  /// - notes: information that the record lacks.
  /// - Throws: an error that prevents the commit; the write is then rolled back.
  func complete(_ write: RecordedTransaction, _ record: CommitRecord, _ notes: CommitNotes) throws(StorageError)

  /// Called at the beginning of a write that applies other replicas' changes, for which `complete` is not called: changes that
  /// other programs wrote directly to the file must be recorded first.
  func catchUp(_ write: RecordedTransaction) throws(StorageError)
}

/// Information for a companion that a commit record lacks. Savepoints: as for `PendingChanges`.
package struct CommitNotes: Sendable {
  /// A property of an object.
  package struct Place: Hashable, Sendable {
    package let column: ColumnID
    package let key: Int64

    package init(_ column: ColumnID, _ key: ObjectKey) {
      self.column = column
      self.key = key.rawValue
    }
  }

  /// Integers that were only incremented in this write, with the sum of the increments.
  package private(set) var increments: [Place: Int64] = [:]
  /// Sets and maps that were cleared.
  package private(set) var cleared: Set<Place> = []
  /// Primary keys of the deleted objects: the record has only their object keys.
  package private(set) var deleted: [ObjectPlace: Value] = [:]
  /// Properties that were set, so that their increments are not recorded separately.
  private var written: Set<Place> = []

  package init() {}

  mutating func set(_ column: ColumnID, _ key: ObjectKey) {
    let place = Place(column, key)
    written.insert(place)
    increments[place] = nil
  }

  mutating func add(_ delta: Int64, to column: ColumnID, _ key: ObjectKey) {
    let place = Place(column, key)
    if !written.contains(place) { increments[place, default: 0] &+= delta }
  }

  mutating func clear(_ column: ColumnID, _ key: ObjectKey) { cleared.insert(Place(column, key)) }

  mutating func delete(_ place: ObjectPlace, primaryKey: Value) { deleted[place] = primaryKey }

  /// Adds what happened later.
  mutating func add(_ later: CommitNotes) {
    for place in later.written {
      written.insert(place)
      increments[place] = nil
    }
    for (place, sum) in later.increments where !written.contains(place) { increments[place, default: 0] &+= sum }
    cleared.formUnion(later.cleared)
    deleted.merge(later.deleted) { $1 }
  }
}

extension StorageError.Code {
  /// The file is replicated, but this store does not record its writes for replication: other replicas would miss the write.
  public static let syncRequired = Self(rawValue: "syncRequired")
}

extension StorageError {
  static var unaccompanied: StorageError {
    StorageError(
      .syncRequired, .transaction, "The file is replicated, and this store was opened without replication.",
      remedy: "Set 'configuration.sync' wherever the file is opened for writing.")
  }
}

extension StoreConfiguration {
  /// The companion that completes every write of the store; nil if the file has none.
  package var commitCompanion: (any CommitCompanion)? { companion.flatMap { $0 as? any CommitCompanion } }
}
