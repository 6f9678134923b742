import StorageInterface
import StoreValues

/// The windows of a transaction, by column.
struct WindowTable {
  /// Indexed by table and property number.
  private var columns: [[WindowColumn?]] = []
  /// Incremented by each change, which invalidates everything read before.
  private(set) var epoch: UInt64 = 0
  /// The object that an index lookup found last, and the columns that are read along with lookups, by table.
  private var found: (table: TableID, key: Int64)?
  private var companions: [WindowColumn?] = []

  /// Invalidates every window.
  @inline(__always) mutating func reset() { epoch &+= 1 }

  /// Ends every window and forgets the columns: their layout may have changed.
  mutating func forget() {
    epoch &+= 1
    columns = []
    companions = []
    found = nil
  }

  /// The column, if it was read before.
  @inline(__always) func known(_ id: ColumnID) -> WindowColumn? {
    let (table, property) = (Int(id.table.rawValue), Int(id.property.rawValue))
    guard table < columns.count, property < columns[table].count else { return nil }
    return columns[table][property]
  }

  mutating func column(_ layout: ColumnLayout) -> WindowColumn {
    let (table, property) = (Int(layout.id.table.rawValue), Int(layout.id.property.rawValue))
    while columns.count <= table { columns.append([]) }
    while columns[table].count <= property { columns[table].append(nil) }
    if let column = columns[table][property] { return column }
    let column = WindowColumn(layout)
    columns[table][property] = column
    return column
  }

  /// The columns that are read side by side with this one, itself first.
  func company(of column: WindowColumn) -> [WindowColumn] {
    let others = columns[Int(column.layout.id.table.rawValue)].compactMap { $0 }
    return [column] + others.filter { $0 !== column && $0.keepsPace(with: column, epoch) }
  }

  // MARK: Look-ups

  /// The column that was read after the last lookups in a table, to be read along with the next one.
  @inline(__always) mutating func companion(of table: TableID) -> WindowColumn? {
    let number = Int(table.rawValue)
    guard number < companions.count, let column = companions[number] else { return nil }
    // The last read along was not used.
    if !column.isUsed { companions[number] = nil }
    return companions[number]
  }

  @inline(__always) mutating func didFind(_ table: TableID, _ key: Int64) { found = (table, key) }

  /// Whether an object was the last one found.
  @inline(__always) func wasFound(_ table: TableID, _ key: Int64) -> Bool {
    if let found { found.key == key && found.table == table } else { false }
  }

  /// Call after a single row of a column was read.
  @inline(__always) mutating func didRead(_ column: WindowColumn, _ key: Int64) {
    let table = column.layout.id.table
    guard wasFound(table, key) else { return }
    let number = Int(table.rawValue)
    while companions.count <= number { companions.append(nil) }
    companions[number] = column
  }
}
