import StoreValues

/// A power of transactions that can go through a whole column themselves, faster than a scan hands it out.
///
/// The answer must be *exactly* what a scan gives, the last bit of a sum of doubles included: `RealSum` says in which order
/// they are added.
public protocol AggregatePushdown: StorageReading {
  /// What an aggregate over all objects of the table comes to, for a scalar column of numbers or dates. Nil where the
  /// engine cannot say it exactly; then the caller scans.
  func total(of column: ColumnID, _ part: ColumnTotal.Part) throws(StorageError) -> ColumnTotal?
}

/// What one pass over a column comes to. Null is left out, and NaN by the bounds.
public struct ColumnTotal: Sendable {
  /// What is asked for.
  public enum Part: Sendable {
    case sum
    /// Sum and count.
    case mean
    case least
    case greatest
  }

  /// Values that are not null; only for `.mean`.
  public var count = 0
  /// The sum of an integer column.
  public var integers: Int128 = 0
  /// The sum of a floating column.
  public var reals = RealSum()
  /// The word of the bound that was asked for; nil when there is no such value.
  public var bound: Int64?

  /// Nothing was seen yet.
  public init() {}
}

/// A sum of doubles in eight lanes by turns, so that it can be computed eight at a time. Which value goes into
/// which lane depends on its number among the values alone, by ascending key, not on how they were delivered: every engine
/// gets the same bits.
public struct RealSum: Sendable {
  /// The sums of every eighth value.
  public private(set) var lanes: SIMD8<Double> = .zero
  private var turn = 0

  /// A sum of nothing.
  public init() {}

  /// The sum of all lanes.
  public var value: Double { lanes.sum() }

  /// Adds a double to the lane whose turn it is.
  public mutating func add(_ value: Double) {
    lanes[turn] += value
    turn = (turn + 1) & 7
  }

  /// Adds doubles that lie one after the other, at any address.
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
