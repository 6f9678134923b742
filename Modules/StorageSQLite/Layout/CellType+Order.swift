import CVivariumSQLite
import StoreValues

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CellType {
  /// The position of a value among those of this type's columns.
  enum Place {
    case null
    /// Above null and below NaN and every value.
    case below
    case nan
    /// Among the values; perhaps equal to none.
    case at
    /// Above every value.
    case above
  }

  func place(of value: Value) -> Place {
    guard let other = value.type else { return .null }
    if type == .mixed { return .at }
    let (own, found) = (CellType.rank(type), CellType.rank(other))
    if found != own { return found < own ? .below : .above }
    // Their NaN is among their ordinary words and bytes.
    if type == .decimal || type == .date { return .at }
    if value.isNaN { return isFloating ? .nan : .below }
    return .at
  }

  /// A value that SQLite can compare in place of `value`: for a decimal among integers or doubles, the greatest of those not
  /// above it. Also whether the two are equal.
  func comparable(_ value: Value) -> (value: Value, isExact: Bool) {
    guard case .decimal(let decimal) = value, !isTranslated else { return (value, true) }
    if isFloating || decimal.isNaN {
      let (double, isExact) = decimal.floorDouble
      return (.double(double), isExact)
    }
    if let (integer, isExact) = decimal.floor { return (.int(integer), isExact) }
    return (.double(decimal.isNegative ? -.infinity : .infinity), false)
  }

  /// The order of kinds, as in `Value.order`.
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

  /// The least value of a non-floating column, as SQL.
  var least: String {
    switch physical {
    case .integer, .double, .float: "-9223372036854775808"
    case .bytes: isText ? "''" : "x''"
    case .bytes16: "x''"
    }
  }
}

extension Statement {
  /// Binds a number in the form of order terms: NaN as 0 (its rank identifies it), −0.0 as 0.0.
  func bindNumber(_ parameter: Int32, _ number: Double) {
    sqlite3_bind_double(pointer, parameter, number.isNaN || number == 0 ? 0 : number)
  }
}
