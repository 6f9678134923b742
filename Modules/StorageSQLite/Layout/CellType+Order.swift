import CVivariumSQLite
import StoreValues

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CellType {
  /// Where a value lies among those that a column of this type can hold.
  enum Place {
    case null
    /// Above null and below NaN and every value.
    case below
    case nan
    /// Among the values; perhaps none is equal.
    case at
    /// Above every value.
    case above
  }

  func place(of value: Value) -> Place {
    guard let other = value.type else { return .null }
    if type == .mixed { return .at }
    let (own, found) = (CellType.rank(type), CellType.rank(other))
    if found != own { return found < own ? .below : .above }
    // Their NaN is among their own words and bytes.
    if type == .decimal || type == .date { return .at }
    if value.isNaN { return isFloating ? .nan : .below }
    return .at
  }

  /// A value to compare with in a form that SQLite can compare: a decimal number among integers or doubles is the
  /// greatest of those that is not above it. Whether the two are equal.
  func comparable(_ value: Value) -> (value: Value, isExact: Bool) {
    guard case .decimal(let decimal) = value, !isTranslated else { return (value, true) }
    if isFloating || decimal.isNaN {
      let (double, isExact) = decimal.floorDouble
      return (.double(double), isExact)
    }
    if let (integer, isExact) = decimal.floor { return (.int(integer), isExact) }
    return (.double(decimal.isNegative ? -.infinity : .infinity), false)
  }

  /// The order of kinds, as `Value.order` has it.
  private static func rank(_ type: ValueType) -> Int {
    switch type {
    case .bool: 1
    case .int8, .int16, .int32, .int64, .float, .double, .decimal: 2
    case .string: 3
    case .data: 4
    case .date: 5
    case .objectId: 6
    case .uuid: 7
    case .link, .mixed: 8
    }
  }

  /// The least value a column that is not floating can hold, as SQL.
  var least: String {
    switch physical {
    case .integer, .double, .float: "-9223372036854775808"
    case .bytes: isText ? "''" : "x''"
    case .bytes16: "x''"
    }
  }
}

extension Statement {
  /// A number as order terms have it: NaN as 0 (its rank says what it is), −0.0 as 0.0.
  func bindNumber(_ parameter: Int32, _ number: Double) {
    sqlite3_bind_double(pointer, parameter, number.isNaN || number == 0 ? 0 : number)
  }
}
