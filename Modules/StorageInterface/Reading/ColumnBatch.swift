import StoreValues

/// A run of rows of one table with the requested columns, in that order. Not copyable and lent to a closure: its memory belongs
/// to the engine and ends with the call.
public struct ColumnBatch: ~Copyable {
  /// Row i has the key `keys[i]`, or `firstKey + i` if `keys` is nil. Ascending.
  public let firstKey: ObjectKey
  /// See `firstKey`; `count` keys, ascending.
  public let keys: UnsafePointer<Int64>?
  /// The number of rows, holes included.
  public let count: Int
  /// nil: every row is live. Bit i clear: row i is a hole; kernels AND it at the end and need not branch on it.
  public let live: UnsafePointer<UInt64>?
  /// In the order in which the scan requested them.
  public let columns: UnsafeBufferPointer<ColumnVector>

  @inlinable public init(
    firstKey: ObjectKey, keys: UnsafePointer<Int64>? = nil, count: Int, live: UnsafePointer<UInt64>? = nil,
    columns: UnsafeBufferPointer<ColumnVector>
  ) {
    self.firstKey = firstKey
    self.keys = keys
    self.count = count
    self.live = live
    self.columns = columns
  }

  /// The key of a row. O(1).
  @inlinable public func key(at row: Int) -> ObjectKey {
    ObjectKey(keys.map { $0[row] } ?? firstKey.rawValue &+ Int64(row))
  }

  /// Whether the row is an object. O(1).
  @inlinable public func isLive(at row: Int) -> Bool {
    guard let live else { return true }
    return live[row &>> 6] &>> UInt64(row & 63) & 1 == 1
  }
}

/// Whether a visiting closure wants to continue.
public enum Step: Sendable {
  case proceed
  case stop
}

/// What a scan needs of one column, so that an engine can skip the rest. An engine may ignore it, and the caller still tests
/// every row.
///
/// The ordinal of an integer or date column is its word; for a double column, `ZoneHint.ordinal(of:)`; for a float column, that
/// of the float as a double.
public struct ZoneHint: Sendable, Hashable {
  /// The needed part of a column.
  public enum Interest: Sendable, Hashable {
    /// Only rows with an ordinal in `from...to`, excluding null and NaN: other rows need not be delivered.
    case ordinals(from: Int64, to: Int64)
    /// Every row, but of the column only its nulls. Other values may be arbitrary, so strings and data need not be read.
    case nulls
  }

  /// The position in the requested columns.
  public let column: Int
  /// The needed part of the column.
  public let interest: Interest

  /// Needs only rows with an ordinal between the two.
  public init(column: Int, min: Int64, max: Int64) {
    self.column = column
    interest = .ordinals(from: min, to: max)
  }

  /// Needs only the nulls of a column.
  public init(presenceOf column: Int) {
    self.column = column
    interest = .nulls
  }

  /// An Int64 that sorts as the doubles do, −0.0 equal to 0.0. NaN has none: its result is unspecified.
  @inlinable public static func ordinal(of double: Double) -> Int64 {
    let bits = Int64(bitPattern: (double == 0 ? 0 : double).bitPattern)
    return bits >= 0 ? bits : bits ^ Int64.max
  }
}
