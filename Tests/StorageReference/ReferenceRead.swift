import StorageInterface
import StoreValues
import Synchronization

/// A snapshot: a copy of the state.
final class ReferenceRead: ReadTransaction, ReferenceReading {
  let engine: ReferenceEngine
  let version: Version
  let catalog: Catalog
  /// nil once ended.
  private let state: Mutex<ReferenceState?>

  init(_ engine: ReferenceEngine, _ state: ReferenceState) {
    self.engine = engine
    version = state.version
    catalog = state.catalog
    self.state = Mutex(state)
  }

  deinit { end() }

  var powers: StoragePowers { StoragePowers(sides: self) }

  func readable() throws(StorageError) -> ReferenceState {
    guard let state = state.withLock({ $0 }) else {
      throw StorageError(.closed, .transaction, "The read transaction has ended.")
    }
    return state
  }

  func end() {
    state.withLock { $0 = nil }
    engine.unpin(self)
  }
}
