import ChangeTracker
import Notifications
import QueryEngine
import QueryModel
import StorageInterface
import StoreValues

/// Live objects of one type by its name, that pass a condition, in an order: results for tools and for code that has no Swift type.
///
/// ```swift
/// let rich = try store.dynamicObjects("Account").filter("balance > %@", 1_000).sorted(byKeyPath: "owner.name")
/// token = rich.observe { change in show(change) }
/// ```
///
/// Cheap to make and to copy; evaluated on the caller, when it is read first and again after anything was written. In a write it sees
/// the write. Belongs to its store's context.
public struct DynamicResults: RandomAccessCollection {
  /// The store that is read.
  public let store: Store
  let description: ResultDescription
  let table: TableID
  private let fault: StoreError?
  /// The line of the program that asked last for what may be wrong.
  private let place: SourcePlace?
  private let evaluated = Evaluated()

  /// What it was evaluated to, and by which state of the store.
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

  /// Why these are empty, when what was asked cannot be asked.
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
  /// Nothing is promised, as of `Results`.
  public var underestimatedCount: Int { 0 }

  /// The object at a position. Outside the bounds it is one that is not in the store.
  public subscript(position: Int) -> DynamicObject {
    let keys = keys
    let key = keys.indices.contains(position) ? keys[position] : 0
    if key == 0 { store.misuse(.indexOutOfRange(position, count: keys.count)) }
    return DynamicObject(store: store, id: ObjectID(type: type, key: ObjectKey(key)), table: table)
  }
}

// MARK: - Refining

extension DynamicResults {
  /// The objects that also pass a condition in the grammar of NSPredicate (Docs/Predicates.md), with `SORT`, `DISTINCT`, `LIMIT` and
  /// `OFFSET` behind it where wanted. A mistake in the text makes them empty and is in `error`. Reads nothing.
  public func filter(
    _ format: String, _ arguments: any PredicateArgument..., fileID: StaticString = #fileID, line: UInt = #line
  ) -> DynamicResults {
    let place = SourcePlace(fileID: fileID, line: line)
    do throws(QueryError) { return try asking(format, arguments, place) } catch {
      return DynamicResults(store, description, table, fault: fault ?? StoreError(error), at: place)
    }
  }

  /// The same for a text that is not written by the programmer. Throws `.invalidQuery`, `.unknownProperty` and so on.
  public func filter(format: String, arguments: [any PredicateArgument] = []) throws(StoreError) -> DynamicResults {
    let results: DynamicResults
    do throws(QueryError) { results = try asking(format, arguments, nil) } catch { throw StoreError(error) }
    if let error = results.error { throw error }
    return results
  }

  /// In the order of a path of names. Stable: ties keep the order they had.
  public func sorted(
    byKeyPath path: String, ascending: Bool = true, fileID: StaticString = #fileID, line: UInt = #line
  ) -> DynamicResults {
    refined(at: SourcePlace(fileID: fileID, line: line)) { $0.append(.sort([SortKey(PropertyPath(path), ascending: ascending)])) }
  }

  /// Of the objects that agree in all of these paths, the first in the order so far.
  public func distinct(byKeyPaths paths: [String], fileID: StaticString = #fileID, line: UInt = #line) -> DynamicResults {
    refined(at: SourcePlace(fileID: fileID, line: line)) { $0.append(.distinct(paths.map { PropertyPath($0) })) }
  }

  /// At most the first so many.
  public func limited(to count: Int) -> DynamicResults { refined { $0.append(.limit(count)) } }

  /// All but the first so many.
  public func offset(by count: Int) -> DynamicResults { refined { $0.append(.offset(count)) } }

  private func asking(
    _ format: String, _ arguments: [any PredicateArgument], _ place: SourcePlace?
  ) throws(QueryError) -> DynamicResults {
    let query = try Query(type: type, parsing: format, arguments: arguments.map(\.queryArgument))
    // A condition is asked of what there is so far: behind a limit, of those alone.
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

  /// What is wrong already stays so, and was asked where it was.
  private func asking(_ description: ResultDescription, _ next: SourcePlace?) -> DynamicResults {
    DynamicResults(store, description, table, fault: fault, at: fault == nil ? next ?? place : place)
  }
}

// MARK: - Observing

extension DynamicResults: StoreObservable {
  /// As of `Results`, with all options but `includingOldValues`.
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
  /// Observes what is described, of a type that need not be a model of the program.
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
