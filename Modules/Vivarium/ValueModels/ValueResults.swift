import QueryModel
import StoreValues

/// Values of one type that pass a condition, in an order. Always current for the store's version; each read makes a copy.
///
/// ```swift
/// let warm = store.values(Reading.self).where { $0.celsius > 20 }.sorted(by: \.celsius)
/// for reading in warm { print(reading.sensor, reading.celsius) }
/// ```
///
/// A copy has all properties: to read one of many, use `objects`, which read only the accessed ones.
public struct ValueResults<Value: ValueModel>: RandomAccessCollection {
  /// The live objects behind the values, in the same order.
  public let objects: Results<Value.Live>

  init(_ objects: Results<Value.Live>) { self.objects = objects }

  public var startIndex: Int { 0 }
  public var endIndex: Int { objects.count }
  /// Always 0: iteration skips objects deleted meanwhile, and callers that reserve space by this number trap if fewer follow.
  public var underestimatedCount: Int { 0 }
  /// Whether there are no values. Looks only for the first.
  public var isEmpty: Bool { objects.isEmpty }
  /// A copy of the first; nil if there is none.
  public var first: Value? { objects.first.map { Value($0) } }
  /// A copy of the last; nil if there is none.
  public var last: Value? { objects.last.map { Value($0) } }
  /// The error that makes these results empty; nil if the query is valid.
  public var error: StoreError? { objects.error }

  /// The value at a position; outside the bounds as in `Results`.
  public subscript(position: Int) -> Value { Value(objects[position]) }

  /// Iterates over the values as they are when the iterator is made.
  public func makeIterator() -> AnyIterator<Value> {
    var objects = objects.makeIterator()
    return AnyIterator { objects.next().map { Value($0) } }
  }
}

extension ValueResults {
  /// The values that also pass a condition: `where { $0.celsius > 20 }`. Reads nothing.
  public func `where`(
    _ condition: (Field<Value.Live>) -> Condition, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Self {
    Self(objects.where(condition, fileID: fileID, line: line))
  }

  /// Filters by a condition in the grammar of NSPredicate; see `Results.filter`.
  public func filter(
    _ format: String, _ arguments: any PredicateArgument..., fileID: StaticString = #fileID, line: UInt = #line
  ) -> Self {
    Self(objects.filtered(format, arguments, at: SourcePlace(fileID: fileID, line: line)))
  }

  /// Sorts by a property. After an earlier `sorted`, this one decides, and the earlier one orders its ties.
  public func sorted<V: Scalar>(
    by path: KeyPath<Value.Live, V>, ascending: Bool = true, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Self {
    Self(objects.sorted(by: path, ascending: ascending, fileID: fileID, line: line))
  }

  /// Sorts by an optional property: nil comes first ascending.
  public func sorted<V: Scalar>(
    by path: KeyPath<Value.Live, V?>, ascending: Bool = true, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Self {
    Self(objects.sorted(by: path, ascending: ascending, fileID: fileID, line: line))
  }

  /// Sorts by a path of names, which may contain operators: `sorted(byKeyPath: "tags.@count")`.
  public func sorted(
    byKeyPath path: String, ascending: Bool = true, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Self {
    Self(objects.sorted(byKeyPath: path, ascending: ascending, fileID: fileID, line: line))
  }

  /// The first `count` values at most.
  public func limited(to count: Int) -> Self { Self(objects.limited(to: count)) }
}
