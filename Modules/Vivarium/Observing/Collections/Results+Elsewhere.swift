import Dispatch
import Notifications
import QueryModel

extension Results {
  /// Observes on a serial queue, wherever the caller is: the block gets the same results as a store of that queue has them,
  /// to be used there. All else is as with `observe(_:)`; the first call has everything that was committed before this
  /// one.
  ///
  /// ```swift
  /// token = store.objects(Item.self).observe(on: indexing) { change in index(change.collection) }
  /// ```
  public func observe(
    on queue: DispatchQueue, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping @Sendable (CollectionChange<Results<Element>>) -> Void
  ) -> NotificationToken {
    let (description, fault) = (state.description, error)
    return store.observe(on: queue, fileID, line) { store in
      let results = Results(ResultsState(description, of: Element.self, in: store, fault: fault))
      return results.observe(isolation: nil, fileID: fileID, line: line) { block($0) }
    } fail: { block(.error($0)) }
  }

  /// Observes on an actor, which the block is given: it may use the actor's state without waiting. The results are those of
  /// a store of that actor. Until the token is stopped the observation keeps the actor.
  ///
  /// ```swift
  /// token = store.objects(Item.self).observe(on: index) { index, change in index.update(change) }
  /// ```
  public func observe<A: Actor>(
    on actor: A, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping @Sendable (isolated A, CollectionChange<Results<Element>>) -> Void
  ) -> NotificationToken {
    let (description, fault) = (state.description, error)
    return store.observe(on: actor, fileID, line) { store in
      let results = Results(ResultsState(description, of: Element.self, in: store, fault: fault))
      return results.observe(isolation: nil, fileID: fileID, line: line) { actor.tell($0, block) }
    } fail: { actor, error in block(actor, .error(error)) }
  }
}

extension Model {
  /// Observes this object on a serial queue, wherever the caller is. What is committed after this call is told.
  public func observe(
    on queue: DispatchQueue, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping @Sendable (ObjectChange) -> Void
  ) -> NotificationToken {
    guard let store else {
      block(.error(StoreError(.wrongStore, "A \(Self._$name) that is in no store cannot be observed by a store.")))
      return .ended(fileID, line)
    }
    let key = _$key
    return store.observe(on: queue, fileID, line) { store in
      let object: Self = store.live(key)
      return object.observe(isolation: nil, fileID: fileID, line: line) { block($0) }
    } fail: { block(.error($0)) }
  }

  /// Observes this object on an actor, which the block is given.
  public func observe<A: Actor>(
    on actor: A, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping @Sendable (isolated A, ObjectChange) -> Void
  ) -> NotificationToken {
    guard let store else {
      Task { await Self.refuse(on: actor, block) }
      return .ended(fileID, line)
    }
    let key = _$key
    return store.observe(on: actor, fileID, line) { store in
      let object: Self = store.live(key)
      return object.observe(isolation: nil, fileID: fileID, line: line) { actor.tell($0, block) }
    } fail: { actor, error in block(actor, .error(error)) }
  }

  private static func refuse<A: Actor>(on actor: isolated A, _ block: @Sendable (isolated A, ObjectChange) -> Void) {
    block(actor, .error(StoreError(.wrongStore, "A \(_$name) that is in no store cannot be observed by a store.")))
  }
}

extension ResultsState {
  /// The results that a description stands for, in any store of the file.
  convenience init<T: Model>(_ description: ResultDescription, of type: T.Type, in store: Store, fault: StoreError?) {
    let source: Source =
      switch description.source {
      case .all: .all
      case .nothing: .nothing
      case .sources(let target, let column): .sources(of: target, through: column)
      case .results(let outer): .results(ResultsState(outer, of: type, in: store, fault: fault))
      case .list(let column, let owner): store.list(column, of: owner).map { .list($0) } ?? .nothing
      }
    self.init(store, store.context(type), description.query, source, fault: fault)
  }
}

extension Store {
  /// A list by its column; nil when its type is none of this store's.
  func list(_ column: ColumnID, of owner: ObjectKey) -> ListHandle? {
    guard let table = reading.catalog[column.table], let type = model(named: table.name) else { return nil }
    let context = context(of: type)
    guard let ordinal = context.columns.firstIndex(of: column) else { return nil }
    return ListHandle(store: self, context: context, key: owner.rawValue, ordinal: ordinal)
  }

  private func context<T: Model>(of type: T.Type) -> ModelContext { context(type) }
}
