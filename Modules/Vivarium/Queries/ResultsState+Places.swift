import ChangeTracker
import StorageInterface
import StoreValues

/// The outcome of looking for a row among others; `row` is nil if it is not where its values belong.
struct RowPlace {
  let row: Int?
}

extension ResultsState {
  /// Looks for an object among keys that this query produced, by the object's current values. Nil if only searching all keys can
  /// tell: rows are not ordered by their own values, or the object is deleted.
  ///
  /// A row that is found is right whatever was written since. A row that is not found is proven absent only if nothing was written
  /// since. Reads the ordering values of O(log n) rows.
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
  /// The first position from which on `isReached` holds; `count` if there is none.
  fileprivate func firstPosition(_ isReached: (Int64) throws(StorageError) -> Bool) throws(StorageError) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if try isReached(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
