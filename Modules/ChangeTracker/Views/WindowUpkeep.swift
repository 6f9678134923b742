import StorageInterface
import StoreValues

/// Keeps the rows between two positions of a result: of a query with a limit, an offset or both. The whole result is kept row
/// by row, so that whoever moves into the window is known without asking; what is reported is the window.
///
/// A commit costs what it touched and the size of the window. Confined to its owner (the notifier's worker).
package final class WindowUpkeep {
  /// What keeps the whole result.
  package let whole: ViewUpkeep
  /// Positions in the whole result; those past its end are none.
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

  /// Takes the result from the version that `from` reads to the version that `to` reads; gives the step of the whole result.
  /// `records` are the commits between the two, all of them, in order. Nil when no row was touched, in the window or outside: one
  /// that is outside now may be known to observers, and come back.
  ///
  /// When reading throws, the result is as it was; the step can be tried again.
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
