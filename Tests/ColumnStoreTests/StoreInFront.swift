import StorageInterface
import StoreValues

@testable import ColumnStore

/// A key-value store in front of another one. A wrapper names its base and writes anew only what it does otherwise.
protocol StoreInFront: KeyValueStore {
  var base: any KeyValueStore { get }
}

extension StoreInFront {
  var kind: String { base.kind }
  var pageSize: Int { base.pageSize }
  var pageOverhead: Int { base.pageOverhead }
  func latestVersion() throws(StorageError) -> Version { try base.latestVersion() }
  func statistics() throws(StorageError) -> StorageStatistics { try base.statistics() }
  func close() { base.close() }
  func beginSnapshot() throws(StorageError) -> any KeyValueSnapshot { try base.beginSnapshot() }
  func acquireWriter(_ deadline: Deadline) throws(StorageError) -> any KeyValueWriter { try base.acquireWriter(deadline) }
  func addCommitListener(_ body: @escaping @Sendable () -> Void) throws(StorageError) -> any CommitListener {
    try base.addCommitListener(body)
  }
}
