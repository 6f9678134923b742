import ChangeTracker
import StorageInterface
import StoreValues

/// Where a row was looked for among others; nil: it is not there by its values.
struct RowPlace {
  let row: Int?
}

extension ResultsState {
  /// Looks for an object among keys that this question gave, by its values as they are now. Nil where only going through
  /// the keys tells: rows do not stand by their own values, or the object has none any more.
  ///
  /// What is found is right whatever was written since. That nothing is found counts only where nothing
  /// was written since. Reads what orders the rows of O(log n) of them.
  func place(of key: Int64, in keys: KeySnapshot) -> RowPlace? {
    guard error == nil, let order else { return nil }
    do throws(StorageError) {
      let wanted = try place(key, order)
      let found = try keys.firstPosition { (other: Int64) throws(StorageError) -> Bool in
        if other == key { return true }
        return try wanted <= place(other, order)
      }
      return RowPlace(row: found < keys.count && keys[found] == key ? found : nil)
    } catch {
      return nil
    }
  }

  private func place(_ key: Int64, _ order: any ViewQuestion) throws(StorageError) -> OrderedRow {
    store.reader.placesRead += 1
    guard let place = try order.places(of: [key], in: store.reading).first else {
      throw StorageError(.objectDeleted, .statement, "There is no object \(key).")
    }
    return place
  }
}

extension KeySnapshot {
  /// The first position from which on `isReached` holds; `count` where it nowhere does.
  fileprivate func firstPosition(_ isReached: (Int64) throws(StorageError) -> Bool) throws(StorageError) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if try isReached(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
