import StorageInterface
import StoreValues

/// What a program's own steps of a migration have looked after: the properties whose old values they read, and the objects that still
/// need a value. One for each migration.
final class MigrationCoverage {
  /// A property in which objects need a value from the program.
  struct Open {
    let column: ColumnID
    /// Where the values were that could not be converted; nil where there were none.
    let source: ColumnID?
    /// The first of those, for people.
    let example: String?
    var keys: Set<Int64>
  }

  private var read: Set<ColumnID> = []
  private var last: ColumnID?
  private(set) var open: [Open] = []

  /// The program has read an object's old value.
  func noteRead(_ column: ColumnID) {
    if column == last { return }
    last = column
    read.insert(column)
  }

  /// Whether the program knows of a column's old values.
  func hasRead(_ column: ColumnID) -> Bool { read.contains(column) }

  /// These objects need a value.
  func need(_ column: ColumnID, _ keys: [Int64], lostFrom source: ColumnID? = nil, example: String? = nil) {
    if keys.isEmpty { return }
    if let at = open.firstIndex(where: { $0.column == column && $0.source == source }) {
      open[at].keys.formUnion(keys)
    } else {
      open.append(Open(column: column, source: source, example: example, keys: Set(keys)))
    }
  }

  /// An object has got a value.
  func noteSet(_ column: ColumnID, _ key: ObjectKey) {
    for at in open.indices where open[at].column == column { open[at].keys.remove(key.rawValue) }
  }
}
