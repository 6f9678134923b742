import ChangeTracker
import Notifications
import QueryEngine
import QueryModel
import StorageInterface
import StoreValues

/// Live objects of one type given by name, filtered and sorted: results for tools and for code without a Swift type.
///
/// ```swift
/// let rich = try store.dynamicObjects("Account").filter("balance > %@", 1_000).sorted(byKeyPath: "owner.name")
/// token = rich.observe { change in show(change) }
/// ```
///
/// Cheap to make and to copy. Evaluated on the caller at the first read, and again after each write. Inside a write it sees the
/// write's changes. Belongs to its store's context.
public struct DynamicResults: PositionalCollection {
  /// The store that is read.
  public let store: Store
  let description: ResultDescription
  let table: TableID
  private let fault: StoreError?
  /// The program line of the last refinement, for error reports.
  private let place: SourcePlace?
  private let evaluated = Evaluated()

  /// The evaluated keys, and the state of the store that they belong to.
  private final class Evaluated {
    var tick: UInt64?
    var version: Version?
    var keys: [Int64] = []
  }

  init(_ store: Store, _ description: ResultDescription, _ table: TableID, fault: StoreError? = nil, at place: SourcePlace? = nil) {
    (self.store, self.description, self.table) = (store, description, table)
    (self.fault, self.place) = (fault, place)
  }

  /// The name of the type.
  public var type: String { description.query.type }

  /// Why the results are empty, if the query is invalid.
  public var error: StoreError? {
    if let fault { return fault }
    do throws(QueryError) {
      _ = try store.bound(description.query)
      return nil
    } catch { return StoreError(error) }
  }

  private var keys: [Int64] {
    store.settleDerived()
    if evaluated.tick == store.tick, evaluated.version == store.reading.version { return evaluated.keys }
    do throws(StoreError) {
      if let error { throw error }
      let reading = store.reading
      evaluated.keys = try storing { () throws(StorageError) in try description.keys(in: reading) }
    } catch {
      store.misuse(error, at: place)
      evaluated.keys = []
    }
    (evaluated.tick, evaluated.version) = (store.tick, store.reading.version)
    return evaluated.keys
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { keys.count }
  /// 0, as for `Results`.
  public var underestimatedCount: Int { 0 }

  /// The object at a position. Outside the bounds, an object that is not in the store.
  public subscript(position: Int) -> DynamicObject {
    let keys = keys
    let key = keys.indices.contains(position) ? keys[position] : 0
    if key == 0 { store.misuse(.indexOutOfRange(position, count: keys.count)) }
    return DynamicObject(store: store, id: ObjectID(type: type, key: ObjectKey(key)), table: table)
  }
}

// MARK: - Refining

extension DynamicResults {
  /// The objects that also pass a predicate in NSPredicate's grammar (Docs/Predicates.md), optionally followed by `SORT`,
  /// `DISTINCT`, `LIMIT` and `OFFSET`. A mistake in the text makes the results empty and is reported in `error`. Reads nothing.
  public func filter(
    _ format: String, _ arguments: any PredicateArgument..., fileID: StaticString = #fileID, line: UInt = #line
  ) -> DynamicResults {
    let place = SourcePlace(fileID: fileID, line: line)
    do throws(QueryError) { return try asking(format, arguments, place) } catch {
      return DynamicResults(store, description, table, fault: fault ?? StoreError(error), at: place)
    }
  }

  /// The same for a text that the programmer did not write. Throws `.invalidQuery`, `.unknownProperty` and so on.
  public func filter(format: String, arguments: [any PredicateArgument] = []) throws(StoreError) -> DynamicResults {
    let results: DynamicResults
    do throws(QueryError) { results = try asking(format, arguments, nil) } catch { throw StoreError(error) }
    if let error = results.error { throw error }
    return results
  }

  /// The objects sorted by a path of names. Stable: ties keep their previous order.
  public func sorted(
    byKeyPath path: String, ascending: Bool = true, fileID: StaticString = #fileID, line: UInt = #line
  ) -> DynamicResults {
    refined(at: SourcePlace(fileID: fileID, line: line)) { $0.append(.sort([SortKey(PropertyPath(path), ascending: ascending)])) }
  }

