import StorageInterface
import StoreValues

/// The changes of a commit to the directory of side entries: the blocks that keys came to or went from, written anew.
struct SideDirectoryEdits {
  /// A key that the directory gets or loses.
  struct Change {
    var key: [UInt8]
    var isAdded: Bool
  }

  /// The fences after the changes; nil: as before.
  private(set) var moved: SideFences?
  /// Blocks to write: fence and keys.
  private(set) var written: [(fence: [UInt8], keys: ArraySlice<[UInt8]>)] = []
  /// Fences of blocks to remove.
  private(set) var removed: [[UInt8]] = []
  private let before: SideFences
  /// The blocks that are several now, or none, with their fences.
  private var moves: [(block: Int, fences: [[UInt8]])] = []

  /// Costs what the changed blocks do; O(blocks) if some are added or removed.
  ///
  /// - Parameters:
  ///   - changes: ascending; what is added is not there, and what is removed is.
  ///   - keys: the keys in the block with a fence.
  init(
    _ changes: [Change], _ before: SideFences, version: Version, keys: ([UInt8]) throws(StorageError) -> [[UInt8]]
  ) throws(StorageError) {
    self.before = before
    var next = 0
    while next < changes.count {
      let block = before.block(of: changes[next].key)
      let limit = block + 1 < before.count ? before.fences[block + 1] : nil
      var end = next + 1
      while end < changes.count, limit.map({ changes[end].key.lexicographicallyPrecedes($0) }) ?? true { end += 1 }
      let stored = before.count > 0 ? try keys(before.fences[block]) : []
      rewrite(block, stored, changes[next..<end])
      next = end
    }
    if !moves.isEmpty { moved = SideFences(version: version.rawValue, fences: fencesAfterMoves()) }
  }

  private mutating func rewrite(_ block: Int, _ stored: [[UInt8]], _ changes: ArraySlice<Change>) {
    let isNew = before.count == 0
    let fence = isNew ? [] : before.fences[block]
    let keys = SideDirectoryEdits.merged(stored, changes)
    // The first block stays, because others begin where it ends.
    if keys.isEmpty, block > 0 {
      removed.append(fence)
      moves.append((block, []))
      return
    }
    let isAppended = isNew || (block == before.count - 1 && keys.last != stored.last)
    var fences: [[UInt8]] = []
    for piece in SideDirectory.pieces(keys, isAppended: isAppended) {
      let own = fences.isEmpty ? fence : piece.first ?? []
      fences.append(own)
      written.append((own, piece))
    }
    if isNew || fences.count > 1 { moves.append((block, fences)) }
  }

  private func fencesAfterMoves() -> [[UInt8]] {
    var all: [[UInt8]] = []
    all.reserveCapacity(before.count + moves.count)
    var next = 0
    for move in moves {
      if next < move.block { all += before.fences[next..<move.block] }
      all += move.fences
      next = move.block + 1
    }
    if next < before.count { all += before.fences[next...] }
    return all
  }

  private static func merged(_ stored: [[UInt8]], _ changes: ArraySlice<Change>) -> [[UInt8]] {
    var result: [[UInt8]] = []
    result.reserveCapacity(stored.count + changes.count)
    var next = changes.startIndex
    for key in stored {
      while next < changes.endIndex, changes[next].key.lexicographicallyPrecedes(key) {
        if changes[next].isAdded { result.append(changes[next].key) }
        next += 1
      }
      if next < changes.endIndex, changes[next].key == key {
        if changes[next].isAdded { result.append(key) }
        next += 1
      } else {
        result.append(key)
      }
    }
    for change in changes[next...] where change.isAdded { result.append(change.key) }
    return result
  }
}
