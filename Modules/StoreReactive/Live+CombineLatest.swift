#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif
import Vivarium

extension Live {
  /// Two collections together: at once, and once for each version of the store in which either changed, however many changes it has. Both
  /// always show the same version.
  ///
  /// Combining two streams of one store by operators delivers every change twice, with a pair in between that never existed. Fails with
  /// `.wrongStore` if the two belong to different stores, whose versions are not in step.
  public static func combineLatest<A: Model, B: Model>(
    _ a: Results<A>, _ b: Results<B>,
    isolation: isolated (any Actor)? = #isolation
  ) -> LivePublisher<(Results<A>, Results<B>)> {
    together([Part(a), Part(b)], isolation, { (a, b) }) { [$0.track(a), $0.track(b)] }
  }

  /// Three collections together.
  public static func combineLatest<A: Model, B: Model, C: Model>(
    _ a: Results<A>, _ b: Results<B>, _ c: Results<C>,
    isolation: isolated (any Actor)? = #isolation
  ) -> LivePublisher<(Results<A>, Results<B>, Results<C>)> {
    together([Part(a), Part(b), Part(c)], isolation, { (a, b, c) }) { [$0.track(a), $0.track(b), $0.track(c)] }
  }

  /// An object and a collection together: for example a preference and what it applies to. Fails with `.objectDeleted` when the object is
  /// deleted.
  ///
  /// ```swift
  /// Live.combineLatest(preferences, todos).map { preferences, todos in
  ///   preferences.hidesCompleted ? todos.where { $0.isCompleted == false } : todos
  /// }
  /// ```
  public static func combineLatest<O: Model, A: Model>(
    _ object: O, _ a: Results<A>,
    isolation: isolated (any Actor)? = #isolation
  ) -> LivePublisher<(O, Results<A>)> {
    let followed = FollowedObject(object)
    return together([Part(object), Part(a)], isolation, { (followed.present, a) }) { [$0.track(object), $0.track(a)] }
  }

  /// An object and two collections together.
  public static func combineLatest<O: Model, A: Model, B: Model>(
    _ object: O, _ a: Results<A>, _ b: Results<B>,
    isolation: isolated (any Actor)? = #isolation
  ) -> LivePublisher<(O, Results<A>, Results<B>)> {
    let followed = FollowedObject(object)
    return together([Part(object), Part(a), Part(b)], isolation, { (followed.present, a, b) }) {
      [$0.track(object), $0.track(a), $0.track(b)]
    }
  }

  /// An input, with the errors that can be found before anything is observed.
  private struct Part {
    let store: Store?
    let error: StoreError?

    init<T: Model>(_ results: Results<T>) {
      store = results.store
      error = results.error
    }

    init<T: Model>(_ object: T) {
      store = object.store
      error =
        if object.isInvalidated { .deletedObject(T._$name) } else if object.isManaged { nil } else {
          StoreError(.notManaged, "A \(T._$name) that is in no store has no changes to combine.")
        }
    }

    static func fault(_ parts: [Part]) -> StoreError? {
      for part in parts {
        if let error = part.error { return error }
        if part.store === parts[0].store { continue }
        return StoreError(
          .wrongStore, "What is combined belongs to different stores.", remedy: "Ask all of it of one store.")
      }
      return nil
    }
  }

  private static func together<Output>(
    _ combined: [Part], _ isolation: isolated (any Actor)?, _ output: @escaping () -> Output,
    _ track: @escaping (OncePerVersion) -> [OncePerVersion.Part]
  ) -> LivePublisher<Output> {
    let store = combined[0].store
    return LivePublisher(store, isolation) { subscription in
      guard let store, Part.fault(combined) == nil else {
        if let fault = Part.fault(combined) { subscription.end(.failure(fault)) }
        return .none
      }
      let once = OncePerVersion(
        store, wants: { [weak subscription] in subscription?.wants ?? false },
        send: { [weak subscription] in subscription?.send(output()) },
        fail: { [weak subscription] in subscription?.end(.failure($0)) })
      let parts = track(once)
      subscription.send(output())
      return .init(
        tokens: parts.map(\.token), giveKept: { once.giveKept() }, wake: { for part in parts { part.wake() } })
    }
  }
}

/// Merges the changes of one version into one call. All observers of a turn see one version, so the first one called can act for all.
private final class OncePerVersion {
  struct Part {
    let token: NotificationToken
    var wake: () -> Void = {}
  }

  /// Strong, because this ends with its subscription, which stops the tokens whose blocks hold it.
  private let store: Store
  private let wants: () -> Bool
  private let send: () -> Void
  private let fail: (StoreError) -> Void
  private var notifiedVersion: Version
  /// Whether something changed while there was no demand.
  private var isKept = false

  init(
    _ store: Store, wants: @escaping () -> Bool, send: @escaping () -> Void, fail: @escaping (StoreError) -> Void
  ) {
    self.store = store
    self.wants = wants
    self.send = send
    self.fail = fail
    notifiedVersion = store.version
  }

  func track<T: Model>(_ results: Results<T>) -> Part {
    let tracking = ResultsTracking(
      results, isolation: nil, fileID: #fileID, line: #line, wants: wants
    ) { [self] step in
      switch step {
      case .error(let error): fail(error)
      case .initial, .update: notify()
      case .moved: break  // the writer already shows it
      }
    }
    return Part(token: tracking.token, wake: tracking.resume)
  }

  func track<T: Model>(_ object: T) -> Part {
    let token = object.observe(isolation: nil) { [self] change in
      switch change {
      case .change: notify()
      case .deleted: fail(.deletedObject(T._$name))
      case .error(let error): fail(error)
      }
    }
    return Part(token: token)
  }

  private func notify() {
    guard notifiedVersion != store.version else { return }
    guard wants() else { return isKept = true }
    isKept = false
    notifiedVersion = store.version
    send()
  }

  func giveKept() { if isKept { notify() } }
}
