import ChangeTracker
import StorageInterface
import StoreValues
import SyncModel

/// Captures every write of a file for replication: as operations, as a changeset in the outbox, and in the merge state, all within the
/// write's transaction. So the file has a write together with its changeset or neither, whenever the process dies.
///
/// Nothing is recorded when an edit is made. At the commit, the objects that its record names are compared with the merge state, which
/// has their previous values, and each difference becomes an operation. Values set to what they were, edits of a rolled-back savepoint,
/// and links that went with their target produce none. O(the objects that changed and their lists).
struct Capture: CommitCompanion {
  let configuration: SyncConfiguration
  /// Types that stay on the device.
  let localTypes: Set<String>

  init(_ configuration: SyncConfiguration) {
    self.configuration = configuration
    localTypes = Set(configuration.localTypes.map { $0._$schema.name }).union(["MessageReceipt"])
  }

  private var wallClock: @Sendable () -> Int64 { configuration.wallClock }

  func complete(_ write: RecordedTransaction, _ record: CommitRecord, _ notes: CommitNotes) throws(StorageError) {
    guard let sides = write.transaction.writePowers.sides else { throw .withoutSideEntries }
    let known = try ReplicaStanding.read(sides)
    let standing = known ?? configuration.replica.map { ReplicaStanding(replica: $0) } ?? .drawn()
    var author = ChangeAuthor(write, sides, try FileState(sides), standing, wall: wallClock(), notes, localTypes)
    let uncaptured = try known?.captured.flatMap { version throws(StorageError) in try UncapturedWrites(after: version, sides) }
    if known == nil, configuration.existing == .merge {
      try author.adopt(record)
    } else {
      if known == nil { try refuseExisting(sides, record) }
      try author.capture(record, uncaptured)
    }
    try author.finish()
  }

  func catchUp(_ write: RecordedTransaction) throws(StorageError) {
    guard let sides = write.transaction.writePowers.sides else { return }
    guard let standing = try ReplicaStanding.read(sides) else { return try adoptIfNew(write, sides) }
    guard let version = standing.captured, let uncaptured = try UncapturedWrites(after: version, sides) else { return }
    var author = ChangeAuthor(write, sides, try FileState(sides), standing, wall: wallClock(), CommitNotes(), localTypes)
    try author.capture(CommitRecord(origin: 0), uncaptured)
    try author.finish()
  }

  /// For a file that integrates remote changes before any replicated write: its own objects are captured first, or the write is refused.
  private func adoptIfNew(_ write: RecordedTransaction, _ sides: any SideWriting) throws(StorageError) {
    if configuration.existing == .refuse { return try refuseExisting(sides, CommitRecord(origin: 0)) }
    let standing = configuration.replica.map { ReplicaStanding(replica: $0) } ?? .drawn()
    var author = ChangeAuthor(write, sides, try FileState(sides), standing, wall: wallClock(), CommitNotes(), localTypes)
    try author.adopt(CommitRecord(origin: 0))
    if author.hasChanges { try author.finish() }
  }

  /// Throws if the file has objects that were never captured.
  private func refuseExisting(_ sides: any SideWriting, _ record: CommitRecord) throws(StorageError) {
    for table in sides.catalog.tables where !table.isEmbedded && !localTypes.contains(table.name) {
      let new = record.tables.first { $0.table == table.id }?.inserted.count ?? 0
      guard try sides.count(table.id) > new else { continue }
      throw StorageError(
        .syncRequired, .transaction, "The file has objects of '\(table.name)' from before it was replicated.",
        remedy: "Say what becomes of them: 'SyncConfiguration(existing: .merge)', or begin with a new file.")
    }
  }
}
