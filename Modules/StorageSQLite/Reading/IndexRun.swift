import CVivariumSQLite
import StorageInterface
import StoreValues

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A run of an index's entries as SQL: one or a few statements, whose rows are concatenated.
///
/// SQLite would return the entries of one column as null, numbers, NaN (a BLOB). So a bounded run is split into parts, in each
/// of which SQLite's order is ours: nulls, NaNs, values. Unbounded runs have one part: the index terms themselves have our
/// order.
struct IndexRun {
  /// The values that a part selects in the column after the equal ones.
  enum Selection: UInt32 {
    case everything, nulls, nans, values
  }

  enum Comparison: UInt32 {
    case none, inclusive, exclusive
  }

  struct Part {
    var selection: Selection
    var lower: (comparison: Comparison, value: Value) = (.none, .null)
    var upper: (comparison: Comparison, value: Value) = (.none, .null)
  }

  let index: IndexLayout
  /// The values of the equal columns, in the columns' own classes.
  private(set) var equal: [Value] = []
  /// In ascending order; empty if nothing can be in the run.
  private(set) var parts: [Part] = []

  /// Throws `.misuse` if there are more values than columns.
  init(_ index: IndexLayout, _ range: IndexRange) throws(StorageError) {
    self.index = index
    let isBounded = range.lower != .unbounded || range.upper != .unbounded
    guard range.equal.count + (isBounded ? 1 : 0) <= index.columns.count else {
      throw .misuse("The range has more values than index \(index.entry.id.rawValue) has columns.")
    }
    for (column, wanted) in zip(index.columns, range.equal) {
      let (value, isExact) = column.cell.comparable(wanted)
      if !isExact { return }
      switch column.cell.place(of: value) {
      case .below, .above: return
      case .null where !column.mayBeNull: return
      case .null, .nan, .at: equal.append(value)
      }
    }
    parts = isBounded ? IndexRun.parts(index.columns[equal.count], range) : [Part(selection: .everything)]
  }

  private static func parts(_ column: ColumnLayout, _ range: IndexRange) -> [Part] {
    let cell = column.cell
    let range = IndexRange(
      lower: range.lower.comparable(in: cell, isLower: true), upper: range.upper.comparable(in: cell, isLower: false))
    var (takesNull, takesNaN) = (true, cell.isFloating)
    var values: Part? = Part(selection: .values)
    switch range.lower {
    case .unbounded: break
    case .including(let value), .excluding(let value):
      let includes = range.lower == .including(value)
      switch cell.place(of: value) {
      case .null: takesNull = includes
      case .below: takesNull = false
      case .nan: (takesNull, takesNaN) = (false, includes)
      case .at:
        (takesNull, takesNaN) = (false, false)
        values?.lower = (includes ? .inclusive : .exclusive, value)
      case .above: (takesNull, takesNaN, values) = (false, false, nil)
      }
    }
    switch range.upper {
    case .unbounded: break
    case .including(let value), .excluding(let value):
      let includes = range.upper == .including(value)
      switch cell.place(of: value) {
      case .null: (takesNull, takesNaN, values) = (takesNull && includes, false, nil)
      case .below: (takesNaN, values) = (false, nil)
      case .nan: (takesNaN, values) = (takesNaN && includes, nil)
      case .at: values?.upper = (includes ? .inclusive : .exclusive, value)
      case .above: break
      }
    }
    return (takesNull && column.mayBeNull ? [Part(selection: .nulls)] : []) + (takesNaN ? [Part(selection: .nans)] : [])
      + (values.map { [$0] } ?? [])
  }
}

extension IndexRun {
  /// A number that differs for all different texts of the index.
  func shape(_ part: Part, descending: Bool) -> UInt32 {
    var shape = UInt32(equal.count)
    shape = shape << 2 | part.selection.rawValue
    shape = shape << 2 | part.lower.comparison.rawValue
    shape = shape << 2 | part.upper.comparison.rawValue
    return shape << 1 | (descending ? 1 : 0)
  }

