import ChangeTracker
import QueryEngine
import QueryModel
import StorageInterface
import StoreValues

/// A result as a description, with its last evaluation.
@usableFromInline final class ResultsState {
  /// The objects that the query applies to.
  enum Source {
    case all
    case list(ListHandle)
    /// The objects whose relationship points to one object.
    case sources(of: ObjectKey, through: ColumnID)
    /// Other results, whose order or limit comes first.
    case results(ResultsState)
    case nothing
  }

  let store: Store
  @usableFromInline let context: ModelContext
  /// The query without the last condition that was added.
  private let base: Query
  private let narrowing: FieldBody?
  let source: Source
  /// An error from before binding: a key path that is not a property.
  let fault: StoreError?
  /// The source line of the last clause that may be wrong: a condition, or an order.
  let place: SourcePlace?
  /// Nil until something is evaluated that takes longer than allocating it: most results are only refined, or counted over an
  /// index.
  private(set) var findings: ResultFindings?

  /// The outcome of binding the query. Not a `Result`: instantiating one for an error type costs part of the time to open a store.
  enum Binding {
    case success(BoundQuery)
    case failure(StoreError)

    func get() throws(StoreError) -> BoundQuery {
      switch self {
      case .success(let bound): return bound
      case .failure(let error): throw error
      }
    }
  }

  init(
    _ store: Store, _ context: ModelContext, _ query: Query, _ source: Source, fault: StoreError? = nil,
    narrowedBy narrowing: FieldBody? = nil, at place: SourcePlace? = nil
  ) {
    self.store = store
    self.context = context
    base = query
    self.narrowing = narrowing
    self.source = source
    self.fault = fault
    self.place = place
  }

  private var found: ResultFindings {
    if let findings { return findings }
    let made = ResultFindings()
    findings = made
    return made
  }

  /// The whole query. Built when first needed.
  var query: Query {
    guard let narrowing else { return base }
    if let query = findings?.query { return query }
    var query = base
    query.condition = .both(query.condition, narrowing.node)
    found.query = query
    return query
  }

  /// The results with one more condition.
  @usableFromInline func narrowed(by condition: FieldBody, _ fileID: StaticString, _ line: UInt) -> ResultsState {
    let place = SourcePlace(fileID: fileID, line: line)
    if narrowing == nil, base.limit == nil, base.clauses.isEmpty {
      return ResultsState(store, context, base, source, fault: fault, narrowedBy: condition, at: self.place(or: place))
    }
    let node = condition.node
    return refined(at: place) { $0.condition = .both($0.condition, node) }
  }

  /// Whether this is every object of a type.
  private var isEverything: Bool {
    guard case .all = source, narrowing == nil, case .constant(true) = base.condition else { return false }
    return base.sort.isEmpty && base.clauses.isEmpty
  }

  /// Determines a row's position; nil if rows are not ordered by their own values. Computed once.
  var order: (any ViewQuestion)? {
    if let ordering = findings?.ordering { return ordering }
    let made = description.order(in: store.reading.catalog)
    found.ordering = .some(made)
    return made
  }

  var error: StoreError? {
    if let fault { return fault }
    if case .results(let outer) = source, let error = outer.error { return error }
    if case .failure(let error) = bound() { return error }
    return nil
  }

  func bound() -> Binding {
    if let binding = findings?.binding { return binding }
    let made: Binding
    if context.table.rawValue == 0 {
      made = .failure(.unknownType(context.schema.name))
    } else {
      do throws(QueryError) {
        made = .success(try store.bound(query))
      } catch {
        made = .failure(StoreError(error))
      }
    }
    found.binding = made
    return made
  }
}

extension ResultsState {
  /// The tick that must be unchanged for the snapshot to be current. Read at every access, so the reach is determined once.
  var currentStamp: UInt64 {
    switch findings?.reach ?? findReach() {
    case .membership: context.raw.pointee.membershipTick
    case .ownTable: context.tick
    case .store: store.tick
    }
  }

  private func findReach() -> ResultFindings.Reach {
    var reach = ResultFindings.Reach.store
    if case .all = source, case .success(let bound) = bound(), !bound.followsLinks {
      reach = isEverything ? .membership : .ownTable
    }
    found.reach = reach
    return reach
  }

