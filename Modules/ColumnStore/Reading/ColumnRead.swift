import StorageInterface
import StoreValues

/// A snapshot.
///
/// `@unchecked` is sound because only its caller touches one: the caches of `ColumnReading` are plain memory, but
/// `StorageReading` allows one thread at a time, passing the transaction on synchronises the two threads, and the engine keeps
/// no reference. This holds for every protocol that it conforms to, `LinkedTargetReading` too: all of them refine `StorageReading`.
final class ColumnRead:
  ColumnReading, ReadTransaction, WindowedReading, GatheringReading, TextIndexReading, SideReading, LinkedTargetReading,
  @unchecked Sendable
{
  init(_ engine: ColumnEngine, _ snapshot: any KeyValueSnapshot) throws(StorageError) {
    do throws(StorageError) {
      try super.init(engine, snapshot, isFixed: true)
    } catch {
      snapshot.end()
      throw error
    }
  }

  deinit { end() }

  var powers: StoragePowers { StoragePowers(windows: self, gathering: self, texts: self, sides: self, targets: self) }

  func end() {
    guard !isEnded else { return }
    isEnded = true
    letGoIfIdle()
  }

  override func letGo() {
    forgetTables()
    snapshot.end()
  }
}
