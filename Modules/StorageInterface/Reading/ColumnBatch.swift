import StoreValues

/// A run of rows of one table with the columns that were asked for, in that order. Not copyable and lent to a
/// closure: its memory is the engine's and ends with the call.
public struct ColumnBatch: ~Copyable {
  /// Row i has the key `keys[i]`, or `firstKey + i` when `keys` is nil. Ascending.
  public let firstKey: ObjectKey
  /// See `firstKey`; `count` keys, ascending.
  public let keys: UnsafePointer<Int64>?
  /// How many rows there are, holes included.
  public let count: Int
  /// nil: every row lives. Bit i clear: row i is a hole; kernels AND it at the end, they need not branch on it.
  public let live: UnsafePointer<UInt64>?
  /// In the order in which the scan asked for them.
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

  /// Whether there is an object in the row. O(1).
  @inlinable public func isLive(at row: Int) -> Bool {
    guard let live else { return true }
    return live[row &>> 6] &>> UInt64(row & 63) & 1 == 1
  }
}

/// What a visiting closure wants next.
public enum Step: Sendable {
  case proceed
  case stop
}

/// What the caller of a scan needs of one column, so that an engine can leave out the rest. An engine may ignore it, and the
/// caller still tests every row.
///
/// The ordinal of an integer or date column is its word; of a double column `ZoneHint.ordinal(of:)` of it, and of
/// a float column that of the float as a double.
public struct ZoneHint: Sendable, Hashable {
  /// What of a column is asked for.
  public enum Interest: Sendable, Hashable {
    /// Only rows whose ordinal lies in `from...to` are of interest, and null and NaN are not: others need not be delivered.
    case ordinals(from: Int64, to: Int64)
    /// Every row is of interest, and of the column only which rows are null. What other rows hold may be given as anything,
    /// so their strings and data need not be read.
    case nulls
  }

  /// Position in the columns asked for.
  public let column: Int
  /// What is asked for of the column.
  public let interest: Interest

  /// Only rows whose ordinal lies between the two are of interest.
  public init(column: Int, min: Int64, max: Int64) {
    self.column = column
    interest = .ordinals(from: min, to: max)
  }

  /// A column of which only the nulls are asked.
  public init(presenceOf column: Int) {
    self.column = column
    interest = .nulls
  }

  /// An Int64 that orders as the doubles do, −0.0 like 0.0. NaN has none: its result is unspecified.
  @inlinable public static func ordinal(of double: Double) -> Int64 {
    let bits = Int64(bitPattern: (double == 0 ? 0 : double).bitPattern)
    return bits >= 0 ? bits : bits ^ Int64.max
  }
}