  /// The keys, evaluated at most once per version. Empty if the query cannot be evaluated; see `error`.
  func keys() -> KeySnapshot {
    assert(store.reportsReadElsewhere())
    store.settleDerived()
    if store.tracksReads { didRead() }
    if let fresh { return fresh }
    let stamp = currentStamp
    var made: KeySnapshot
    var failure: StoreError?
    do throws(StoreError) {
      made = try evaluate()
    } catch {
      store.misuse(error, at: faultPlace)
      (made, failure) = (.empty, error)
    }
    if let count = countSaid(stamp), count != made.count {
      failure = failure ?? .miscounted(context.schema.name, count, made.count)
      if let failure, self.error == nil { store.misuse(failure) }
      made = made.resized(to: count)
    }
    let found = found
    found.snapshot = made
    found.stamp = stamp
    found.version = failure == nil && store.readsCommitted ? store.snapshot.version : nil
    found.failure = failure
    return made
  }

  /// The number of rows according to the counters and indexes that `count` uses before the keys are known; nil if it uses neither.
  /// In a damaged file this number can differ from the number of keys. The standard library ends the process when a collection
  /// reports one and then the other, so the first number stays.
  private func countSaid(_ stamp: UInt64) -> Int? {
    // An invalid query is empty by either.
    if store.isKept(self) || error != nil { return nil }
    if let known = findings?.knownCount, known.stamp == stamp { return known.count }
    return isEverything ? try? counted() : indexedCount
  }

  /// Counts every object of a type.
  private func counted() throws(StorageError) -> Int {
    let count = try store.reading.count(context.table)
    return query.limit.map { min($0, count) } ?? count
  }

  /// The keys, for callers that can throw.
  func checkedKeys() throws(StoreError) -> KeySnapshot {
    if let error { throw error }
    let keys = keys()
    if let failure = findings?.failure { throw failure }
    return keys
  }

  /// Reports to Observation what was read; called while reads are tracked.
  func didRead() {
    context.didReadResults()
    // Which other types the query reads is not determined: report all of them. A query of the sources of an object reports its own
    // type alone.
    switch source {
    case .all where readsOneType: return
    case .sources: if case .success(let bound) = bound(), !bound.followsLinks { return }
    case .all, .list, .results, .nothing: break
    }
    store.allContexts.forEach { $0.didReadResults() }
  }

  private var readsOneType: Bool {
    if let reach = findings?.reach { return reach != .store }
    // Binding costs much more than what an index says. An order may follow links.
    return (base.sort.isEmpty && wholeIndex != nil) || findReach() != .store
  }

  /// The query and its source, as a value.
  var description: ResultDescription {
    let value: ResultDescription.Source =
      switch source {
      case .all: .all
      case .nothing: .nothing
      case .list(let list): .list(list.column, of: ObjectKey(list.key))
      case .sources(let target, let column): .sources(of: target, through: column)
      case .results(let outer): .results(outer.description)
      }
    return ResultDescription(query: query, source: value)
  }

  /// Recreates these results, for code that must not retain the store.
  var remaking: (Store) -> ResultsState {
    let (context, query, fault, place) = (context, query, fault, place)
    let source: (Store) -> Source
    switch self.source {
    case .all: source = { _ in .all }
    case .nothing: source = { _ in .nothing }
    case .sources(let target, let column): source = { _ in .sources(of: target, through: column) }
    case .list(let list):
      let (owner, key, ordinal) = (list.context, list.key, list.ordinal)
      source = { .list(ListHandle(store: $0, context: owner, key: key, ordinal: ordinal)) }
    case .results(let outer):
      let remade = outer.remaking
      source = { .results(remade($0)) }
    }
    return { ResultsState($0, context, query, source($0), fault: fault, at: place) }
  }

