#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif
import Vivarium

extension Live {
  /// An object at once, then whenever its properties change. Fails with `.objectDeleted` when it is deleted; if it is deleted and created
  /// again with its primary key before that is delivered, the new object follows.
  ///
  /// - Parameter emitInitialValue: whether the object itself comes first, inside the subscription.
  /// - Parameter properties: the names of the properties to observe; nil: all.
  public static func object<T: Model>(
    from object: T, emitInitialValue: Bool = true, properties: [String]? = nil,
    isolation: isolated (any Actor)? = #isolation
  ) -> LivePublisher<T> {
    watching(object, properties, isolation, initial: { emitInitialValue ? object : nil }) { missed, followed in
      missed.changes = []
      return followed.present
    }
  }

  /// One value for each changed property of an object, with its old and new value. Fails with `.objectDeleted` when the object is
  /// deleted.
  public static func propertyChanges<T: Model>(
    of object: T, properties: [String]? = nil,
    isolation: isolated (any Actor)? = #isolation
  ) -> LivePublisher<PropertyChange> {
    watching(object, properties, isolation, initial: { nil }) { missed, _ in missed.changes.removeFirst() }
  }

  private static func watching<T: Model, Output>(
    _ object: T, _ properties: [String]?, _ isolation: isolated (any Actor)?, initial: @escaping () -> Output?,
    taking take: @escaping (Missed, FollowedObject<T>) -> Output
  ) -> LivePublisher<Output> {
    LivePublisher(object.store, isolation) { subscription in
      if object.isInvalidated {
        subscription.end(.failure(.deletedObject(T._$name)))
        return .none
      }
      let followed = FollowedObject(object)
      let next = { (missed: Missed) in take(missed, followed) }
      // Changes without demand: the last values win.
      let missed = Missed()
      let block: (ObjectChange) -> Void = { [weak subscription] change in
        guard let subscription else { return }
        switch change {
        case .error(let error): subscription.end(.failure(error))
        case .deleted: subscription.end(.failure(.deletedObject(T._$name)))
        case .change(let changes):
          missed.add(changes)
          deliver(missed, subscription, next)
        }
      }
      do throws(StoreError) {
        let token =
          if let properties { try object.observe(observingProperties: properties, block) } else { object.observe(block) }
        if let first = initial() { subscription.send(first) }
        return .init(
          tokens: [token],
          giveKept: { [weak subscription] in
            if let subscription { deliver(missed, subscription, next) }
          })
      } catch {
        subscription.end(.failure(error))
        return .none
      }
    }
  }
}

/// Undelivered changes, each property once.
private final class Missed {
  var changes: [PropertyChange] = []

  /// Merges later changes into earlier ones: from a property's first old value to its last new one.
  func add(_ later: [PropertyChange]) {
    for change in later {
      if let place = changes.firstIndex(where: { $0.name == change.name }) {
        changes[place] = change.since(changes[place])
      } else {
        changes.append(change)
      }
    }
  }
}

extension Live {
  /// Delivers undelivered changes while there is demand. `next` removes what it returns, and is called while any are left.
  private static func deliver<Output>(
    _ missed: Missed, _ subscription: LiveSubscription<Output>, _ next: (Missed) -> Output
  ) {
    while subscription.wants, !missed.changes.isEmpty { subscription.send(next(missed)) }
  }
}

extension StoreError {
  /// The error that ends the stream of a deleted object.
  static func deletedObject(_ type: String) -> StoreError {
    StoreError(.objectDeleted, "The observed \(type) is not in the store any more.", details: ["type": type])
  }
}
