extension ChangeSet {
  /// The change set between two states of a collection of distinct objects, by full comparison: for results that are not kept
  /// incrementally.
  ///
  /// `modified` are the keys of objects with changed values. With `isSorted` any object may have moved; without, rows are in
  /// the objects' own order and none has moved. O(n log n); for small collections up to O(n²).
  package static func between(
    _ old: [Int64], _ new: [Int64], modified: Set<Int64>, isSorted: Bool = true
  ) -> ChangeSet {
    let moved = isSorted ? MovedRows(old, new, modified).keys : []
    return positions(old, new, candidates: moved, modified: modified).changeSet(stays: false) { _ in true }
  }

  /// The change set between two states in which only `candidates` may have moved; all other objects in both states must have
  /// the same relative order. Moves as few candidates as possible.
  package static func between(
    _ old: [Int64], _ new: [Int64], candidates: Set<Int64>, modified: Set<Int64>
  ) -> ChangeSet {
    positions(old, new, candidates: candidates, modified: modified).changeSet { row in modified.contains(old[row]) }
  }

  /// Identifies rows by their old position.
  static func positions(
    _ old: [Int64], _ new: [Int64], candidates: Set<Int64>, modified: Set<Int64>
  ) -> PositionedChanges {
    let oldPlaces = places(old)
    let newPlaces = places(new)
    var result = PositionedChanges()
    var partners: [Int64: Int] = [:]
    for (position, key) in new.enumerated() {
      let before = oldPlaces[key]
      if before != nil, !candidates.contains(key) { continue }
      if before != nil { partners[key] = result.inserted.count }
      result.inserted.append(.init(position: position, row: before ?? -1))
    }
    for (position, key) in old.enumerated() {
      guard let after = newPlaces[key] else {
        result.removed.append(.init(position: position, row: position))
        continue
      }
      if let partner = partners[key] {
        result.removed.append(.init(position: position, row: position, partner: partner))
      } else if modified.contains(key) {
        result.kept.append(.init(old: position, new: after, row: position))
      }
    }
    return result
  }

  private static func places(_ keys: [Int64]) -> [Int64: Int] {
    var places: [Int64: Int] = [:]
    places.reserveCapacity(keys.count)
    for (i, key) in keys.enumerated() { places[key] = i }
    return places
  }
}

/// The rows that moved between two orders, if only the orders are known.
///
/// The longest block of rows that is contiguous in both orders stays, of equally long ones that with fewer modified rows; then
/// recursively to its left and right. Realm chooses the same way, so an animation looks the same. Large collections use the
/// longest increasing subsequence instead, which moves fewer rows and costs O(n log n).
private struct MovedRows {
  private static let blockCountMax = 2_000
  private let old: [Int64]
  private let newPlace: [Int]
  /// How many of the first i new rows are modified.
  private let modifiedBefore: [Int]
  private var stays: [Bool]

  var keys: Set<Int64> { Set(old.indices.lazy.filter { !stays[$0] }.map { old[$0] }) }

  init(_ allOld: [Int64], _ allNew: [Int64], _ modified: Set<Int64>) {
    let inNew = Set(allNew)
    let inOld = Set(allOld)
    old = allOld.filter { inNew.contains($0) }
    let new = allNew.filter { inOld.contains($0) }
    var places: [Int64: Int] = [:]
    for (i, key) in new.enumerated() { places[key] = i }
    newPlace = old.map { places[$0] ?? 0 }
    // Realm looks up whether a row is modified in the whole new collection, but by the row's index among the rows in both.
    // Replicated, because only ties depend on it.
    var sums = [0]
    for i in new.indices {
      let key = allNew[i]
      sums.append((sums.last ?? 0) + (modified.contains(key) && inOld.contains(key) ? 1 : 0))
    }
    modifiedBefore = sums
    stays = [Bool](repeating: false, count: old.count)
    if old.count <= MovedRows.blockCountMax {
      keepBlocks()
    } else {
      for i in IncreasingRun.longest(newPlace) { stays[i] = true }
    }
  }

  private struct Block {
    var old: Int
    var new: Int
    var size = 0
  }

  private mutating func keepBlocks() {
    var parts = [(old: 0..<old.count, new: 0..<old.count)]
    while let part = parts.popLast() {
      let block = longestBlock(part.old, part.new)
      if block.size == 0 { continue }
      for i in block.old..<block.old + block.size { stays[i] = true }
      parts.append((part.old.lowerBound..<block.old, part.new.lowerBound..<block.new))
      parts.append((block.old + block.size..<part.old.upperBound, block.new + block.size..<part.new.upperBound))
    }
  }

  private func longestBlock(_ oldRange: Range<Int>, _ newRange: Range<Int>) -> Block {
    var best = Block(old: oldRange.lowerBound, new: newRange.lowerBound)
    var current = best
    for i in oldRange {
      let place = newPlace[i]
      guard newRange.contains(place) else {
        current.size = 0
        continue
      }
      if current.size > 0, current.new + current.size == place {
        current.size += 1
      } else {
        current = Block(old: i, new: place, size: 1)
      }
      // An extended block is compared with its former self: the longer one wins.
      if current.size > best.size || (current.size == best.size && modified(current) < modified(best)) {
        best = current
      }
    }
    return best
  }

  private func modified(_ block: Block) -> Int {
    modifiedBefore[block.new + block.size] - modifiedBefore[block.new]
  }
}
