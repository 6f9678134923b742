import Dispatch
import Notifications

extension StoreObservable {
  /// Runs `block` on the store's context with the first state of this value, then with its changes, whoever made them: this
  /// context, another one, or another process. For an object there is no first call.
  ///
  /// ```swift
  /// token = people.observe { change in show(change) }
  /// ```
  ///
  /// All computation happens elsewhere, never on the caller. The commits between two calls are reported as one change. All blocks
  /// of a turn see the same version of the store, and none runs inside a write. If the value cannot be observed or kept any longer,
  /// or an option leads nowhere, the last call reports `.error`: `.objectDeleted` for an object that is already deleted,
  /// `.wrongContext` for a store without a context for its calls that was not opened with `manualDelivery`.
  ///
  /// Keep the token, and stop it in the end: it retains the store and the block's captures. Outside the store's context nothing is
  /// observed, and `Configuration.misuse` applies. Docs/Notifications.md lists all guarantees.
  public func observe(
    options: ObservationOptions = ObservationOptions(), isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line, _ block: @escaping (ObservationChange) -> Void
  ) -> NotificationToken {
    _$source.begin(ObservationRequest(options: options, fileID: fileID, line: line), isolation, block)
  }

  /// Observes on a serial queue, from any context: the block receives this value from a store of that queue, for use there. Changes
  /// committed after this call are reported. Everything else is as in the store's context.
  ///
  /// ```swift
  /// token = store.objects(Item.self).observe(on: indexing) { change in index(change.collection) }
  /// ```
  public func observe(
    options: ObservationOptions = ObservationOptions(), on queue: DispatchQueue, fileID: StaticString = #fileID,
    line: UInt = #line, _ block: @escaping @Sendable (ObservationChange) -> Void
  ) -> NotificationToken {
    let request = ObservationRequest(options: options, fileID: fileID, line: line)
    let source = _$source
    guard let store = source.store else {
      let refusal = source.refusal
      queue.async { block(.error(refusal)) }
      return request.ended
    }
    let find = source.reference()
    return store.observe(on: queue, fileID, line) { store in
      let found = find(store)
      if found.store != nil { return found.beginAnywhere(request) { block($0) } }
      let refusal = found.refusal
      queue.async { block(.error(refusal)) }
      return request.ended
    } fail: { block(.error($0)) }
  }

  /// Observes on an actor, which is passed to the block, so that the block may use the actor's state synchronously. The value comes
  /// from a store of that actor. The observation retains the actor until the token is stopped.
  ///
  /// ```swift
  /// token = store.objects(Item.self).observe(on: index) { index, change in index.update(change) }
  /// ```
  public func observe<A: Actor>(
    options: ObservationOptions = ObservationOptions(), on actor: A, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping @Sendable (isolated A, ObservationChange) -> Void
  ) -> NotificationToken {
    let request = ObservationRequest(options: options, fileID: fileID, line: line)
    let fail: @Sendable (isolated A, StoreError) -> Void = { actor, error in block(actor, .error(error)) }
    let source = _$source
    guard let store = source.store else {
      Store.refuse(actor, source.refusal, fail)
      return request.ended
    }
    let find = source.reference()
    return store.observe(on: actor, fileID, line) { store in
      let found = find(store)
      if found.store != nil { return found.beginAnywhere(request) { actor.notify($0, block) } }
      Store.refuse(actor, found.refusal, fail)
      return request.ended
    } fail: { fail($0, $1) }
  }
}

// MARK: - Options by themselves

extension StoreObservable {
  /// Observes as with `ObservationOptions`, and throws at once if they name a property that does not exist: `.unknownProperty`;
  /// `.wrongContext` outside the store's context.
  ///
  /// ```swift
  /// token = try people.observe(observingProperties: ["name", "dogs.name"]) { change in show(change) }
  /// ```
  @_disfavoredOverload
  public func observe(
    observingProperties names: [String]? = nil, ignoringProperties ignored: [String] = [], throttle: Duration? = nil,
    includingOldValues: Bool = false, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line, _ block: @escaping (ObservationChange) -> Void
  ) throws(StoreError) -> NotificationToken {
    let options = ObservationOptions(
      properties: names, ignoring: ignored, throttle: throttle, includingOldValues: includingOldValues)
    let source = _$source
    try source.store?.checkContext("observe")
    try source.check(options)
    return source.begin(ObservationRequest(options: options, fileID: fileID, line: line), isolation, block)
  }
}

extension StoreObservable where Self: Sequence {
  /// Observes only modifications of some of the elements' properties: `observe(keyPaths: [\.name])`. Deletions, insertions and
  /// moves are always reported. Paths that are not persisted properties are reported as `.error`.
  public func observe(
    keyPaths: [PartialKeyPath<Element>], isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line, _ block: @escaping (ObservationChange) -> Void
  ) -> NotificationToken {
    observe(options: ObservationOptions(keyPaths: keyPaths), isolation: isolation, fileID: fileID, line: line, block)
  }
}