  /// The statement of a part: keys in order, or their count.
  func text(_ part: Part, descending: Bool, counting: Bool) -> String {
    var conditions = index.columns.prefix(equal.count).flatMap(\.orderTerms).map { "\($0) IS ?" }
    if equal.count < index.columns.count {
      let column = index.columns[equal.count]
      let terms = column.orderTerms
      let value = terms[terms.count - 1]
      switch part.selection {
      case .everything: break
      case .nulls: conditions.append("\(terms[0]) IS NULL")
      case .nans: conditions.append("\(terms[0]) = 0")
      case .values:
        if terms.count > 1 { conditions.append("\(terms[0]) = 1") }
        switch part.lower.comparison {
        // Without a lower bound, use one that excludes null and that the index can be searched by.
        case .none: if terms.count == 1 { conditions.append("\(value) >= \(column.cell.least)") }
        case .inclusive: conditions.append("\(value) >= ?")
        case .exclusive: conditions.append("\(value) > ?")
        }
        switch part.upper.comparison {
        case .none: break
        case .inclusive: conditions.append("\(value) <= ?")
        case .exclusive: conditions.append("\(value) < ?")
        }
      }
    }
    let source = "FROM \(index.tableName) INDEXED BY \(index.name)"
    let filter = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
    if counting { return "SELECT count(*) \(source)\(filter)" }
    let direction = descending ? " DESC" : ""
    var order = index.columns.dropFirst(equal.count).flatMap(\.orderTerms) + ["_key"]
    // Constant within the part, which SQLite would not recognise.
    if part.selection != .everything, index.columns[equal.count].cell.isFloating { order.removeFirst() }
    return "SELECT _key \(source)\(filter) ORDER BY " + order.map { $0 + direction }.joined(separator: ", ")
  }

  /// Binds the values of a part.
  func bind(_ part: Part, to statement: Statement) throws(StorageError) {
    var parameter: Int32 = 1
    for at in equal.indices {
      let (cell, value) = (index.columns[at].cell, equal[at])
      if cell.isFloating {
        // The first of the two terms: null, 0 for NaN, 1 for a number.
        if value.isNull { statement.bindNull(parameter) } else { statement.bind(parameter, value.isNaN ? 0 : 1) }
        parameter += 1
      }
      try bind(value, cell, parameter, statement)
      parameter += 1
    }
    guard equal.count < index.columns.count else { return }
    let cell = index.columns[equal.count].cell
    if part.lower.comparison != .none {
      try bind(part.lower.value, cell, parameter, statement)
      parameter += 1
    }
    if part.upper.comparison != .none { try bind(part.upper.value, cell, parameter, statement) }
  }

  private func bind(
    _ value: Value, _ cell: CellType, _ parameter: Int32, _ statement: Statement
  ) throws(StorageError) {
    guard cell.isTranslated else { return try statement.bind(parameter, ordered: value) }
    try statement.bind(parameter, ordered: value.isNull ? .null : .data(Data(value.orderKey)))
  }
}

extension IndexRange.Bound {
  /// The bound with a value that SQLite can compare with the column's.
  fileprivate func comparable(in cell: CellType, isLower: Bool) -> IndexRange.Bound {
    switch self {
    case .unbounded: return .unbounded
    case .including(let value), .excluding(let value):
      let (other, isExact) = cell.comparable(value)
      if isExact { if case .including = self { return .including(other) } else { return .excluding(other) } }
      return isLower ? .excluding(other) : .including(other)
    }
  }
}

extension Statement {
  /// Binds a value in the form of index terms and pushed conditions: numbers as numbers (NaN as 0, −0.0 as 0.0), text and bytes
  /// unchanged, copied.
  func bind(_ parameter: Int32, ordered value: Value) throws(StorageError) {
    switch value {
    case .null: bindNull(parameter)
    case .float(let x): bindNumber(parameter, Double(x))
    case .double(let x): bindNumber(parameter, x)
    case .decimal, .object, .list, .map: try bind(parameter, ordered: .data(Data(value.orderKey)))
    case .string, .data, .uuid, .objectId:
      let isText = value.type == .string
      let code = value.withBytes { csqlite_bind_copy(pointer, parameter, $0?.baseAddress, UInt64($0?.count ?? 0), isText ? 1 : 0) }
      if code != SQLITE_OK { throw StorageError(.tooLarge, .statement, "A value to compare with is too large.", underlyingCode: code) }
    case .bool, .int, .link, .date: bind(parameter, value.word ?? 0)
    }
  }
}
