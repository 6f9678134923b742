import Notifications
import QueryModel
import StorageInterface
import StoreValues

/// Results with a condition that depends on a property of a live object. When the property changes, the results change at once, and
/// observers receive the difference.
///
/// ```swift
/// let shown = store.objects(Todo.self).sorted(by: \.title)
///   .filter(bind: settings, \.hidesCompleted) { todo, hides in hides ? !todo.isDone : nil }
/// token = shown.observe { change in table.apply(change) }
/// try store.write { settings.hidesCompleted = true }      // one update that deletes the rows that are done
/// ```
///
/// Live like `Results`, and confined to the store's context. Empty if the object is deleted.
public struct BoundResults<Element: Model>: RandomAccessCollection {
  private let base: ResultsState
  private let conditions: [BoundCondition]
  private let identity: BoundDescription.Identity
  private let latest = Latest()

  /// The results for the values read last: not evaluated more often than results are.
  private final class Latest { var answer: (values: [Value?], results: Results<Element>)? }

  fileprivate init(
    _ base: ResultsState, _ conditions: [BoundCondition], _ identity: BoundDescription.Identity = BoundDescription.Identity()
  ) {
    self.base = base
    self.conditions = conditions
    self.identity = identity
  }

  /// The store that is read.
  public var store: Store { base.store }

  /// The error that makes these results empty; nil if the query is valid.
  public var error: StoreError? { results.error }

  /// The results for the current values, no longer bound.
  public var results: Results<Element> {
    if base.fault != nil { return Results(base) }
    store.settleDerived()
    if store.tracksReads { for condition in conditions { store.didRead(condition.place) } }
    let values: [Value?]
    do throws(StorageError) {
      values = try ResultBinding(conditions.map(\.place)).values(in: store.reading)
    } catch {
      return Results(base.failing(StoreError(error)))
    }
    if let answer = latest.answer, answer.values == values { return answer.results }
    let condition = BoundDescription.condition(conditions, values)
    let results = Results<Element>(base.refined { $0.condition = .both($0.condition, condition) })
    latest.answer = (values, results)
    return results
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { results.count }
  /// The number of objects now.
  public var count: Int { results.count }
  /// Always 0: iteration skips objects deleted meanwhile, and callers that reserve space by this number trap if fewer follow.
  public var underestimatedCount: Int { 0 }
  /// Whether there are no objects now.
  public var isEmpty: Bool { results.isEmpty }
  /// The first object now; nil if there is none.
  public var first: Element? { results.first }
  /// The last object now; nil if there is none.
  public var last: Element? { results.last }
  /// The object at a position, with the bounds rules of `Results`.
  public subscript(position: Int) -> Element { results[position] }
  /// Iterates over the results as they are when the iterator is made.
  public func makeIterator() -> Results<Element>.Iterator { results.makeIterator() }
}

// MARK: - Binding

extension Results {
  /// The objects that also pass a condition that depends on a property of some object, such as settings or the project shown.
  /// `condition` receives the property's value and may return nil: then every object passes. Reads nothing.
  ///
  /// Sort before. The object must be in a store of the same file, and the property must be one of its stored properties; otherwise
  /// the results are empty, with `.wrongStore` or `.unknownProperty` in `error`.
  public func filter<Owner: Model, V: Scalar>(
    bind object: Owner, _ path: KeyPath<Owner, V>, _ condition: @escaping @Sendable (Field<Element>, V) -> Condition?
  ) -> BoundResults<Element> {
    BoundResults(state, []).filter(bind: object, path, condition)
  }

  /// Filters by an optional property.
  public func filter<Owner: Model, V: Scalar>(
    bind object: Owner, _ path: KeyPath<Owner, V?>, _ condition: @escaping @Sendable (Field<Element>, V?) -> Condition?
  ) -> BoundResults<Element> {
    BoundResults(state, []).filter(bind: object, path, condition)
  }
}

extension BoundResults {
  /// Binds the results to one more property.
  public func filter<Owner: Model, V: Scalar>(
    bind object: Owner, _ path: KeyPath<Owner, V>, _ condition: @escaping @Sendable (Field<Element>, V) -> Condition?
  ) -> BoundResults {
    bound(to: object, path) { condition(Field(.path([])), V(persisted: $0) ?? V._$zero)?.body.node }
  }

  /// Binds the results to one more property, an optional one.
  public func filter<Owner: Model, V: Scalar>(
    bind object: Owner, _ path: KeyPath<Owner, V?>, _ condition: @escaping @Sendable (Field<Element>, V?) -> Condition?
  ) -> BoundResults {
    bound(to: object, path) { condition(Field(.path([])), V(persisted: $0))?.body.node }
  }

  private func bound<Owner: Model>(
    to object: Owner, _ path: AnyKeyPath, _ node: @escaping @Sendable (Value) -> PredicateNode?
  ) -> BoundResults {
    let fault: StoreError
    if let context = object.context, context.store.shared === store.shared {
      if let ordinal = Owner.ordinal(of: path) {
        let place = ResultBinding.Place(context.columns[ordinal], of: ObjectKey(object._$key))
        return BoundResults(base, conditions + [BoundCondition(place: place, node: node)])
      }
      fault = .notAProperty(path, Owner._$name)
    } else {
      fault = StoreError(
        .wrongStore, "The \(Owner._$name) object that results are bound to is not of their store.",
        remedy: "Add it to the store first, or resolve its reference in this one.")
    }
    return BoundResults(base.failing(fault), conditions)
  }
}

extension Store {
  /// Reports to Observation that a property was read by its column.
  fileprivate func didRead(_ place: ResultBinding.Place) {
    for context in allContexts where context.table == place.column.table {
      if let ordinal = context.columns.firstIndex(of: place.column) { context.didRead(place.owner.rawValue, ordinal) }
    }
  }
}

// MARK: - Observing

extension BoundResults: StoreObservable {
  /// A change of the property is reported as one `.update` of that version, together with everything else that was committed. The
  /// results are then evaluated again, off the caller. While the property is unchanged, a commit costs as much as for `Results`.
  public var _$source: ObservationSource<CollectionChange<BoundResults<Element>>> {
    // What the observation keeps must not retain the store.
    let (conditions, identity) = (conditions, identity)
    return ObservationSource(store) { [base] (options) throws(StoreError) in
      _ = try base.observed()?.filter(options)
    } start: { [self] request, block in
      let bound = BoundDescription(base: base.description, conditions: conditions, identity: identity)
      let state = error.map { base.failing($0) } ?? base
      return store.observe(state, bound: bound, request) { (change: CollectionChange<Results<Element>>) in
        block(change.map { BoundResults($0.state, conditions, identity) })
      }
    } reference: { [base] in
      let (description, fault) = (base.description, base.fault)
      return {
        BoundResults(ResultsState(description, of: Element.self, in: $0, fault: fault), conditions, identity)._$source
      }
    }
  }
}
