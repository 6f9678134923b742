import StorageInterface
import StoreValues

/// What a program's own migration steps have handled: the properties whose old values they read, and the objects that still need a
/// value; and whether what they read was there. One for each migration.
final class MigrationCoverage {
  /// A property for which some objects still need a value from the program.
  struct Open {
    let column: ColumnID
    /// Why the objects did not get the declared default; nil if there is none, or for values that could not be converted.
    let withheld: WithheldDefault?
    /// The column of the values that could not be converted; nil if there were none.
    let source: ColumnID?
    /// The first of those values, for the error message.
    let example: String?
    var keys: Set<Int64>
  }

  private var read: Set<ColumnID> = []
  private var last: ColumnID?
  private(set) var open: [Open] = []
  /// The first error of a read, which the program's step did not get.
  private var failure: StorageError?

  /// Records that the program has read an object's old value.
  func noteRead(_ column: ColumnID) {
    if column == last { return }
    last = column
    read.insert(column)
  }

  /// Records that a read failed.
  func noteFailure(_ error: StorageError) { failure = failure ?? error }

  /// Throws the error of the first read that failed.
  func checkReads() throws(StoreError) { if let failure { throw StoreError(failure) } }

  /// Whether the program has read a column's old values.
  func hasRead(_ column: ColumnID) -> Bool { read.contains(column) }

  /// Records objects that need a value.
  func need(
    _ column: ColumnID, _ keys: [Int64], withheld: WithheldDefault? = nil, lostFrom source: ColumnID? = nil, example: String? = nil
  ) {
    if keys.isEmpty { return }
    if let at = open.firstIndex(where: { $0.column == column && $0.source == source && $0.withheld == withheld }) {
      open[at].keys.formUnion(keys)
    } else {
      open.append(Open(column: column, withheld: withheld, source: source, example: example, keys: Set(keys)))
    }
  }

  /// Records that an object has a value.
  func noteSet(_ column: ColumnID, _ key: ObjectKey) {
    for at in open.indices where open[at].column == column { open[at].keys.remove(key.rawValue) }
  }
}
