/// Assigns the positions of a list's elements: 64-bit integers with gaps, so that most inserts touch no other element. A
/// used-up gap is widened by moving as few of the surrounding elements as possible.
package enum ListSpacing {
  /// The gap between appended elements.
  package static let gap: Int64 = 1 << 32
  /// The gap between elements after a part was respaced.
  private static let roomy: UInt64 = 1 << 16

  /// The effect of an insert on a list's positions.
  package struct Plan: Equatable {
    /// Positions of the new elements.
    package var inserted: [Int64]
    /// The elements to move, by their index in the list before the insert.
    package var moved: Range<Int> = 0..<0
    /// Their new positions, in the same order.
    package var movedTo: [Int64] = []

    package init(inserted: [Int64], moved: Range<Int> = 0..<0, movedTo: [Int64] = []) {
      self.inserted = inserted
      self.moved = moved
      self.movedTo = movedTo
    }
  }

  /// `count` ascending positions above `lower` and below `upper`; nil if there is no room. A missing bound means that the list
  /// ends there.
  package static func slots(above lower: Int64?, below upper: Int64?, count: Int) -> [Int64]? {
    guard count > 0 else { return [] }
    // Cannot overflow Int64: 2^28 elements at 2^32 are 2^60.
    guard count < 1 << 28 else { return nil }
    let length = Int64(count)
    switch (lower, upper) {
    case (nil, nil): return (0..<length).map { $0 * gap }
    case (let lower?, nil):
      guard lower < Int64.max / 2 else { return nil }
      return (1...length).map { lower + $0 * gap }
    case (nil, let upper?):
      guard upper > Int64.min / 2 else { return nil }
      return (0..<length).map { upper - (length - $0) * gap }
    case (let lower?, let upper?):
      guard lower < upper else { return nil }
      let step = UInt64(bitPattern: upper &- lower) / (UInt64(count) + 1)
      guard step > 0 else { return nil }
      return (1...length).map { lower &+ Int64(bitPattern: UInt64($0) &* step) }
    }
  }

  /// Room for `count` elements before the element at `index`; nil: the list is too long for 64-bit positions.
  package static func plan(_ positions: [Int64], insert count: Int, at index: Int) -> Plan? {
    let lower = index > 0 ? positions[index - 1] : nil
    let upper = index < positions.count ? positions[index] : nil
    if let slots = slots(above: lower, below: upper, count: count) { return Plan(inserted: slots) }
    var reach = max(16, count)
    while true {
      let from = max(0, index - reach)
      let to = min(positions.count, index + reach)
      let lower = from > 0 ? positions[from - 1] : nil
      let upper = to < positions.count ? positions[to] : nil
      let isAll = from == 0 && to == positions.count
      if isAll || hasRoom(above: lower, below: upper, count: to - from + count) {
        guard let all = slots(above: isAll ? nil : lower, below: isAll ? nil : upper, count: to - from + count) else {
          return nil
        }
        let before = index - from
        return Plan(
          inserted: Array(all[before..<before + count]), moved: from..<to,
          movedTo: Array(all[..<before] + all[(before + count)...]))
      }
      reach *= 2
    }
  }

  private static func hasRoom(above lower: Int64?, below upper: Int64?, count: Int) -> Bool {
    guard let lower else { return upper.map { $0 > Int64.min / 2 } ?? true }
    guard let upper else { return lower < Int64.max / 2 }
    return UInt64(bitPattern: upper &- lower) / (UInt64(count) + 1) >= roomy
  }
}
