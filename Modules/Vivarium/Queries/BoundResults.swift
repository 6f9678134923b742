import Notifications
import QueryModel
import StorageInterface
import StoreValues

/// Results of which a condition depends on a property of a live object: when that changes they are others, at once, and
/// observers hear the difference.
///
/// ```swift
/// let shown = store.objects(Todo.self).sorted(by: \.title)
///   .filter(bind: settings, \.hidesCompleted) { todo, hides in hides ? !todo.isDone : nil }
/// token = shown.observe { change in table.apply(change) }
/// try store.write { settings.hidesCompleted = true }      // one update that deletes the rows that are done
/// ```
///
/// Live as results are, and of the store's context. Where the object is deleted nothing passes.
public struct BoundResults<Element: Model>: RandomAccessCollection {
  private let base: ResultsState
  private let conditions: [BoundCondition]
  private let identity: BoundDescription.Identity
  private let latest = Latest()

  /// The results of the values that were read last: evaluated as often as results are.
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

  /// Why these are empty, when what was asked cannot be asked.
  public var error: StoreError? { results.error }

  /// The results with the values of now: not bound any more.
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
  /// How many there are now.
  public var count: Int { results.count }
  /// Nothing is promised: what a walk leaves out is not known before, and who makes room by this ends where there is less.
  public var underestimatedCount: Int { 0 }
  /// Whether there are none now.
  public var isEmpty: Bool { results.isEmpty }
  /// The first of now; nil where there are none.
  public var first: Element? { results.first }
  /// The last of now; nil where there are none.
  public var last: Element? { results.last }
  /// As of `Results`.
  public subscript(position: Int) -> Element { results[position] }
  /// Walks the results as they are when it is made.
  public func makeIterator() -> Results<Element>.Iterator { results.makeIterator() }
}

// MARK: - Binding

extension Results {
  /// The objects that also pass a condition that depends on a property of an object: of these settings, of the project that is
  /// shown. `condition` is given the property's value and may give nil: then everything passes. Reads nothing.
  ///
  /// Sort before. The object must be in a store of the same file, and the property be a stored one of it: else the results are
  /// empty, with `.wrongStore` or `.unknownProperty` in `error`.
  public func filter<Owner: Model, V: Scalar>(
    bind object: Owner, _ path: KeyPath<Owner, V>, _ condition: @escaping @Sendable (Field<Element>, V) -> Condition?
  ) -> BoundResults<Element> {
    BoundResults(state, []).filter(bind: object, path, condition)
  }

  /// The same with an optional property.
  public func filter<Owner: Model, V: Scalar>(
    bind object: Owner, _ path: KeyPath<Owner, V?>, _ condition: @escaping @Sendable (Field<Element>, V?) -> Condition?
  ) -> BoundResults<Element> {
    BoundResults(state, []).filter(bind: object, path, condition)
  }
}

extension BoundResults {
  /// The same, bound to one property more.
  public func filter<Owner: Model, V: Scalar>(
    bind object: Owner, _ path: KeyPath<Owner, V>, _ condition: @escaping @Sendable (Field<Element>, V) -> Condition?
  ) -> BoundResults {
    bound(to: object, path) { condition(Field(.path([])), V(persisted: $0) ?? V._$zero)?.body.node }
  }

  /// The same with an optional property.
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
  /// Says to Observation that a property was read by its column.
  fileprivate func didRead(_ place: ResultBinding.Place) {
    for context in allContexts where context.table == place.column.table {
      if let ordinal = context.columns.firstIndex(of: place.column) { context.didRead(place.owner.rawValue, ordinal) }
    }
  }
}

// MARK: - Observing

extension BoundResults: StoreObservable {
  /// Where the property changes the difference is reported: one `.update` of that version, together with whatever else was committed. The
  /// results are asked anew then, off the caller; as long as it stays, a commit costs what it costs results.
  public var _$source: ObservationSource<CollectionChange<BoundResults<Element>>> {
    // What is kept of these must not keep the store.
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
