import ChangeTracker
import StorageInterface
import StoreValues

/// The commits that led to the version that a store reads, as far back as its results asked. Results use it to check whether a
/// commit touched what they read. Each record is read once for all results.
struct CommitTrail {
  /// After more commits than this, results are evaluated again without examining the commits.
  static let commitsMax = 256
  /// The number of changes kept for later queries, besides those of the newest commits.
  private static let changesMax = 1 << 16

  private var from = Version(0)
  private var to = Version(0)
  private var records: [CommitRecord] = []

  /// The commits after a version, up to the one that a snapshot reads; nil if they are too many or unknown. O(commits not read
  /// yet).
  mutating func commits(after version: Version, to snapshot: any ReadTransaction) -> ArraySlice<CommitRecord>? {
    let current = snapshot.version
    guard version <= current, current.rawValue - version.rawValue <= CommitTrail.commitsMax else { return nil }
    if version == current { return [] }
    if version < from || to < version || current < to { (from, to, records) = (version, version, []) }
    guard to == current || extend(to: snapshot) else { return nil }
    // Trimming by `commitsMax` removes no record that is needed here; trimming by `changesMax` may: then nil.
    return version < from ? nil : records[Int(version.rawValue - from.rawValue)...]
  }

  private mutating func extend(to snapshot: any ReadTransaction) -> Bool {
    var read: [CommitRecord] = []
    do throws(StorageError) {
      try snapshot.history(after: to) { record in
        read.append(record)
        return .proceed
      }
    } catch {
      return false
    }
    // Each commit makes one version, so none may be missing.
    guard UInt64(read.count) == snapshot.version.rawValue - to.rawValue, read.last?.version == snapshot.version else { return false }
    if records.reduce(0, { $0 + $1.listedCount }) > CommitTrail.changesMax { (from, records) = (to, []) }
    records += read
    to = snapshot.version
    let surplus = records.count - CommitTrail.commitsMax
    if surplus > 0 {
      records.removeFirst(surplus)
      from = Version(from.rawValue + UInt64(surplus))
    }
    return true
  }
}

extension CommitRecord {
  /// The amount of changes to search: a run of objects counts once.
  fileprivate var listedCount: Int {
    tables.reduce(0) { sum, table in
      sum + table.inserted.runs.count + table.deleted.runs.count + table.modified.count + table.lists.count + table.collections.count
    }
  }
}

extension Store {
  /// Whether the store reads a committed version: no write is open, or the open write has changed nothing yet.
  var readsCommitted: Bool {
    if isInvalidated { return false }
    // Between the end of a write and the next snapshot, `reading` is still the write.
    guard let write = writer.unfinished else { return reading === snapshot }
    return write.isEmpty
  }

  /// Whether no commit after a version can have changed the result of a query, so that its known result is still right.
  func isUntouched(_ question: ComparedQuestion, since version: Version) -> Bool {
    guard let commits = reader.commits(after: version) else { return false }
    return !commits.contains { $0.changedCatalog || question.mayBeChanged(by: $0) }
  }
}
