import ChangeTracker
import Notifications
import QueryModel
import StorageInterface
import StoreValues

extension Results {
  /// Runs `block` on the store's context with the collection once it is there, and then with what changed, whoever changed
  /// it: this context, another, another process.
  ///
  /// The query runs elsewhere, never on the caller. Any number of commits between two calls are one change set. Changes
  /// of other objects count as a modification of the rows that lead to them over up to three links. All blocks of a turn
  /// see one version of the store, and none runs inside a write. What cannot be asked is told as `.error`.
  ///
  /// Keep the token, and stop it in the end: it keeps the store, and what the block captures.
  public func observe(
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping (CollectionChange<Results<Element>>) -> Void
  ) -> NotificationToken {
    if let refused = store.tokenElsewhere(fileID, line) { return refused }
    store.bind(isolation)
    return store.observe(state, .success(nil), fileID, line, block)
  }

  /// The same, where only modifications of some of the rows' properties count. Deletions, insertions and moves are always
  /// told. Paths that are no persisted properties are told as `.error`.
  public func observe(
    keyPaths: [PartialKeyPath<Element>], isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping (CollectionChange<Results<Element>>) -> Void
  ) -> NotificationToken {
    if let refused = store.tokenElsewhere(fileID, line) { return refused }
    store.bind(isolation)
    let filter = Result { () throws(StoreError) -> ResultFilter? in
      try state.observed()?.only(keyPaths.map { path throws(StoreError) in
        guard let name = Element.propertyName(of: path) else { throw .notAProperty(path, Element._$name) }
        return name
      })
    }
    return store.observe(state, filter, fileID, line, block)
  }

  /// The same by names: `observingProperties: ["name", "dogs.name", "dogs.*"]`. Each name of a path counts: another dog
  /// is a change of `dogs.name` too. `.unknownProperty` for what leads nowhere.
  public func observe(
    observingProperties names: [String], isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping (CollectionChange<Results<Element>>) -> Void
  ) throws(StoreError) -> NotificationToken {
    try store.checkContext("observe")
    store.bind(isolation)
    return store.observe(state, .success(try state.observed()?.only(names)), fileID, line, block)
  }

  /// The same for all properties but some. `.unknownProperty` for names that are none.
  public func observe(
    ignoringProperties names: [String], isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping (CollectionChange<Results<Element>>) -> Void
  ) throws(StoreError) -> NotificationToken {
    try store.checkContext("observe")
    store.bind(isolation)
    return store.observe(state, .success(try state.observed()?.ignoring(names)), fileID, line, block)
  }
}

extension Results {
  /// The same in its own time and with more to see.
  ///
  /// - Parameter names: which properties count, as above; nil: all.
  /// - Parameter throttle: how long to wait after each call at least. What happens meanwhile comes as one change, and
  ///   nothing is lost; the first call comes at once, and `refresh()` and the beginning of a write do not wait.
  /// - Parameter includingOldValues: whether `change.details` has the deleted and modified objects as they were. The store
  ///   then keeps one older version in the file between a commit and the call that tells of it.
  ///
  /// ```swift
  /// token = try prices.observe(throttle: .milliseconds(250), includingOldValues: true) { change in
  ///   for old in change.details?.deletedObjects(Price.self) ?? [] { archive(old.name, old.amount) }
  /// }
  /// ```
  public func observe(
    observingProperties names: [String]? = nil, throttle: Duration? = nil, includingOldValues: Bool,
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping (CollectionChange<Results<Element>>) -> Void
  ) throws(StoreError) -> NotificationToken {
    try store.checkContext("observe")
    store.bind(isolation)
    var filter: ResultFilter?
    if let names { filter = try state.observed()?.only(names) }
    return store.observe(
      state, .success(filter), throttle: throttle, keepsOldValues: includingOldValues, fileID, line, block)
  }

  /// The same with a rest after each call: see the one with `includingOldValues`.
  public func observe(
    observingProperties names: [String]? = nil, throttle: Duration, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping (CollectionChange<Results<Element>>) -> Void
  ) throws(StoreError) -> NotificationToken {
    try observe(
      observingProperties: names, throttle: throttle, includingOldValues: false, isolation: isolation, fileID: fileID,
      line: line, block)
  }
}

extension ResultsState {
  func observed() -> ObservedProperties? { ObservedProperties(query.type, in: store) }
}

extension Store {
  /// An observation by a filter, or by everything where there is none; of the results, or of what is bound of them.
  func observe<T: Model>(
    _ state: ResultsState, _ filter: Result<ResultFilter?, StoreError>, bound: BoundDescription? = nil,
    throttle: Duration? = nil, keepsOldValues: Bool = false, _ fileID: StaticString, _ line: UInt,
    _ block: @escaping (CollectionChange<Results<T>>) -> Void
  ) -> NotificationToken {
    let remade = state.remaking
    return observe(state, filter, bound: bound, throttle: throttle, keepsOldValues: keepsOldValues, fileID, line) { content, store in
      switch content {
      case .initial: block(.initial(Results(remade(store))))
      case .total: break  // not of change sets
      case .error(let error): block(.error(error))
      case .update(let change):
        let rows = ChangedRows(
          change.changes, ChangeDetails(T._$name, change, own: store.origin, before: keepsOldValues ? store.old : nil))
        block(
          .update(
            Results(remade(store)), deletions: change.changes.deletions, insertions: change.changes.insertions,
            modifications: rows))
      }
    }
  }

  func observe(
    _ state: ResultsState, _ filter: Result<ResultFilter?, StoreError>, bound: BoundDescription? = nil,
    throttle: Duration? = nil, keepsOldValues: Bool = false, _ fileID: StaticString, _ line: UInt,
    _ tell: @escaping (ResultObserver.Content, Store) -> Void
  ) -> NotificationToken {
    let observer = add(state, filter, bound: bound, tell)
    observer.throttle = throttle
    observer.keepsOldValues = keepsOldValues
    return token(of: observer, fileID, line)
  }

  /// What keeps an observer of a collection, and this store with it, until it is stopped.
  func token(of observer: ResultObserver, _ fileID: StaticString, _ line: UInt) -> NotificationToken {
    let (notifier, observation, flag) = (shared.results, observer.observation, observer.flag)
    let anchor = StoreAnchor(self)
    return NotificationToken(fileID: fileID, line: line, subject: observation) {
      flag.stop()
      if let observation { notifier.stop(observation) }
      StoreAnchor.release(anchor)
    }
  }

  func add(
    _ state: ResultsState, _ filter: Result<ResultFilter?, StoreError>, bound: BoundDescription? = nil,
    _ tell: @escaping (ResultObserver.Content, Store) -> Void
  ) -> ResultObserver {
    var fault = outdated ?? state.error
    if case .failure(let error) = filter { fault = fault ?? error }
    let flag = StopFlag()
    let observer: ResultObserver
    if fault == nil, let everything = state.observed()?.everything() {
      let description = state.description
      let wanted = (try? filter.get()) ?? everything
      observer = ResultObserver(
        shared.results.observe(bound?.recipe ?? description.recipe, wanted, at: deliveryPlace()), flag,
        bound == nil ? description : nil, fault: nil, tell)
      observer.bound = bound
    } else {
      observer = ResultObserver(nil, flag, nil, fault: fault ?? .unknownType(state.query.type), tell)
      deliveryPlace().wake()
    }
    add(observer)
    return observer
  }

  /// Registers an observer of a collection.
  func add(_ observer: ResultObserver) {
    if resultObservers.isEmpty, observers.isEmpty, writing == nil { notifiedVersion = snapshot.version }
    resultObservers.append(observer)
  }
}
