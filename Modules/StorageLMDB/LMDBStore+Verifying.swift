import ColumnStore
import StorageInterface
import StoreValues

extension LMDBStore {
  /// Verifies every page and value of the snapshot's version, in the trees of entries and of free pages.
  package func verifyPages(_ snapshot: any KeyValueSnapshot, _ report: (StoreFault) -> Void) throws(StorageError) {
    guard let snapshot = snapshot as? LMDBSnapshot else { return }
    try snapshot.running().verify(report)
  }
}
