import StorageInterface
import StoreValues
import Synchronization

/// What this process knows of lists in the version of its last commit: with it, an edit or a read in the middle of a long list costs what
/// it touches, and not the length of the list in every transaction anew.
///
/// It counts only while nobody else has written the file, not even another program, which makes no version: a write uses it if its
/// connection finds no other commit (`Connection.checkSettled`), a read if the log is as the commit left it (`VersionWatch.isOwn`).
extension SQLiteEngine {
  /// The most positions kept between transactions, 8 MB, and the most lists.
  private static let positionsMax = 1 << 20
  private static let listsMax = 1_024
  /// Shorter lists are as quick to read again.
  private static let lengthMin = 128

  /// Moves it to a write that begins with the version, which can then edit it without a copy.
  func takeLists(_ version: Version) -> PositionCache {
    shared.withLock { shared in
      defer { shared.lists = (version, PositionCache()) }
      return shared.lists.version == version ? shared.lists.positions : PositionCache()
    }
  }

  /// Call after the commit that made the version.
  func keep(_ tails: ListTails, _ lists: PositionCache, _ version: Version) {
    let fits = lists.count <= SQLiteEngine.positionsMax && lists.listCount <= SQLiteEngine.listsMax
    shared.withLock { shared in
      shared.tails = (version, tails)
      shared.lists = (version, fits ? lists : PositionCache())
    }
  }

  /// The positions of a list in the version, for a read that shares what is known.
  func knownPositions(_ list: ColumnID, _ owner: ObjectKey, _ version: Version) -> [Int64]? {
    shared.withLock { $0.lists.version == version ? $0.lists.positions[list, owner] : nil }
  }

  func knownCount(_ list: ColumnID, _ owner: ObjectKey, _ version: Version) -> Int? {
    shared.withLock { shared in
      let counted = shared.lists.version == version ? shared.lists.positions.count(list, owner) : nil
      return counted ?? (shared.tails.version == version ? shared.tails.lists[list, owner]?.count : nil)
    }
  }

  /// Adds what a read found, for the others.
  func share(_ positions: [Int64], _ list: ColumnID, _ owner: ObjectKey, _ version: Version) {
    offer(version, length: positions.count) { $0.keep(positions, list, owner) }
  }

  func share(count: Int, _ list: ColumnID, _ owner: ObjectKey, _ version: Version) {
    offer(version, length: count) { $0.keep(count: count, list, owner) }
  }

  private func offer(_ version: Version, length: Int, _ add: (inout PositionCache) -> Void) {
    guard length >= SQLiteEngine.lengthMin else { return }
    shared.withLock { shared in
      guard shared.lists.version == version else { return }
      let (positions, lists) = (shared.lists.positions.count, shared.lists.positions.listCount)
      if positions + length > SQLiteEngine.positionsMax || lists >= SQLiteEngine.listsMax { shared.lists.positions.forgetAll() }
      add(&shared.lists.positions)
    }
  }

  /// How many positions of lists were read from the file since the engine was opened. For tests.
  package static func positionsRead(by engine: any StorageEngine) -> Int {
    (engine as? SQLiteEngine)?.positionsRead.load(ordering: .relaxed) ?? 0
  }
}
