import ChangeTracker
import StorageInterface
import StoreValues

extension RecordedTransaction {
  /// Several edits, all or none.
  func wholly<R>(_ edits: () throws(StorageError) -> R) throws(StorageError) -> R {
    try beginSavepoint()
    let result: R
    do throws(StorageError) { result = try edits() } catch {
      try rollbackToSavepoint()
      throw error
    }
    try releaseSavepoint()
    return result
  }

  /// Replaces the members of a set. Members that remain are not touched. Returns whether there were others.
  @discardableResult
  func replaceSet(_ column: ColumnID, _ key: ObjectKey, _ values: [Value]) throws(StorageError) -> Bool {
    var changed = false
    let kept = Set(values)
    for member in try transaction.values(column, key, 0..<Int.max) where !kept.contains(member) {
      if try remove(member: member, from: column, key) { changed = true }
    }
    for value in values { if try insert(member: value, into: column, key) { changed = true } }
    return changed
  }

  /// Replaces the entries of a map. Entries that remain are not touched. Returns whether there were others.
  ///
  /// - Parameter asDictionary: the new entries are those of a dictionary, which shows one of the keys that Swift takes for one: the
  ///   others stay as long as that one does.
  @discardableResult
  func replaceMap(
    _ column: ColumnID, _ key: ObjectKey, _ entries: [ValueMap.Entry], asDictionary: Bool = false
  ) throws(StorageError) -> Bool {
    var changed = false
    let kept = Set(entries.map { MapKey($0.key) })
    let stored = try transaction.entries(column, key, 0..<Int.max)
    let shown = asDictionary ? Dictionary(ofMap: stored.map { ($0.key, $0.key) }) : [:]
    for entry in stored where !kept.contains(MapKey(entry.key)) {
      if let shown = shown[entry.key], kept.contains(MapKey(shown)) { continue }
      if try remove(key: entry.key, from: column, key) { changed = true }
    }
    for entry in entries { if try set(entry.value, forKey: entry.key, in: column, key) { changed = true } }
    return changed
  }
}