  /// For each combination of values at these paths, the first object in the present order.
  public func distinct(byKeyPaths paths: [String], fileID: StaticString = #fileID, line: UInt = #line) -> DynamicResults {
    refined(at: SourcePlace(fileID: fileID, line: line)) { $0.append(.distinct(paths.map { PropertyPath($0) })) }
  }

  /// At most the first `count` objects.
  public func limited(to count: Int) -> DynamicResults { refined { $0.append(.limit(count)) } }

  /// All but the first `count` objects.
  public func offset(by count: Int) -> DynamicResults { refined { $0.append(.offset(count)) } }

  private func asking(
    _ format: String, _ arguments: [any PredicateArgument], _ place: SourcePlace?
  ) throws(QueryError) -> DynamicResults {
    let query = try Query(type: type, parsing: format, arguments: arguments.map(\.queryArgument))
    // A condition applies to the present result: after a limit, only to the limited rows.
    let asksAll = description.query.limit == nil && description.query.clauses.isEmpty
    var next = asksAll ? description.query : Query(type: type)
    next.condition = asksAll ? .both(next.condition, query.condition) : query.condition
    if !query.sort.isEmpty { next.append(.sort(query.sort)) }
    if let limit = query.limit { next.append(.limit(limit)) }
    for clause in query.clauses { next.append(clause) }
    return asking(ResultDescription(query: next, source: asksAll ? description.source : .results(description)), place)
  }

  private func refined(at place: SourcePlace? = nil, _ change: (inout Query) -> Void) -> DynamicResults {
    var query = description.query
    change(&query)
    return asking(ResultDescription(query: query, source: description.source), place)
  }

  /// Keeps an earlier error, and its place.
  private func asking(_ description: ResultDescription, _ next: SourcePlace?) -> DynamicResults {
    DynamicResults(store, description, table, fault: fault, at: fault == nil ? next ?? place : place)
  }
}

// MARK: - Observing

extension DynamicResults: StoreObservable {
  /// As for `Results`, with all options except `includingOldValues`.
  public var _$source: ObservationSource<CollectionChange<DynamicResults>> {
    let (description, table, fault) = (description, table, fault)
    return ObservationSource(store) { [store] (options) throws(StoreError) in
      _ = try ObservedProperties(description.query.type, in: store)?.filter(options)
    } start: { [store, error] request, block in
      store.observe(description, fault: error, request) { content, store in
        let now = DynamicResults(store, description, table, fault: fault)
        switch content {
        case .initial: block(.initial(now))
        case .total: break  // not of change sets
        case .error(let error): block(.error(error))
        case .update(let change):
          block(
            .update(
              now, deletions: change.changes.deletions, insertions: change.changes.insertions,
              modifications: ChangedRows(change.changes, ChangeDetails(description.query.type, change, own: store.origin))))
        }
      }
    } reference: {
      { DynamicResults($0, description, table, fault: fault)._$source }
    }
  }
}

extension Store {
  /// Observes described results of a type that need not be a model of the program.
  fileprivate func observe(
    _ description: ResultDescription, fault: StoreError?, _ request: ObservationRequest,
    _ notify: @escaping (ResultObserver.Content, Store) -> Void
  ) -> NotificationToken {
    var fault = outdated ?? fault
    var observation: ResultObservation?
    do throws(StoreError) {
      if fault == nil {
        guard let observed = ObservedProperties(description.query.type, in: self) else { throw .unknownType(description.query.type) }
        observation = shared.results.observe(description.recipe, try observed.filter(request.options), at: deliveryPlace())
      }
    } catch { fault = error }
    if observation == nil { deliveryPlace().wake() }
    let observer = ResultObserver(observation, StopFlag(), observation == nil ? nil : description, fault: fault, notify)
    observer.rest = ObserverRest(request.options.throttle)
    add(observer)
    return token(of: observer, request.fileID, request.line)
  }
}
