#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif
import Vivarium

extension Live {
  /// The store after every commit, whoever made it; several commits may come as one value.
  public static func store(_ store: Store) -> LivePublisher<(Store, StoreNotification)> {
    LivePublisher(store) { subscription in
      // What was not taken, once.
      var missed: StoreNotification?
      let token = store.observe { [weak subscription] notification, store in
        guard let subscription else { return }
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
