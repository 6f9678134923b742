import Notifications

/// The time after each call in which an observer is not notified. Confined to the store's context.
struct ObserverRest {
  /// nil: none.
  private let throttle: Duration?
  private var end: ContinuousClock.Instant?
  /// When the turn that was requested for the end of the rest is due.
  private var awakening: ContinuousClock.Instant?

  init(_ throttle: Duration?) { self.throttle = throttle }

  /// Whether the observer ever rests.
  var isTaken: Bool { throttle != nil }

  /// Whether the observer is notified in this turn. While it rests, the place is woken for the end of the rest, and the observer
  /// then gets all changes at once. If a caller `waits` for what is due, it is notified with the others.
  mutating func isOver(waits: Bool, at place: DeliveryPlace) -> Bool {
    guard let end, !waits else { return true }
    let now = ContinuousClock.now
    if now >= end { return true }
    if awakening.map({ $0 <= now }) ?? true {
      // 1 ms longer, so that the rest is over by any clock.
      let left = now.duration(to: end) + .milliseconds(1)
      awakening = now + left
      place.wake(after: left)
    }
    return false
  }

  /// Starts the rest: the observer is being notified.
  mutating func begin() {
    guard let throttle else { return }
    end = .now + throttle
    awakening = nil
  }
}