  private func evaluate() throws(StoreError) -> KeySnapshot {
    if let error { throw error }
    if let kept = store.keptState(of: self) { return KeySnapshot(kept) }
    store.reader.evaluationCount += 1
    let bound = try bound().get()
    let reading = store.reading
    if isEverything {
      let all = try storing { () throws(StorageError) in try KeySnapshot(of: context.table, in: reading) }
      return query.limit.map { all.prefix($0) } ?? all
    }
    guard case .all = source else {
      let description = description
      return KeySnapshot(try storing { () throws(StorageError) in try description.keys(in: reading) })
    }
    return KeySnapshot(try storing { () throws(StorageError) in try bound.keys(in: reading) })
  }
}

extension ResultsState {
  /// Counts without creating the keys, if they are not known yet.
  var count: Int {
    assert(store.reportsReadElsewhere())
    store.settleDerived()
    if store.tracksReads { didRead() }
    if let fresh { return fresh.count }
    if store.isKept(self) { return keys().count }
    if let count = indexedCount { return count }
    if let count = freshCount { return count }
    guard case .all = source, error == nil, case .success(let bound) = bound() else { return keys().count }
    // A caller that asked for an order reads the objects next: testing every row twice would cost more than sorting.
    if !query.sort.isEmpty, query.condition != .constant(true) { return keys().count }
    do throws(StorageError) {
      if isEverything { return try counted() }
      let all = try bound.count(in: store.reading)
      let count = query.limit.map { min($0, all) } ?? all
      // Binding the query has created the findings.
      findings?.knownCount = KnownCount(currentStamp, count, store.readsCommitted ? store.snapshot.version : nil)
      return count
    } catch {
      store.misuse(StoreError(error))
      return 0
    }
  }

  /// The count if the condition, and nothing behind it, is one indexed integer equal to a constant: the query is not even bound. Nil
  /// for any other query, and on any error.
  private var indexedCount: Int? { wholeIndex.flatMap { try? store.reading.count(in: $0.index, equalTo: $0.value) } }

  /// The index whose entries for a value are the whole result.
  private var wholeIndex: (index: IndexID, value: Int64)? {
    guard case .all = source, fault == nil, base.limit == nil, base.clauses.isEmpty, let (name, value) = equality,
      let ordinal = context.ordinal(named: name), let index = context.integerIndexes[ordinal]
    else { return nil }
    return (index, value)
  }

  /// The property and the integer, if the condition is their equality.
  private var equality: (name: String, value: Int64)? {
    if let narrowing {
      guard case .comparison(let path, .equal, .int(let value)) = narrowing, path.count == 1,
        case .constant(true) = base.condition
      else { return nil }
      return (path[0], value)
    }
    guard case .comparison(let comparison) = base.condition, comparison.comparator == .equal,
      case .path(let path) = comparison.left, case .constant(.int(let value)) = comparison.right, path.components.count == 1
    else { return nil }
    return (path.components[0], value)
  }

  var firstKey: Int64? {
    assert(store.reportsReadElsewhere())
    store.settleDerived()
    if store.tracksReads { didRead() }
    if let fresh { return fresh.count == 0 ? nil : fresh[0] }
    if store.isKept(self) { return keys().first }
    guard case .all = source, error == nil, case .success(let bound) = bound() else {
      let keys = keys()
      return keys.count == 0 ? nil : keys[0]
    }
    store.reader.evaluationCount += 1
    do throws(StorageError) {
      return try bound.first(in: store.reading)?.rawValue
    } catch {
      store.misuse(StoreError(error))
      return nil
    }
  }

  /// Whether an object is in the result; avoids evaluating it if possible.
  func contains(_ key: Int64) -> Bool {
    assert(store.reportsReadElsewhere())
    store.settleDerived()
    if store.tracksReads { didRead() }
    if let fresh, !fresh.isView { return fresh.index(of: key) != nil }
    guard case .all = source, query.limit == nil, query.clauses.isEmpty, case .success(let bound) = bound(), fault == nil else {
      return keys().index(of: key) != nil
    }
    return store.reported(try bound.matches(ObjectKey(key), in: store.reading)) ?? false
  }
}

extension StoreError {
  fileprivate static func miscounted(_ type: String, _ count: Int, _ found: Int) -> StoreError {
    StoreError(
      .corrupt, "The file counts \(count) objects of '\(type)' where there are \(found).",
      remedy: "Restore it from a copy, or copy what can still be read into a new store: 'inspect verify' says more.")
  }
}
