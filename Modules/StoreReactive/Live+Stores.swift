#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif
import Vivarium

extension Live {
  /// The store after every commit, by any writer; several commits may come as one value. Fails with `.newerSchema` once a newer program
  /// has migrated the file: no later commit can be read.
  public static func store(
    _ store: Store, isolation: isolated (any Actor)? = #isolation
  ) -> LivePublisher<(Store, StoreNotification)> {
    LivePublisher(store, isolation) { subscription in
      if let outdated = store.outdated {
        subscription.end(.failure(outdated))
        return .none
      }
      // Undelivered notifications, as one.
      var missed: StoreNotification?
      let token = store.observe { [weak subscription] notification, store in
        guard let subscription else { return }
        if notification == .refreshRequired, let outdated = store.outdated {
          return subscription.end(.failure(outdated))
        }
        if subscription.wants { subscription.send((store, notification)) } else { missed = notification }
      }
      return .init(
        tokens: [token],
        giveKept: { [weak subscription, weak store] in
          guard let store, let notification = missed else { return }
          missed = nil
          subscription?.send((store, notification))
        })
    }
  }
}
