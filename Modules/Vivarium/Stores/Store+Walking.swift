import StorageInterface
import StoreValues

extension Store {
  /// The first objects of a type with keys above one, in insertion order, for iterating over all of them in portions. Sees the open
  /// write. O(log n + limit).
  package func objects<T: Model>(_ type: T.Type, above key: Int64, limit: Int) -> [T] {
    let context = context(type)
    guard key < Int64.max, limit > 0 else { return [] }
    var keys: [Int64] = []
    do throws(StorageError) {
      try reading.scan(context.table, [], from: ObjectKey(key + 1), hints: []) { batch in
        for row in 0..<batch.count where batch.isLive(at: row) && keys.count < limit { keys.append(batch.key(at: row).rawValue) }
        return keys.count < limit ? .proceed : .stop
      }
    } catch {
      misuse(StoreError(error))
    }
    return keys.map { live($0) }
  }
}
