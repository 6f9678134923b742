import Notifications
import QueryModel
import StoreValues

/// An aggregate that can be kept up to date over results: `.count`, `.sum(of:)`, `.average(of:)`, `.min(of:)`, `.max(of:)`. See
/// `Results.observe(_:_:)`.
public struct LiveAggregate<Root: Model, Value> {
  enum Function { case count, sum, average, least, greatest }

  let function: Function
  /// The property's name, or the error if the path has none; nil for a count.
  let property: Result<String, StoreError>?
  /// Converts the stored value to `Value`. `.overflow` if it does not fit.
  let convert: @Sendable (StoreValues.Value) throws(StoreError) -> Value

  init(
    function: Function, path: PartialKeyPath<Root>?, _ convert: @escaping @Sendable (StoreValues.Value) throws(StoreError) -> Value
  ) {
    self.function = function
    property = path.map { path in
      Root.propertyName(of: path).map { .success($0) } ?? .failure(.notAProperty(path, Root._$name))
    }
    self.convert = convert
  }

  init(
    _ function: Function, _ property: Result<String, StoreError>?,
    _ convert: @escaping @Sendable (StoreValues.Value) throws(StoreError) -> Value
  ) {
    (self.function, self.property, self.convert) = (function, property, convert)
  }
}

extension LiveAggregate where Value == Int {
  /// The number of rows.
  public static var count: Self {
    Self(function: .count, path: nil) { value throws(StoreError) in Int(persisted: value) ?? 0 }
  }
}

extension LiveAggregate {
  /// The sum of a property; 0 if there are no values. Ignores null. Reals are added exactly and rounded once, so the sum does not
  /// depend on the history of changes; it may differ from `Results.sum(of:)` in the last digit.
  public static func sum(of path: KeyPath<Root, Value>) -> Self where Value: Scalar & Numeric {
    let name = Root.propertyName(of: path)
    return Self(function: .sum, path: path) { value throws(StoreError) in try Results<Root>.sum(value, of: name) }
  }

  /// The sum of an optional property; 0 if there are no values. Ignores null.
  public static func sum(of path: KeyPath<Root, Value?>) -> Self where Value: Scalar & Numeric {
    let name = Root.propertyName(of: path)
    return Self(function: .sum, path: path) { value throws(StoreError) in try Results<Root>.sum(value, of: name) }
  }

  /// The mean of a property; nil if there are no values.
  public static func average<V: Scalar & Numeric>(of path: KeyPath<Root, V>) -> Self where Value == Double? {
    Self(function: .average, path: path) { value throws(StoreError) in Double(persisted: value) }
  }

  /// The mean of an optional property; nil if there are no values. Ignores null.
  public static func average<V: Scalar & Numeric>(of path: KeyPath<Root, V?>) -> Self where Value == Double? {
    Self(function: .average, path: path) { value throws(StoreError) in Double(persisted: value) }
  }

  /// The least value of a number or date; nil if there is none. Ignores null and NaN.
  public static func min<V: Scalar & Comparable>(of path: KeyPath<Root, V>) -> Self where Value == V? {
    Self(function: .least, path: path) { value throws(StoreError) in V(persisted: value) }
  }

  /// The least value of an optional number or date; nil if there is none. Ignores null and NaN.
  public static func min<V: Scalar & Comparable>(of path: KeyPath<Root, V?>) -> Self where Value == V? {
    Self(function: .least, path: path) { value throws(StoreError) in V(persisted: value) }
  }

  /// The greatest value of a number or date; nil if there is none. Ignores null and NaN.
  public static func max<V: Scalar & Comparable>(of path: KeyPath<Root, V>) -> Self where Value == V? {
    Self(function: .greatest, path: path) { value throws(StoreError) in V(persisted: value) }
  }

  /// The greatest value of an optional number or date; nil if there is none. Ignores null and NaN.
  public static func max<V: Scalar & Comparable>(of path: KeyPath<Root, V?>) -> Self where Value == V? {
    Self(function: .greatest, path: path) { value throws(StoreError) in V(persisted: value) }
  }
}

extension LiveAggregate where Value == Decimal128 {
  /// The sum of decimals; 0 if there are no values. Ignores null. Added exactly and rounded to 34 digits once.
  public static func sum(of path: KeyPath<Root, Decimal128>) -> Self {
    Self(function: .sum, path: path) { value throws(StoreError) in Decimal128(persisted: value) ?? 0 }
  }

  /// The sum of an optional decimal property; 0 if there are no values. Ignores null.
  public static func sum(of path: KeyPath<Root, Decimal128?>) -> Self {
    Self(function: .sum, path: path) { value throws(StoreError) in Decimal128(persisted: value) ?? 0 }
  }
}

extension LiveAggregate where Value == Decimal128? {
  /// The mean of decimals, as a decimal; nil if there are no values.
  public static func average(of path: KeyPath<Root, Decimal128>) -> Self {
    Self(function: .average, path: path) { value throws(StoreError) in Decimal128(persisted: value) }
  }

