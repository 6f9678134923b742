import Notifications

/// The time after each call in which an observer hears nothing. Confined to the store's context.
struct ObserverRest {
  /// nil: none.
  private let throttle: Duration?
  private var end: ContinuousClock.Instant?
  /// When the turn is due that was asked for at the end of the rest.
  private var awakening: ContinuousClock.Instant?

  init(_ throttle: Duration?) { self.throttle = throttle }

  /// Whether the observer ever rests.
  var isTaken: Bool { throttle != nil }

  /// Whether it hears in this turn. For one that rests the place is woken when it is rested, and it gets all at once then; when
  /// somebody `waits` for what is due, it is notified with the others.
  mutating func isOver(waits: Bool, at place: DeliveryPlace) -> Bool {
    guard let end, !waits else { return true }
    let now = ContinuousClock.now
    if now >= end { return true }
    if awakening.map({ $0 <= now }) ?? true {
      // A little more, so that it is over by any clock.
      let left = now.duration(to: end) + .milliseconds(1)
      awakening = now + left
      place.wake(after: left)
    }
    return false
  }

  /// The observer is just being notified.
  mutating func begin() {
    guard let throttle else { return }
    end = .now + throttle
    awakening = nil
  }
}
