import StoreValues

/// A power of transactions that aggregate a whole column faster than a scan could.
///
/// The result must be *exactly* that of a scan, including the last bit of a sum of doubles: `RealSum` defines the order of
/// additions.
public protocol AggregatePushdown: StorageReading {
  /// The aggregate of a scalar column of numbers or dates over all objects of the table. Nil if the engine cannot compute it
  /// exactly; then the caller scans.
  func total(of column: ColumnID, _ part: ColumnTotal.Part) throws(StorageError) -> ColumnTotal?
}

/// The result of one pass over a column. Excludes nulls, and NaN from the bounds.
public struct ColumnTotal: Sendable {
  /// The requested aggregate.
  public enum Part: Sendable {
    case sum
    /// Sum and count.
    case mean
    case least
    case greatest
  }

  /// The number of non-null values; only for `.mean`.
  public var count = 0
  /// The sum of an integer column.
  public var integers: Int128 = 0
  /// The sum of a floating column.
  public var reals = RealSum()
  /// The word of the requested bound; nil if there is no value.
  public var bound: Int64?

  /// An empty total.
  public init() {}
}

/// A sum of doubles in eight alternating lanes, so that eight can be added at a time. A value's lane depends only on its index
/// among the values in key order, not on the batches they come in, so every engine gets the same bits.
public struct RealSum: Sendable {
  /// The sums of every eighth value.
  public private(set) var lanes: SIMD8<Double> = .zero
  private var turn = 0

  /// An empty sum.
  public init() {}

  /// The sum of all lanes.
  public var value: Double { lanes.sum() }

  /// Adds a double to the current lane.
  public mutating func add(_ value: Double) {
    lanes[turn] += value
    turn = (turn + 1) & 7
  }

  /// Adds contiguous doubles, at any alignment.
  public mutating func add(_ values: UnsafeRawPointer, _ count: Int) {
    func value(_ i: Int) -> Double { values.loadUnaligned(fromByteOffset: i &* 8, as: Double.self) }
    var i = 0
    while i < count, turn != 0 {
      add(value(i))
      i &+= 1
    }
    var lanes = lanes
    while i &+ 8 <= count {
      lanes += values.loadUnaligned(fromByteOffset: i &* 8, as: SIMD8<Double>.self)
      i &+= 8
    }
    self.lanes = lanes
    while i < count {
      add(value(i))
      i &+= 1
    }
  }
}
