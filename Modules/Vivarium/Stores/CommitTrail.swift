import ChangeTracker
import StorageInterface
import StoreValues

/// The commits that led to the version that a store reads, as far back as somebody asked: where results see whether one touched
/// what they read. Each record is read once for all of them.
struct CommitTrail {
  /// After more commits than these, results are evaluated again, without a look at what the commits were.
  static let commitsMax = 256
  /// So many changes are kept for others that may ask, beside those of the newest commits.
  private static let changesMax = 1 << 16

  private var from = Version(0)
  private var to = Version(0)
  private var records: [CommitRecord] = []

  /// The commits after a version, up to the one that a snapshot reads; nil where they are too many, or not known. O(commits that
  /// nobody asked for yet).
  mutating func commits(after version: Version, to snapshot: any ReadTransaction) -> ArraySlice<CommitRecord>? {
    let current = snapshot.version
    guard version <= current, current.rawValue - version.rawValue <= CommitTrail.commitsMax else { return nil }
    if version == current { return [] }
    if version < from || to < version || current < to { (from, to, records) = (version, version, []) }
    guard to == current || extend(to: snapshot) else { return nil }
    // Nothing that may still be asked for has gone: it is the newest that stay.
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
    // Each commit makes one version: none may be missing.
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
  /// How much there is to look through: runs of objects count once.
  fileprivate var listedCount: Int {
    tables.reduce(0) { sum, table in
      sum + table.inserted.runs.count + table.deleted.runs.count + table.modified.count + table.lists.count + table.collections.count
    }
  }
}

extension Store {
  /// Whether what is read is a version that somebody committed: no write is open, or one that has changed nothing yet.
  var readsCommitted: Bool {
    if isInvalidated { return false }
    // Between a write's end and the next snapshot it is still the write that is read.
    guard let write = writer.unfinished else { return reading === snapshot }
    return write.isEmpty
  }

  /// Whether no commit after a version can have changed the answer to a question, so that what it gave then it gives now.
  func isUntouched(_ question: ComparedQuestion, since version: Version) -> Bool {
    guard let commits = reader.commits(after: version) else { return false }
    return !commits.contains { $0.changedCatalog || question.mayBeChanged(by: $0) }
  }
}
