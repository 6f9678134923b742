import StorageInterface
import StoreValues

// Aggregates of collections of values. For the least and the greatest value, use Swift's own `min()` and `max()`.

extension LiveList where Element: Scalar & Numeric {
  /// The sum of the elements; 0 if there are none. `.overflow` if it does not fit their type: it never wraps. O(n).
  public func sum() throws(StoreError) -> Element { try ElementTotal(self).sum() }

  /// The mean of the elements; nil if there are none.
  public func average() -> Double? { ElementTotal(self).average }
}

extension LiveList where Element == Decimal128 {
  /// The sum of the elements, added exactly and rounded to 34 digits once; 0 if there are none. O(n).
  public func sum() -> Decimal128 { DecimalTotal(self).sum.value }

  /// The mean of the elements; nil if there are none.
  public func average() -> Decimal128? { DecimalTotal(self).average }
}

extension LiveSet where Element: Scalar & Numeric {
  /// The sum of the members; 0 if there are none. `.overflow` if it does not fit their type: it never wraps. O(n).
  public func sum() throws(StoreError) -> Element { try ElementTotal(self).sum() }

  /// The mean of the members; nil if there are none.
  public func average() -> Double? { ElementTotal(self).average }
}

extension LiveSet where Element == Decimal128 {
  /// The sum of the members, added exactly and rounded to 34 digits once; 0 if there are none. O(n).
  public func sum() -> Decimal128 { DecimalTotal(self).sum.value }

  /// The mean of the members; nil if there are none.
  public func average() -> Decimal128? { DecimalTotal(self).average }
}

extension LiveMap where Value: Scalar & Numeric {
  /// The sum of the values; 0 if there are none. `.overflow` if it does not fit their type: it never wraps. O(n).
  public func sum() throws(StoreError) -> Value { try ElementTotal(lazy.map(\.value)).sum() }

  /// The mean of the values; nil if there are none.
  public func average() -> Double? { ElementTotal(lazy.map(\.value)).average }
}

extension LiveMap where Value == Decimal128 {
  /// The sum of the values, added exactly and rounded to 34 digits once; 0 if there are none. O(n).
  public func sum() -> Decimal128 { DecimalTotal(lazy.map(\.value)).sum.value }

  /// The mean of the values; nil if there are none.
  public func average() -> Decimal128? { DecimalTotal(lazy.map(\.value)).average }
}

/// A sum of numbers: integers are wide enough for any number of elements, reals are added as in results.
private struct ElementTotal<V: Scalar & Numeric> {
  private var integers: Int128 = 0
  private var reals = RealSum()
  private var count = 0

  init(_ elements: some Sequence<V>) {
    for element in elements {
      count += 1
      switch element.persistedValue {
      case .int(let integer): integers += Int128(integer)
      case .double(let real): reals.add(real)
      case .float(let real): reals.add(Double(real))
      default: continue
      }
    }
  }

  private var isReal: Bool { V._$type == .double || V._$type == .float }

  func sum() throws(StoreError) -> V {
    let total: Value? = isReal
      ? V._$type == .float ? .float(Float(reals.value)) : .double(reals.value) : Int64(exactly: integers).map { .int($0) }
    if let total, let sum = V(persisted: total) { return sum }
    throw StoreError(
      .overflow, "The sum \(integers) does not fit \(V.self).", remedy: "Use a wider type for the elements.")
  }

  var average: Double? { count == 0 ? nil : (isReal ? reals.value : Double(integers)) / Double(count) }
}

private struct DecimalTotal {
  private(set) var sum = DecimalSum()
  private var count = 0

  init(_ elements: some Sequence<Decimal128>) {
    for element in elements {
      count += 1
      sum.add(element)
    }
  }

  var average: Decimal128? { count == 0 ? nil : sum.value / Decimal128(count) }
}
