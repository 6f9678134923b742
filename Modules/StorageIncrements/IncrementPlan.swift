import StorageInterface
import StoreValues

/// What commits did to each table, taken together. The writer of an increment and who applies it both work it out from the commit
/// records, which are in the file.
struct IncrementPlan {
  struct Table {
    /// Objects that exist only after the commits.
    var inserted = KeyRuns()
    /// Objects that existed only before.
    var deleted = KeyRuns()
    /// Objects that existed before and after, with the properties that have to be written. Ascending by key.
    var modified: [(key: Int64, properties: PropertySet)] = []
    /// The highest key that was given out by the commits; 0: none.
    var highest: Int64 = 0
  }

  /// Ascending by table.
  private(set) var tables: [(id: TableID, changes: Table)] = []

  /// About how many objects there are, for progress. Not a sum of integers, which damaged records could make overflow.
  var count: Double {
    tables.reduce(0) { $0 + Double($1.changes.inserted.count) + Double($1.changes.deleted.count) + Double($1.changes.modified.count) }
  }

  /// Throws `.corrupt` for records of which no store can have written one after the other: an object is inserted once, and never again.
  /// O(named objects).
  init(_ records: [CommitRecord]) throws(StorageError) {
    var inserted: [TableID: [ClosedRange<Int64>]] = [:]
    var deleted: [TableID: [ClosedRange<Int64>]] = [:]
    /// The highest key that was deleted so far: new ones are above it, unless the records are damaged.
    var lastDeleted: [TableID: Int64] = [:]
    var modified: [TableID: [Int64: PropertySet]] = [:]
    for record in records {
      for table in record.tables {
        let id = table.table
        if let first = table.inserted.runs.first, first.lowerBound <= lastDeleted[id] ?? 0,
          KeyRuns(runs: deleted[id] ?? []).intersects(table.inserted) {
          throw IncrementPlan.broken(record.version)
        }
        inserted[id, default: []] += table.inserted.runs
        if let last = table.deleted.runs.last {
          deleted[id, default: []] += table.deleted.runs
          lastDeleted[id] = max(lastDeleted[id] ?? 0, last.upperBound)
        }
        var objects = modified.removeValue(forKey: id) ?? [:]
        for object in table.modified { objects[object.key.rawValue, default: PropertySet()].formUnion(object.properties) }
        for list in table.lists { objects[list.owner.rawValue, default: PropertySet()].insert(list.property) }
        for members in table.collections { objects[members.owner.rawValue, default: PropertySet()].insert(members.property) }
        modified[id] = objects
      }
    }
    for id in Set(inserted.keys).union(deleted.keys).union(modified.keys).sorted() {
      let (all, gone) = (KeyRuns(runs: inserted[id] ?? []), KeyRuns(runs: deleted[id] ?? []))
      var table = Table()
      table.inserted = all.subtracting(gone)
      table.deleted = gone.subtracting(all)
      table.highest = all.runs.last?.upperBound ?? 0
      table.modified = (modified[id] ?? [:]).filter { !all.contains($0.key) && !gone.contains($0.key) }.sorted { $0.key < $1.key }
        .map { (key: $0.key, properties: $0.value) }
      tables.append((id: id, changes: table))
    }
  }

  /// The changes of a table; none if the commits did not change it.
  subscript(id: TableID) -> Table { tables.first { $0.id == id }?.changes ?? Table() }

  private static func broken(_ version: Version) -> StorageError {
    StorageError(.corrupt, .statement, "The history is damaged: version \(version.rawValue) inserts an object that was deleted before.")
  }
}

extension TableEntry {
  /// The scalars that cannot link: what a new object begins with.
  var plainColumns: [ColumnEntry] { columns.filter { $0.schema.isScalar && $0.schema.valueType?.mayLink == false } }
  /// The scalars that can.
  var linkingColumns: [ColumnEntry] { columns.filter { $0.schema.isScalar && $0.schema.valueType?.mayLink == true } }
  /// Lists, sets and maps.
  var collectionColumns: [ColumnEntry] { columns.filter { $0.schema.isCollection } }

  /// The columns of which a unique index is made.
  var uniqueProperties: PropertySet { PropertySet(indexes.filter(\.isUnique).flatMap(\.properties)) }
}

extension ColumnEntry {
  /// Whether values of the column are words.
  var isWord: Bool { schema.valueType?.isWord == true }
}
