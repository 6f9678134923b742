import StoreValues

/// The element positions of lists, so that the n-th element is found by its position instead of counting. A transaction has one, and the
/// engine keeps one from a write to the next (`SQLiteEngine.takeLists`).
struct PositionCache {
  private struct Owner: Hashable {
    let column: ColumnID
    let key: Int64
  }

  /// The most positions kept, 32 MB, before all are dropped.
  private static let positionsMax = 4 << 20
  private static let listsMax = 1 << 16

  private var lists: [Owner: [Int64]] = [:]
  /// The counts of lists that were only counted.
  private var counts: [Owner: Int] = [:]
  private var total = 0

  subscript(column: ColumnID, owner: ObjectKey) -> [Int64]? { lists[Owner(column: column, key: owner.rawValue)] }

  mutating func keep(_ positions: [Int64], _ column: ColumnID, _ owner: ObjectKey) {
    if total + positions.count > PositionCache.positionsMax || lists.count >= PositionCache.listsMax { forgetAll() }
    let before = lists.updateValue(positions, forKey: Owner(column: column, key: owner.rawValue))
    total += positions.count - (before?.count ?? 0)
  }

  /// The number of elements of a list, if known.
  func count(_ column: ColumnID, _ owner: ObjectKey) -> Int? {
    let owner = Owner(column: column, key: owner.rawValue)
    return lists[owner]?.count ?? counts[owner]
  }

  mutating func keep(count: Int, _ column: ColumnID, _ owner: ObjectKey) {
    if counts.count >= PositionCache.listsMax { counts = [:] }
    counts[Owner(column: column, key: owner.rawValue)] = count
  }

  /// Call before a list is changed: drops its count.
  mutating func forgetCount(_ column: ColumnID, _ owner: ObjectKey) {
    if !counts.isEmpty { counts[Owner(column: column, key: owner.rawValue)] = nil }
  }

  /// Removes a list's positions, to be edited and kept again without a copy.
  mutating func take(_ column: ColumnID, _ owner: ObjectKey) -> [Int64]? {
    forgetCount(column, owner)
    let positions = lists.removeValue(forKey: Owner(column: column, key: owner.rawValue))
    total -= positions?.count ?? 0
    return positions
  }

  /// The number of positions of all lists.
  var count: Int { total }
  /// The number of lists with positions, or only counted.
  var listCount: Int { lists.count + counts.count }

  mutating func forgetAll() {
    lists = [:]
    counts = [:]
    total = 0
  }
}
