import ChangeTracker
import StorageInterface
import StoreValues

extension RecordedTransaction {
  /// Replaces the members of a set. Members that remain are not touched.
  func replaceSet(_ column: ColumnID, _ key: ObjectKey, _ values: [Value]) throws(StorageError) {
    let kept = Set(values)
    for member in try transaction.values(column, key, 0..<Int.max) where !kept.contains(member) {
      try remove(member: member, from: column, key)
    }
    for value in values { try insert(member: value, into: column, key) }
  }

  /// Replaces the entries of a map. Entries that remain are not touched.
  func replaceMap(_ column: ColumnID, _ key: ObjectKey, _ entries: [ValueMap.Entry]) throws(StorageError) {
    let kept = Set(entries.map { MapKey($0.key) })
    for entry in try transaction.entries(column, key, 0..<Int.max) where !kept.contains(MapKey(entry.key)) {
      try remove(key: entry.key, from: column, key)
    }
    for entry in entries { try set(entry.value, forKey: entry.key, in: column, key) }
  }
}
