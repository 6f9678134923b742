import ChangeTracker
import Notifications
import QueryModel
import StorageInterface
import StoreValues

extension Results: StoreObservable {
  public var _$source: ObservationSource<CollectionChange<Results<Element>>> { state.source { $0 } }
}

extension ResultsState {
  /// The observation source of these results. `collection` converts the reported results.
  func source<T: Model, C>(
    _ collection: @escaping @Sendable (Results<T>) -> C
  ) -> ObservationSource<CollectionChange<C>> {
    ObservationSource(store) { (options) throws(StoreError) in
      _ = try self.observed()?.filter(options)
    } start: { request, block in
      self.store.observe(self, request) { (change: CollectionChange<Results<T>>) in block(change.map(collection)) }
    } reference: {
      let (description, fault) = (self.description, self.error)
      return { ResultsState(description, of: T.self, in: $0, fault: fault).source(collection) }
    }
  }
}

extension ResultsState {
  func observed() -> ObservedProperties? { ObservedProperties(query.type, in: store) }
}

extension Store {
  /// Observes results, or a collection bound to them. `also` has paths that count besides those of the query. `follow` updates the
  /// observer's own row state when a commit that skipped the token has moved the rows.
  func observe<T: Model>(
    _ state: ResultsState, bound: BoundDescription? = nil, also: Result<[String], StoreError> = .success([]),
    _ request: ObservationRequest, follow: ((ResultObserver.Move, Store) -> Void)? = nil,
    _ block: @escaping (CollectionChange<Results<T>>) -> Void
  ) -> NotificationToken {
    let filter = Result { () throws(StoreError) in
      let paths = try also.get()
      guard let observed = state.observed() else { return ResultFilter?.none }
      return try observed.including(paths, in: observed.filter(request.options))
    }
    let (remade, keepsOldValues) = (state.remaking, request.options.includesOldValues)
    var own: () -> SharedVersion? = { nil }
    let observer = add(state, filter, bound: bound) { content, store in
      switch content {
      case .initial: block(.initial(Results(remade(store))))
      case .total: break  // not of change sets
      case .error(let error): block(.error(error))
      case .update(let change):
        let rows = ChangedRows(
          change.changes,
          ChangeDetails(T._$name, change, own: store.origin, before: keepsOldValues ? own() ?? store.observing.old : nil))
        block(
          .update(
            Results(remade(store)), deletions: change.changes.deletions, insertions: change.changes.insertions,
            modifications: rows))
      }
    }
    observer.rest = ObserverRest(request.options.throttle)
    observer.keepsOldValues = keepsOldValues
    own = { [weak observer] in observer?.oldSinceMove }
    observer.follow = follow
    return token(of: observer, request.fileID, request.line)
  }

  /// A token that retains an observer of a collection, and this store with it, until it is stopped. A wrong query is reported as where
  /// it is read: who handles no `.error` would never hear of it.
  func token(of observer: ResultObserver, _ fileID: StaticString, _ line: UInt) -> NotificationToken {
    if let fault = observer.fault, fault.isMistakeInQuery { misuse(fault, at: SourcePlace(fileID: fileID, line: line)) }
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
    _ notify: @escaping (ResultObserver.Content, Store) -> Void
  ) -> ResultObserver {
    var fault = outdated ?? state.error
    if case .failure(let error) = filter { fault = fault ?? error }
    let flag = StopFlag()
    let observer: ResultObserver
    if fault == nil, let observed = state.observed() {
      let description = state.description
      let wanted = (try? filter.get()) ?? observed.everything()
      observer = ResultObserver(
        shared.results.observe(bound?.recipe ?? description.recipe, wanted, at: deliveryPlace()), flag,
        bound == nil ? description : nil, fault: nil, notify)
      observer.bound = bound
    } else {
      observer = ResultObserver(nil, flag, nil, fault: fault ?? .unknownType(state.query.type), notify)
      deliveryPlace().wake()
    }
    add(observer)
    return observer
  }

  /// Registers an observer of a collection.
  func add(_ observer: ResultObserver) {
    if observing.hearsOfNothing, writing == nil { observing.notifiedVersion = snapshot.version }
    observing.results.append(observer)
  }
}
