import Dispatch
import Notifications

extension StoreObservable {
  /// Runs `block` on the store's context with what this is once it is there, and then with what changed, whoever changed it: this
  /// context, another, another process. An object has no first call.
  ///
  /// ```swift
  /// token = people.observe { change in show(change) }
  /// ```
  ///
  /// What has to be worked out is worked out elsewhere, never on the caller. Any number of commits between two calls are one
  /// change. All blocks of a turn see one version of the store, and none runs inside a write. What cannot be observed, and options that
  /// lead nowhere, are reported as `.error`, which is the last call: so is what cannot be kept any more. Of an object that is gone already
  /// it is `.objectDeleted`; of a store that has no context for its calls, and was not opened with `manualDelivery`, `.wrongContext`.
  ///
  /// Keep the token, and stop it in the end: it keeps the store, and what the block captures. Elsewhere than in the store's context
  /// nothing is observed, as `Configuration.misuse` says. Docs/Notifications.md has all that may be relied on.
  public func observe(
    options: ObservationOptions = ObservationOptions(), isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line, _ block: @escaping (ObservationChange) -> Void
  ) -> NotificationToken {
    _$source.begin(ObservationRequest(options: options, fileID: fileID, line: line), isolation, block)
  }

  /// Observes on a serial queue, wherever the caller is: the block gets this as a store of that queue has it, to be used there.
  /// What is committed after this call is reported. All else is as in the store's context.
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

  /// Observes on an actor, which the block is given: it may use the actor's state without waiting. This is as a store of that actor has
  /// it. Until the token is stopped the observation keeps the actor.
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
  /// As with `ObservationOptions`, and throws at once where they name what is not there: `.unknownProperty`, and `.wrongContext`
  /// elsewhere than in the store's context.
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
  /// Only modifications of some of the elements' properties count: `observe(keyPaths: [\.name])`. Deletions, insertions and moves
  /// are always reported. Paths that are no persisted properties are reported as `.error`.
  public func observe(
    keyPaths: [PartialKeyPath<Element>], isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID,
    line: UInt = #line, _ block: @escaping (ObservationChange) -> Void
  ) -> NotificationToken {
    observe(options: ObservationOptions(keyPaths: keyPaths), isolation: isolation, fileID: fileID, line: line, block)
  }
}
