import ChangeTracker
import QueryModel
import StorageInterface
import StoreValues

/// What was found out about a question, once.
final class ResultFindings {
  var query: Query?
  var snapshot: KeySnapshot?
  /// What had to stay the same for `snapshot` to be right without another look.
  var stamp: UInt64 = 0
  /// The committed version that `snapshot` is right in; nil where it was made of an open write.
  var version: Version?
  /// Why the snapshot could not be made, and is empty.
  var failure: StoreError?
  /// What `count` said before there was a snapshot.
  var knownCount: KnownCount?
  var binding: ResultsState.Binding?
  var ordering: (any ViewQuestion)??
  var reach: Reach?
  fileprivate var compared: (question: ComparedQuestion, catalog: Catalog)?

  /// What a change must touch to change the result.
  enum Reach { case membership, ownTable, store }
}

/// How many rows there were, and when.
struct KnownCount {
  var stamp: UInt64
  let count: Int
  /// As of `ResultFindings`.
  var version: Version?

  init(_ stamp: UInt64, _ count: Int, _ version: Version?) { (self.stamp, self.count, self.version) = (stamp, count, version) }
}

extension ResultsState {
  /// The rows that were found before, where they are so still: nothing was changed since, or by commits alone that cannot have
  /// changed them, anybody's. Then they belong to the version that is read now. O(changes committed since).
  var fresh: KeySnapshot? {
    guard let findings, let snapshot = findings.snapshot else { return nil }
    let stamp = currentStamp
    if findings.stamp == stamp { return snapshot }
    // What the notifier keeps it has of the new version too.
    guard let version = findings.version, !snapshot.isView, store.readsCommitted else { return nil }
    guard isUntouched(since: version) else {
      findings.version = nil
      return nil
    }
    (findings.stamp, findings.version) = (stamp, store.snapshot.version)
    return snapshot
  }

  /// The same of what `count` said.
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
