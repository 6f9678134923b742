import QueryModel
import StoreValues

/// Values of one type that pass a condition, in an order: always what the store's version says, and a copy of it each time
/// one is read.
///
/// ```swift
/// let warm = store.values(Reading.self).where { $0.celsius > 20 }.sorted(by: \.celsius)
/// for reading in warm { print(reading.sensor, reading.celsius) }
/// ```
///
/// What is copied is every property: to look at one of many, ask `objects`, which read what is touched alone.
public struct ValueResults<Value: ValueModel>: RandomAccessCollection {
  /// The live objects behind the values, in the same order.
  public let objects: Results<Value.Live>

  init(_ objects: Results<Value.Live>) { self.objects = objects }

  public var startIndex: Int { 0 }
  public var endIndex: Int { objects.count }
  /// Nothing is promised: what a walk leaves out is not known before, and who makes room by this ends where there is less.
  public var underestimatedCount: Int { 0 }
  /// Whether there are none. Looks for the first alone.
  public var isEmpty: Bool { objects.isEmpty }
  /// A copy of the first; nil where there are none.
  public var first: Value? { objects.first.map { Value($0) } }
  /// A copy of the last; nil where there are none.
  public var last: Value? { objects.last.map { Value($0) } }
  /// Why these are empty, when what was asked cannot be asked.
  public var error: StoreError? { objects.error }

  /// The value at a position; outside of the bounds as with `Results`.
  public subscript(position: Int) -> Value { Value(objects[position]) }

  /// Walks the values as they are when it is made.
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

  /// The same in the grammar of NSPredicate; see `Results.filter`.
  public func filter(
    _ format: String, _ arguments: any PredicateArgument..., fileID: StaticString = #fileID, line: UInt = #line
  ) -> Self {
    Self(objects.filtered(format, arguments, at: SourcePlace(fileID: fileID, line: line)))
  }

  /// In ascending or descending order of a property. After an earlier `sorted`, the ties of that one are ordered.
  public func sorted<V: Scalar>(
    by path: KeyPath<Value.Live, V>, ascending: Bool = true, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Self {
    Self(objects.sorted(by: path, ascending: ascending, fileID: fileID, line: line))
  }

  /// The same for an optional property: nil comes first ascending.
  public func sorted<V: Scalar>(
    by path: KeyPath<Value.Live, V?>, ascending: Bool = true, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Self {
    Self(objects.sorted(by: path, ascending: ascending, fileID: fileID, line: line))
  }

  /// In the order of a path of names, also of operators: `sorted(byKeyPath: "tags.@count")`.
  public func sorted(
    byKeyPath path: String, ascending: Bool = true, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Self {
    Self(objects.sorted(byKeyPath: path, ascending: ascending, fileID: fileID, line: line))
  }

  /// At most the first so many.
  public func limited(to count: Int) -> Self { Self(objects.limited(to: count)) }
}
