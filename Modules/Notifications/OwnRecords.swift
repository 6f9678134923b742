import StorageInterface
import StoreValues
import Synchronization

/// The latest commits of this process, as records: a step over them need not decode anything that this process has encoded.
///
/// Bounded, and never the only source: if one of the versions is missing (another process committed, or too much happened), the
/// engine's history is read. Safe from any thread; no other lock is taken under its lock.
final class OwnRecords: Sendable {
  fileprivate struct Kept {
    /// Of successive versions.
    var records: [CommitRecord] = []
    var changes = 0
  }

  private let kept = Mutex(Kept())
  /// As in `CommitTrail`.
  private static let (commitsMax, changesMax) = (256, 1 << 16)

  /// Keeps a visible commit. Drops earlier ones if versions are missing in between.
  func add(_ record: CommitRecord) {
    let changes = record.changeCount
    kept.withLock { kept in
      if kept.records.last.map({ $0.version.next != record.version }) ?? false { kept = Kept() }
      guard changes <= Self.changesMax else { return kept = Kept() }
      kept.records.append(record)
      kept.changes += changes
      guard kept.records.count > Self.commitsMax || kept.changes > Self.changesMax else { return }
      // Cut to half at once, so that records are not moved at each commit.
      var gone = 0
      while gone < kept.records.count - 1,
        kept.records.count - gone > Self.commitsMax / 2 || kept.changes > Self.changesMax / 2
      {
        kept.changes -= kept.records[gone].changeCount
        gone += 1
      }
      kept.records.removeFirst(gone)
    }
  }

  /// The commits after one version up to another; nil if one of them is missing.
  func records(after version: Version, to newest: Version) -> [CommitRecord]? {
    kept.withLock { kept in
      guard let (first, last) = kept.bounds, version < newest, version.next >= first, newest <= last else { return nil }
      let start = Int(version.next.rawValue - first.rawValue)
      return Array(kept.records[start...Int(newest.rawValue - first.rawValue)])
    }
  }

  func clear() { kept.withLock { $0 = Kept() } }
}

extension OwnRecords.Kept {
  fileprivate var bounds: (first: Version, last: Version)? {
    guard let first = records.first, let last = records.last else { return nil }
    return (first.version, last.version)
  }
}
