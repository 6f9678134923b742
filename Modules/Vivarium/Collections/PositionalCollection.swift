/// A live collection by position, of which no position ends the program: others may delete objects between the moment at which a
/// position was computed and that at which it is used. A position outside is reported as `MisusePolicy` says.
///
/// Ranges are cut to what is there: `results[0..<20]`, `results[20...]`, `prefix(upTo:)` and so on give what there is of them, and a
/// negative number of elements is none. Positions are plain numbers: moving one by `index(after:)` looks at nothing.
///
/// ```swift
/// let page = dogs[20..<40]   // empty if there are fewer than 20 dogs
/// ```
public protocol PositionalCollection<Element>: RandomAccessCollection
where Index == Int, Indices == Range<Int>, SubSequence == Slice<Self> {}

extension PositionalCollection {
  /// The elements of a range, as far as it is within the collection; a range that is not is reported. O(1) beside `count`.
  public subscript(bounds: Range<Int>) -> Slice<Self> { Slice(base: self, bounds: present(bounds.lowerBound, bounds.upperBound)) }

  /// The elements from a position on; see `subscript(_:)` of a range.
  public subscript(bounds: PartialRangeFrom<Int>) -> Slice<Self> { suffix(from: bounds.lowerBound) }
  /// The elements before a position; see `subscript(_:)` of a range.
  public subscript(bounds: PartialRangeUpTo<Int>) -> Slice<Self> { prefix(upTo: bounds.upperBound) }
  /// The elements up to a position, with it; see `subscript(_:)` of a range.
  public subscript(bounds: PartialRangeThrough<Int>) -> Slice<Self> { prefix(through: bounds.upperBound) }
  /// The elements of a range; see `subscript(_:)` of a half-open one.
  public subscript(bounds: ClosedRange<Int>) -> Slice<Self> {
    Slice(base: self, bounds: present(bounds.lowerBound, bounds.upperBound.following))
  }

  /// The elements from a position on; none if it is behind the end, which is reported.
  public func suffix(from start: Int) -> Slice<Self> { Slice(base: self, bounds: present(start, nil)) }
  /// The elements before a position, as far as there are any; a position outside is reported.
  public func prefix(upTo end: Int) -> Slice<Self> { Slice(base: self, bounds: present(0, end)) }
  /// The elements up to a position, with it, as far as there are any; a position outside is reported.
  public func prefix(through position: Int) -> Slice<Self> { Slice(base: self, bounds: present(0, position.following)) }

  /// Up to `maxLength` elements from the start; none if the number is negative.
  public func prefix(_ maxLength: Int) -> Slice<Self> { Slice(base: self, bounds: 0..<Swift.min(Swift.max(maxLength, 0), count)) }
  /// Up to `maxLength` elements from the end; none if the number is negative.
  public func suffix(_ maxLength: Int) -> Slice<Self> {
    let count = count
    return Slice(base: self, bounds: count - Swift.min(Swift.max(maxLength, 0), count)..<count)
  }

  /// All but the first elements; all if the number is negative.
  public func dropFirst(_ number: Int = 1) -> Slice<Self> {
    let count = count
    return Slice(base: self, bounds: Swift.min(Swift.max(number, 0), count)..<count)
  }

  /// All but the last elements; all if the number is negative.
  public func dropLast(_ number: Int = 1) -> Slice<Self> {
    let count = count
    return Slice(base: self, bounds: 0..<count - Swift.min(Swift.max(number, 0), count))
  }

  /// What is there of a range; nil: up to the end. Reads the position outside, if there is one, because that reports it.
  func present(_ lower: Int, _ upper: Int?) -> Range<Int> {
    let count = count
    if lower < 0 || lower > count { _ = self[lower] }
    if let upper, upper < 0 || upper > count { _ = self[upper < 0 ? upper : upper - 1] }
    let start = Swift.min(Swift.max(lower, 0), count)
    return start..<Swift.max(start, Swift.min(upper ?? count, count))
  }
}

// The standard library's versions end the program for a position that is outside at that moment, also of a slice that is being walked
// while objects are deleted.
extension PositionalCollection {
  /// The next position, there or not.
  @inlinable public func index(after position: Int) -> Int { position &+ 1 }
  /// The position before, there or not.
  @inlinable public func index(before position: Int) -> Int { position &- 1 }
  /// The position so far from another one, there or not.
  @inlinable public func index(_ position: Int, offsetBy distance: Int) -> Int { position &+ distance }
  /// How far one position is from another.
  @inlinable public func distance(from start: Int, to end: Int) -> Int { end &- start }

  /// Ends nothing: a position outside is reported where it is read. So do the next two.
  @inlinable public func _failEarlyRangeCheck(_ position: Int, bounds: Range<Int>) {}
  /// See above.
  @inlinable public func _failEarlyRangeCheck(_ position: Int, bounds: ClosedRange<Int>) {}
  /// See above.
  @inlinable public func _failEarlyRangeCheck(_ range: Range<Int>, bounds: Range<Int>) {}
}

extension Int {
  /// The next number; the greatest one is its own.
  fileprivate var following: Int { self == .max ? .max : self + 1 }
}
