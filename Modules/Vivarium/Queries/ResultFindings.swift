import ChangeTracker
import QueryModel
import StorageInterface
import StoreValues

/// What is known about a query, each found once.
final class ResultFindings {
  var query: Query?
  var snapshot: KeySnapshot?
  /// The tick that must be unchanged for `snapshot` to be current without another check.
  var stamp: UInt64 = 0
  /// The committed version that `snapshot` is current in; nil if it was made during an open write.
  var version: Version?
  /// Why the snapshot could not be made and is empty.
  var failure: StoreError?
  /// The result of `count` before there was a snapshot.
  var knownCount: KnownCount?
  var binding: ResultsState.Binding?
  var ordering: (any ViewQuestion)??
  var reach: Reach?
  fileprivate var compared: (question: ComparedQuestion, catalog: Catalog)?

  /// What a commit must touch to change the result.
  enum Reach { case membership, ownTable, store }
}

/// A row count and when it was determined.
struct KnownCount {
  var stamp: UInt64
  let count: Int
  /// See `ResultFindings.version`.
  var version: Version?

  init(_ stamp: UInt64, _ count: Int, _ version: Version?) { (self.stamp, self.count, self.version) = (stamp, count, version) }
}

extension ResultsState {
  /// The known rows, if they are still current: nothing has changed since, or only commits, by any writer, that cannot have changed
  /// them. The rows then count as those of the version read now. O(commits since).
  var fresh: KeySnapshot? {
    guard let findings, let snapshot = findings.snapshot else { return nil }
    let stamp = currentStamp
    if findings.stamp == stamp { return snapshot }
    // The notifier has the new version of what it keeps, too.
    guard let version = findings.version, !snapshot.isView, store.readsCommitted else { return nil }
    guard isUntouched(since: version) else {
      findings.version = nil
      return nil
    }
    (findings.stamp, findings.version) = (stamp, store.snapshot.version)
    return snapshot
  }

  /// The known result of `count`, if it is still current.
  var freshCount: Int? {
    guard let findings, let known = findings.knownCount else { return nil }
    let stamp = currentStamp
    if known.stamp == stamp { return known.count }
    guard let version = known.version, store.readsCommitted else { return nil }
    guard isUntouched(since: version) else {
      findings.knownCount = nil
      return nil
    }
    findings.knownCount = KnownCount(stamp, known.count, store.snapshot.version)
    return known.count
  }

  private func isUntouched(since version: Version) -> Bool {
    guard let findings else { return false }
    let catalog = store.snapshot.catalog
    if findings.compared?.catalog.isIdentical(to: catalog) != true {
      findings.compared = (description.compared(in: catalog), catalog)
    }
    guard let question = findings.compared?.question else { return false }
    return store.isUntouched(question, since: version)
  }
}
