import ChangeTracker
import StorageInterface
import StoreValues
import SyncModel

/// Makes of every write of a file what other replicas have to hear of it: operations, a changeset in the outbox, and the merge state that
/// has them merged, all in the write itself. So a write and what is told of it are in the file together or not at all, whenever the
/// process dies.
///
/// Nothing is noted where edits are made. At the commit the objects that its record names are held against the merge state, which shows
/// what they were, and each difference becomes an operation: values that were set to what they were, edits of a savepoint that was
/// undone, and links that went with their target make none. O(the objects that changed and their lists).
struct Capture: CommitCompanion {
  let configuration: SyncConfiguration
  /// Types that stay on the device.
  private let localTypes: Set<String>

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

  /// A file that takes in what others did before anybody has written it as a replica: its objects go first, or nothing does.
  private func adoptIfNew(_ write: RecordedTransaction, _ sides: any SideWriting) throws(StorageError) {
    if configuration.existing == .refuse { return try refuseExisting(sides, CommitRecord(origin: 0)) }
    let standing = configuration.replica.map { ReplicaStanding(replica: $0) } ?? .drawn()
    var author = ChangeAuthor(write, sides, try FileState(sides), standing, wall: wallClock(), CommitNotes(), localTypes)
    try author.adopt(CommitRecord(origin: 0))
    if author.hasChanges { try author.finish() }
  }

  /// A file with objects that no replica has heard of.
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
