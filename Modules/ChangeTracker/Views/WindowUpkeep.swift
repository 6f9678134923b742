import StorageInterface
import StoreValues

/// Keeps the rows between two positions of a result: of a query with a limit, an offset or both. The whole result is kept row
/// by row, so that rows moving into the window are known without a query; only the window is reported.
///
/// A commit costs as much as it touched, plus the size of the window. Confined to its owner (the notifier's worker).
package final class WindowUpkeep {
  /// Keeps the whole result.
  package let whole: ViewUpkeep
  /// Positions in the whole result; those past its end are empty.
  package let window: Range<Int>
  package private(set) var rows: [Int64]

  /// - Parameter keys: those of the whole result.
  package init(
    _ question: any ViewQuestion, _ window: Range<Int>, keys: [Int64], in reading: any StorageReading
  ) throws(StorageError) {
    whole = try ViewUpkeep(question, keys: keys, in: reading)
    self.window = window
    rows = whole.view.latest.keys(in: window)
  }

  /// Takes the result from the version that `from` reads to the version that `to` reads; returns the step of the whole result.
  /// `records` are all commits between the two, in order. Returns nil if no row was touched, in the window or outside:
  /// observers may know a row that is outside now, and it may come back.
  ///
  /// If reading throws, the result is unchanged; the step can be retried.
  package func apply(
    _ records: [CommitRecord], from: any StorageReading, to: any StorageReading
  ) throws(StorageError) -> ViewStep? {
    guard records.contains(where: whole.isAffected), let step = try whole.apply(records, from: from, to: to) else {
      return nil
    }
    rows = whole.view.latest.keys(in: window)
    return step
  }
}
