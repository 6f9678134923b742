import StorageInterface
import SyncModel

extension Outbox {
  /// The bytes of the pending changesets after one number and up to another. O(those).
  static func bytes(after start: UInt64, through last: UInt64, _ sides: any SideReading) throws(StorageError) -> Int {
    guard start < last else { return 0 }
    var sum = 0
    try sides.sides(from: key(start + 1), below: last == .max ? end : key(last + 1)) { _, value in
      sum += max(0, value.count - 1)
      return .proceed
    }
    return sum
  }
}