  /// The mean of an optional decimal property, as a decimal; nil if there are no values. Ignores null.
  public static func average(of path: KeyPath<Root, Decimal128?>) -> Self {
    Self(function: .average, path: path) { value throws(StoreError) in Decimal128(persisted: value) }
  }
}

/// A change reported to the observer of an aggregate.
public enum AggregateChange<Value> {
  /// The first number: reported once, before everything else, never inside the call that observes.
  case initial(Value)
  /// A new number; `was`, the number of the last call that had one, or of a later commit that skipped the token; and how the new
  /// one came about: the versions, who wrote, and where. After an error, `was` may equal the number. Positions, identities and
  /// members are empty.
  case update(Value, was: Value, details: ChangeDetails)
  /// `.overflow` if the number does not fit its type; a later call may bring a number again. Any other error is the last call.
  case error(StoreError)

  /// The number; nil for an error.
  public var value: Value? {
    switch self {
    case .initial(let value), .update(let value, _, _): value
    case .error: nil
    }
  }

  /// How an update came about; nil for the other cases.
  public var details: ChangeDetails? {
    if case .update(_, _, let details) = self { details } else { nil }
  }
}

/// An aggregate of results that can be observed: `results.aggregate(.sum(of: \.price))`.
///
/// Live, like the results. Kept incrementally, off the caller: a commit costs the rows it touched, O(log n) each. If
/// `Results.upkeep` is not `.rowByRow`, it costs as much as keeping the results, plus their size. Equal aggregates of equal queries
/// are kept once.
public struct ResultAggregate<Root: Model, Value>: StoreObservable {
  let state: ResultsState
  let aggregate: LiveAggregate<Root, Value>

  /// Only the `ObservationOptions` about timing apply; a number has no properties.
  public var _$source: ObservationSource<AggregateChange<Value>> {
    let (state, aggregate) = (state, aggregate)
    return ObservationSource(state.store) { (options) throws(StoreError) in
      _ = try state.observed()?.filter(options)
    } start: { request, block in
      let question = Result { () throws(StoreError) in
        _ = try state.observed()?.filter(request.options)
        return try AggregateQuestion(aggregate, of: state)
      }
      let news = AggregateNews(aggregate)
      return state.store.observe(question, request) { if let change = news.change($0, known: $1, $2) { block(change) } }
    } reference: {
      let (description, fault) = (state.description, state.error)
      let (function, property, convert) = (aggregate.function, aggregate.property, aggregate.convert)
      return { store in
        let state = ResultsState(description, of: Root.self, in: store, fault: fault)
        return ResultAggregate(state: state, aggregate: LiveAggregate(function, property, convert))._$source
      }
    }
  }
}

/// What an observer of an aggregate was notified of. Confined to the store's context.
private final class AggregateNews<Root: Model, Value> {
  private let aggregate: LiveAggregate<Root, Value>
  private var last: (stored: StoreValues.Value, value: Value)?
  /// The version of the last call, if the notifier has since reported changes that left the number as it is.
  private var lastVersion: Version?
  /// Whether the last call was an error.
  private var isOver = false

  init(_ aggregate: LiveAggregate<Root, Value>) { self.aggregate = aggregate }

  /// The change to report for a number that may be new; nil if it is not.
  func change(
    _ result: Result<StoreValues.Value, StoreError>, known: StoreValues.Value?, _ details: ChangeDetails?
  ) -> AggregateChange<Value>? {
    do throws(StoreError) {
      // A commit that skipped the observer has changed the number meanwhile.
      if let known, let notified = last, notified.stored != known, let value = try? aggregate.convert(known) {
        (last, lastVersion) = ((known, value), nil)
      }
      let stored = try result.get()
      if let last, last.stored == stored, !isOver {
        lastVersion = lastVersion ?? details?.fromVersion
        return nil
      }
      defer { lastVersion = nil }
      let value = try aggregate.convert(stored)
      isOver = false
      defer { last = (stored, value) }
      guard let before = last, let details else { return .initial(value) }
      let whole = ChangeDetails(details, from: lastVersion ?? details.fromVersion)
      return .update(value, was: before.value, details: whole)
    } catch {
      if isOver, error.code == .overflow { return nil }
      isOver = true
      lastVersion = nil
      return .error(error)
    }
  }
}

extension Results {
  /// An aggregate of these results, to be observed. Reads nothing.
  public func aggregate<Value>(_ aggregate: LiveAggregate<Element, Value>) -> ResultAggregate<Element, Value> {
    ResultAggregate(state: state, aggregate: aggregate)
  }

  /// Runs `block` on the store's context with the first value of an aggregate of these results, and again whenever any writer
  /// changes it. The same as observing `aggregate(_:)`.
  ///
  /// ```swift
  /// let open = store.objects(Order.self).where { $0.isPaid == false }
  /// token = open.observe(.sum(of: \.price)) { change in
  ///   if let sum = change.value { total.text = "\(sum)" }
  /// }
  /// ```
  public func observe<Value>(
    _ aggregate: LiveAggregate<Element, Value>, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line, _ block: @escaping (AggregateChange<Value>) -> Void
  ) -> NotificationToken {
    self.aggregate(aggregate).observe(isolation: isolation, fileID: fileID, line: line, block)
  }
}
