import SyncModel
import SyncProtocol
import Vivarium

// Pages of objects in place of entries: put aside as they come, and taken together.

extension SessionFile {
  /// Puts pages aside, on the disk, until the last has come: in a commit that changes no object.
  ///
  /// - Parameter staged: those that the file has already. If these are none, it loses all that it has put aside.
  package func stage(_ pages: [StatePage], behind staged: StagedPages) async throws {
    // Not while others wait to write.
    let bytes = pages.map { CheckedBytes($0.encoded) }
    let all = staged.followed(by: pages)
    do {
      try await write { changes, _ in
        try staged.add(bytes, making: all, changes.sides, changes.standing, cursor: changes.cursor)
        try changes.finish()
      }
    } catch where StagedPages.isDamage(error) {
      try await dropPages()
      throw error
    }
  }

  /// Removes what was put aside.
  package func dropPages() async throws {
    try await write { changes, _ in
      try StagedPages.remove(changes.sides)
      try changes.finish()
    }
  }

  /// Takes pages, in one commit, and with it removes what was put aside. Pages of an earlier entry than the file has are ignored: they
  /// would hide the entries since then for good.
  ///
  /// - Parameters:
  ///   - pages: up to the last.
  ///   - staged: how many before them the file has put aside.
  package func take(
    _ pages: [StatePage], _ bound: Bound, behind staged: Int = 0, clockOffset: Int64?, wall: Int64
  ) async throws -> LocalStanding {
    do {
      return try await take(pages, bound, staged, clockOffset, wall, discards: false)
    } catch where StagedPages.isDamage(error) {
      try await dropPages()
      throw error
    } catch where resetMode == .recoverOrDiscard && SessionFile.isLasting(error) {
      return try await take(pages, bound, staged, clockOffset, wall, discards: true)
    }
  }

  private func take(
    _ pages: [StatePage], _ bound: Bound, _ staged: Int, _ clockOffset: Int64?, _ wall: Int64, discards: Bool
  ) async throws -> LocalStanding {
    try await write { changes, sides in
      let walk = try changes.walk(behind: staged, pages, bound)
      if !changes.isAhead(of: walk, bound) {
        if discards, changes.standing.isAnew { try changes.discardWaiting() }
        changes.standing.history = bound.history
        if let clockOffset { changes.standing.clock.offset = clockOffset }
        try changes.take(walk, bound, isAll: bound.mode == .snapshot, wall: wall)
      }
      try StagedPages.remove(changes.sides)
      try changes.finish()
      var standing = try LocalStanding(progress: sides, changes.standing)
      standing.recovery = changes.report
      return standing
    }
  }
}
