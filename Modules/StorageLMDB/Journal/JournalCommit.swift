import CVivariumLMDB
import CVivariumSystem
import ColumnStore
import StorageInterface
import StoreValues

/// One commit on its way to the journal: its differences are noted, then written, before LMDB makes it visible.
struct JournalCommit {
  private let plan: SafePoints.JournalPlan
  private let points: SafePoints
  private let (base, version): (Version, Version)
  private var differences = JournalDifferences()
  /// Whether a record, or a part of it, may be in the journal.
  private var isTried = false
  /// The bytes of the ring that are needed, about.
  private(set) var used: Int

  init(_ plan: SafePoints.JournalPlan, _ points: SafePoints, from base: Version, to version: Version) {
    (self.plan, self.points, self.base, self.version) = (plan, points, base, version)
    used = (plan.end.offset - plan.first + CommitJournal.capacity) % CommitJournal.capacity
  }

  /// Notes an entry that is about to be put, or removed (nil). `transaction`: where its old value is; nil for a key behind all others.
  mutating func note(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?, _ transaction: OpaquePointer?, isSealed: Bool
  ) {
    if differences.isTooLong { return }
    guard let value else { return differences.remove(key) }
    differences.put(key, value, over: transaction.flatMap { JournalCommit.value(of: key, $0, isSealed: isSealed) })
  }

  /// Writes the record. False if the commit has to be synced instead: it is too long, or there is no room for it, or the disk refuses it.
  /// Then the journal ends before the commit comes about, whatever the disk has taken in.
  mutating func write() -> Bool {
    if differences.isTooLong { return false }
    let record = differences.bytes.withUnsafeBytes {
      JournalRecord(run: plan.journal.run, base: base.rawValue, version: version.rawValue, $0)
    }
    guard record.count <= CommitJournal.recordMax else { return false }
    isTried = true
    guard let written = try? plan.journal.append(record, differences.bytes, at: plan.end, first: plan.first) else { return false }
    used += record.length
    points.didAppend(plan.journal.run, written)
    return true
  }

  /// Takes the record back, also one that the disk refused, because it may have it all the same: LMDB did not commit. Throws if the disk
  /// refuses that as well.
  mutating func revoke() throws(StorageError) {
    guard isTried else { return }
    isTried = false
    points.didAppend(plan.journal.run, plan.end)
    try plan.journal.voidRecords(after: plan.end)
  }

  /// The value of a key in an open write, without its checksum; nil if there is none.
  static func value(
    of key: UnsafeRawBufferPointer, _ transaction: OpaquePointer, isSealed: Bool
  ) -> UnsafeRawBufferPointer? {
    var (name, value) = (MDB_val(key), MDB_val())
    guard mdb_get(transaction, LMDBEnvironment.database, &name, &value) == 0 else { return nil }
    let bytes = value.bytes
    if !isSealed { return bytes }
    return bytes.count < Int(CS_SEAL) ? nil : UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count - Int(CS_SEAL))])
  }
}
