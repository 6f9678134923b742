import StorageInterface
import StoreValues

/// What a layer above adds to every write of a file, in the same transaction: the books that replication keeps, say, which must
/// never know more or less than the objects.
///
/// Called once a write that changed something, after all that follows from its changes (orphans, derived properties) is done and before
/// the engine commits. Nil for files that nobody keeps books on: then an edit
/// and a commit pay a test each.
package protocol CommitCompanion: Sendable {
  /// - Parameters:
  ///   - write: still open. Changes made in it are in the record of the commit; side entries are in none.
  ///   - record: what the write changed so far, net.
  ///   - notes: what the record does not say.
  /// - Throws: whatever keeps the write from being committed; it is then undone.
  func complete(_ write: RecordedTransaction, _ record: CommitRecord, _ notes: CommitNotes) throws(StorageError)

  /// Called at the beginning of a write of what other replicas did, which is not completed: what was written past every store, by other
  /// programs, goes into the books first.
  func catchUp(_ write: RecordedTransaction) throws(StorageError)
}

/// What a companion has to know of a write and a commit record does not say. A value: a savepoint is a copy.
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

  /// Integers that were only added to in this write, and how much.
  package private(set) var increments: [Place: Int64] = [:]
  /// Sets and maps that were emptied as a whole.
  package private(set) var cleared: Set<Place> = []
  /// Primary keys of the objects that were deleted: the record has their places alone.
  package private(set) var deleted: [ObjectPlace: Value] = [:]
  /// What was set, so that an increment of it says no more than the set does.
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
}

extension StorageError.Code {
  /// The file is replicated, and whoever wrote keeps no books of it: other replicas would never hear of the write.
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
  /// What completes every write of the store; nil where nobody keeps books on the file.
  package var commitCompanion: (any CommitCompanion)? { companion.flatMap { $0 as? any CommitCompanion } }
}
