import StorageInterface
import StoreValues

@testable import ColumnStore

/// A key-value store in front of another one. A wrapper names its base and writes anew only what it does otherwise.
protocol StoreInFront: KeyValueStore {
  var base: any KeyValueStore { get }
}

extension StoreInFront {
  var traits: KeyValueTraits { base.traits }
  var upkeep: (any KeyValueUpkeep)? { base.upkeep }
  func latestVersion() throws(StorageError) -> Version { try base.latestVersion() }
  func statistics() throws(StorageError) -> StorageStatistics { try base.statistics() }
  func close() { base.close() }
  func beginSnapshot() throws(StorageError) -> any KeyValueSnapshot { try base.beginSnapshot() }
  func acquireWriter(_ deadline: Deadline) throws(StorageError) -> any KeyValueWriter { try base.acquireWriter(deadline) }
  func addCommitListener(
    unless isTold: @escaping @Sendable () -> Bool, _ body: @escaping @Sendable () -> Void
  ) throws(StorageError) -> any CommitListener {
    try base.addCommitListener(unless: isTold, body)
  }
}

/// A writer in front of another one, to which a closure passes its batches on.
final class WriterInFront: KeyValueWriter {
  typealias Passing = @Sendable (consuming KeyValueBatch, Durability, any KeyValueWriter) throws(StorageError) -> Void

  private let base: any KeyValueWriter
  private let pass: Passing

  init(_ base: any KeyValueWriter, _ pass: @escaping Passing) {
    self.base = base
    self.pass = pass
  }

  func end() { base.end() }
  func apply(_ batch: consuming KeyValueBatch, _ durability: Durability) throws(StorageError) { try pass(batch, durability, base) }
}
