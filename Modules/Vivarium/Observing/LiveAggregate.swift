import Notifications
import QueryModel
import Values

/// A number that can be kept of results: `.count`, `.sum(of:)`, `.average(of:)`, `.min(of:)`, `.max(of:)`. See
/// `Results.observe(_:_:)`.
public struct LiveAggregate<Root: Model, Value> {
  enum Function { case count, sum, average, least, greatest }

  let function: Function
  let path: PartialKeyPath<Root>?
  /// Makes the number of what storage says. `.overflow` when it does not fit its type.
  let convert: (Values.Value) throws(StoreError) -> Value
}

extension LiveAggregate where Value == Int {
  /// How many there are.
  public static var count: Self {
    Self(function: .count, path: nil) { value throws(StoreError) in Int(persisted: value) ?? 0 }
  }
}

extension LiveAggregate {
  /// The sum of a property, 0 over nothing; null is passed over. Reals are added up exactly and rounded once, so that the sum
  /// does not depend on the way it came about; it may differ from `Results.sum(of:)` in the last digit.
  public static func sum(of path: KeyPath<Root, Value>) -> Self where Value: Scalar & Numeric {
    Self(function: .sum, path: path) { value throws(StoreError) in try Results<Root>.sum(value, path) }
  }

  /// The mean of a property; nil over nothing.
  public static func average<V: Scalar & Numeric>(of path: KeyPath<Root, V>) -> Self where Value == Double? {
    Self(function: .average, path: path) { value throws(StoreError) in Double(persisted: value) }
  }

  /// The mean of an optional property; null is passed over.
  public static func average<V: Scalar & Numeric>(of path: KeyPath<Root, V?>) -> Self where Value == Double? {
    Self(function: .average, path: path) { value throws(StoreError) in Double(persisted: value) }
  }

  /// The least value of a number or date; nil over nothing. Null and NaN are passed over.
  public static func min<V: Scalar & Comparable>(of path: KeyPath<Root, V>) -> Self where Value == V? {
    Self(function: .least, path: path) { value throws(StoreError) in V(persisted: value) }
  }

  public static func min<V: Scalar & Comparable>(of path: KeyPath<Root, V?>) -> Self where Value == V? {
    Self(function: .least, path: path) { value throws(StoreError) in V(persisted: value) }
  }

  /// The greatest value of a number or date; nil over nothing. Null and NaN are passed over.
  public static func max<V: Scalar & Comparable>(of path: KeyPath<Root, V>) -> Self where Value == V? {
    Self(function: .greatest, path: path) { value throws(StoreError) in V(persisted: value) }
  }

  public static func max<V: Scalar & Comparable>(of path: KeyPath<Root, V?>) -> Self where Value == V? {
    Self(function: .greatest, path: path) { value throws(StoreError) in V(persisted: value) }
  }
}

/// What an observer of a number hears.
public enum AggregateChange<Value> {
  /// The number when it is first there: once, before everything else, never inside the call that observes.
  case initial(Value)
  /// Another number, and what it was at the last call.
  case update(Value, was: Value)
  /// `.overflow`: it does not fit its type, until a later call says otherwise. Everything else is the last call.
  case error(StoreError)

  /// The number; nil for an error.
  public var value: Value? {
    switch self {
    case .initial(let value), .update(let value, _): value
    case .error: nil
    }
  }
}

extension Results {
  /// Runs `block` on the store's context with a number of these results once it is there, and then whenever it is another one,
  /// whoever made it so.
  ///
  /// ```swift
  /// let open = store.objects(Order.self).where { $0.isPaid == false }
  /// token = open.observe(.sum(of: \.price)) { change in
  ///   if let sum = change.value { total.text = "\(sum)" }
  /// }
  /// ```
  ///
  /// It is kept by difference, off the caller: a commit costs the rows it touched, O(log n) each. Where `upkeep` is not
  /// `.rowByRow` it costs what the results cost, and then as much as they are large. Equal questions share what keeps them.
  /// All else is as with `observe(_:)`. Keep the token, and stop it in the end.
  public func observe<Value>(
    _ aggregate: LiveAggregate<Element, Value>, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line, _ block: @escaping (AggregateChange<Value>) -> Void
  ) -> NotificationToken {
    store.bind(isolation)
    let question = Result { () throws(StoreError) in try AggregateQuestion(aggregate, of: state) }
    var last: (stored: Values.Value, value: Value)?
    return store.observe(question, state, fileID, line) { told in
      do throws(StoreError) {
        let stored = try told.get()
        if let last, last.stored == stored { return }
        let value = try aggregate.convert(stored)
        defer { last = (stored, value) }
        block(last.map { .update(value, was: $0.value) } ?? .initial(value))
      } catch {
        block(.error(error))
      }
    }
  }
}
