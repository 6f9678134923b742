import CVivariumSQLite
import StorageInterface
import StoreValues

extension Snapshot: AggregatePushdown {
  final func total(of id: ColumnID, _ part: ColumnTotal.Part) throws(StorageError) -> ColumnTotal? {
    try enter()
    defer { leave() }
    let column = try layout.scalar(id)
    guard column.cell.isWord, column.cell.type != .link, column.cell.type != .bool else { return nil }
    switch part {
    case .sum, .mean: return column.cell.isFloating ? try realSum(column) : try integerSum(column, part)
    case .least, .greatest: return try bound(column, part)
    }
  }

  /// SQLite adds integers exactly or fails; a value that is not an integer makes the sum a real.
  private final func integerSum(_ column: ColumnLayout, _ part: ColumnTotal.Part) throws(StorageError) -> ColumnTotal? {
    let count = part == .mean ? ", count(\(column.name))" : ""
    return try row(column, "SELECT sum(\(column.name))\(count) FROM \(layout.tableName(column))") { statement in
      var total = ColumnTotal()
      if part == .mean { total.count = Int(statement.int64(1)) }
      if statement.isNull(0) { return total }
      guard sqlite3_column_type(statement.pointer, 0) == SQLITE_INTEGER else { return nil }
      total.integers = Int128(statement.int64(0))
      return total
    }
  }

  /// Adds by our own function, in key order.
  private final func realSum(_ column: ColumnLayout) throws(StorageError) -> ColumnTotal? {
    try connection.addRealSum()
    let name = column.cell.physical == .float ? RealSumFunction.ofFloats : RealSumFunction.ofDoubles
    return try row(column, "SELECT \(name)(\(column.name)) FROM \(layout.tableName(column)) NOT INDEXED") { statement in
      RealSumFunction.total(statement.bytes(0))
    }
  }

  /// NaN and −0.0 are stored as BLOBs, which sort above all numbers: if the greatest value is one, SQLite's order is not ours.
  private final func bound(_ column: ColumnLayout, _ part: ColumnTotal.Part) throws(StorageError) -> ColumnTotal? {
    let (name, cell) = (column.name, column.cell)
    // The NaN of dates is below all others, and excluded.
    let lowest = cell.type == .date ? Timestamp.negativeInfinity.word : .min
    let filter = cell.type == .date && part == .least ? " WHERE \(name) >= \(lowest)" : ""
    let terms = part == .greatest ? "max(\(name))" : "min(\(name)), max(\(name))"
    return try row(column, "SELECT \(terms) FROM \(layout.tableName(column))\(filter)") { statement in
      var total = ColumnTotal()
      if part == .least, [SQLITE_TEXT, SQLITE_BLOB].contains(sqlite3_column_type(statement.pointer, 1)) { return nil }
      switch sqlite3_column_type(statement.pointer, 0) {
      case SQLITE_NULL: return total
      case SQLITE_INTEGER, SQLITE_FLOAT: break
      default: return nil
      }
      guard case .word(let word) = statement.word(0, cell) else { return nil }
      if word >= lowest { total.bound = word }
      return total
    }
  }

  /// Reads the single row of a statement; nil also if SQLite cannot compute it.
  private final func row(
    _ column: ColumnLayout, _ text: String, _ read: (Statement) -> ColumnTotal?
  ) throws(StorageError) -> ColumnTotal? {
    let statement = try connection.take(text: text)
    defer { connection.finish(statement) }
    let code = sqlite3_step(statement.pointer)
    try connection.confirm()
    if code == SQLITE_ROW { return read(statement) }
    // In particular an integer overflow: the scan then finds out whether the sum fits.
    if code == SQLITE_ERROR { return nil }
    throw connection.failure(code, doing: "add up \(column.label)")
  }
}
