import StorageCoordination
import StorageInterface
import StoreValues

/// A key-value store that encrypts what it keeps in another one, entry by entry.
///
/// What stays readable are the numbers in keys (of tables, properties, chunks, objects, indexes and versions), and how long values are.
/// Docs/Decisions/0061-encrypted-entries.md says which keys are hidden and how.
package final class SealedStore: KeyValueStore {
  package let traits: KeyValueTraits
  let base: any KeyValueStore
  let entries: SealedEntries

  /// The entries of `base` that a cipher has encrypted; `base` is empty, or was written through such a store alone.
  package init(_ base: any KeyValueStore, _ cipher: EntryCipher) {
    self.base = base
    entries = SealedEntries(cipher)
    var traits = base.traits
    traits.pageOverhead += cipher.overhead
    self.traits = traits
  }

  package var upkeep: (any KeyValueUpkeep)? { base.upkeep.map { SealedUpkeep($0) } }

  package func latestVersion() throws(StorageError) -> Version { try base.latestVersion() }

  package func beginSnapshot() throws(StorageError) -> any KeyValueSnapshot {
    SealedSnapshot(try base.beginSnapshot(), entries)
  }

  package func acquireWriter(_ deadline: Deadline) throws(StorageError) -> any KeyValueWriter {
    SealedWriter(try base.acquireWriter(deadline), self)
  }

  package func addCommitListener(
    unless isTold: @escaping @Sendable () -> Bool, _ body: @escaping @Sendable () -> Void
  ) throws(StorageError) -> any CommitListener {
    try base.addCommitListener(unless: isTold, body)
  }

  package func statistics() throws(StorageError) -> StorageStatistics { try base.statistics() }

  package func close() {
    entries.forget()
    base.close()
  }
}

/// What can be done with the files below a `SealedStore`.
struct SealedUpkeep: KeyValueUpkeep {
  private let base: any KeyValueUpkeep

  init(_ base: any KeyValueUpkeep) { self.base = base }

  func verifyPages(_ snapshot: any KeyValueSnapshot, _ report: (StoreFault) -> Void) throws(StorageError) {
    guard let snapshot = snapshot as? SealedSnapshot else { return }
    try base.verifyPages(snapshot.base, report)
    try snapshot.verify(report)
  }

  func announce(_ version: Version, label: String) -> (any VersionAnnouncement)? { base.announce(version, label: label) }
  func reclaimSpace(_ deadline: Deadline) throws(StorageError) -> Int { try base.reclaimSpace(deadline) }
  func syncBatches() throws(StorageError) { try base.syncBatches() }

  /// With the same key the entries are copied as they are.
  func writeCopy(
    of snapshot: any KeyValueSnapshot, to path: String, _ encryption: CopyEncryption, isPrivate: Bool,
    _ progress: (CopyProgress) -> Step
  ) throws(StorageError) {
    guard let sealed = snapshot as? SealedSnapshot else {
      throw StorageError(.misuse, .statement, "The snapshot is of another store.")
    }
    let isUnchanged = if case .unchanged = encryption { true } else { false }
    try base.writeCopy(of: isUnchanged ? sealed.base : sealed, to: path, encryption, isPrivate: isPrivate, progress)
  }
}
