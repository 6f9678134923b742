import Vivarium

/// The objects that a results controller shows: type, condition and order.
///
/// ```swift
/// let request = ResultsRequest<TaskItem>(store: store, sortedBy: [SortKey(\TaskItem.projectID), SortKey(\TaskItem.name)]) { $0.isDone == false }
/// let tasks = request.execute()
/// ```
public struct ResultsRequest<T: Model> {
  /// The store that the request was made for.
  public let store: Store
  /// The order of the rows. Sections follow the first key.
  public let sort: [SortKey]
  private let find: (Store) -> Results<T>

  /// Objects that pass `condition`, or all objects without one.
  public init(store: Store, sortedBy sort: [SortKey], where condition: ((Field<T>) -> Condition)? = nil) {
    self.init(store: store, sortedBy: sort) { store in
      let all = store.objects(T.self)
      return condition.map { all.where($0) } ?? all
    }
  }

  /// Objects found in any way. `find` is called for each store that executes the request, and leaves the order to `sort`.
  public init(store: Store, sortedBy sort: [SortKey], finding find: @escaping (Store) -> Results<T>) {
    self.store = store
    self.sort = sort
    self.find = find
  }

  /// The objects in the request's own store.
  public func execute() -> Results<T> { store.execute(self) }
}

extension Store {
  /// The request's objects in this store; the request's own store is not used.
  public func execute<T: Model>(_ request: ResultsRequest<T>) -> Results<T> { request.results(in: self) }
}

extension ResultsRequest {
  fileprivate func results(in store: Store) -> Results<T> {
    let found = find(store)
    return sort.isEmpty ? found : found.sorted(by: sort)
  }
}
