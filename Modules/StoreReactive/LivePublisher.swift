#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif
import Vivarium

/// A stream of live values. Every subscription has its own observation, which stops with it. `values` offers the same for `for await`.
public struct LivePublisher<Output>: Publisher {
  public typealias Failure = StoreError

  /// The observation of a subscription.
  struct Source {
    let tokens: [NotificationToken]
    /// Delivers at once what was kept without demand.
    let giveKept: () -> Void
    /// Asks the store for a turn, which delivers what it keeps as net changes.
    let wake: () -> Void

    init(tokens: [NotificationToken], giveKept: @escaping () -> Void = {}, wake: @escaping () -> Void = {}) {
      self.tokens = tokens
      self.giveKept = giveKept
      self.wake = wake
    }

    /// The source of a stream that has ended before it began.
    static var none: Self { Self(tokens: []) }

    func stop() { for token in tokens { token.stop() } }
  }

  /// The source of the values; nil for an object that is in no store.
  let store: Store?
  private let begin: (LiveSubscription<Output>) -> Source
  private var saved: SavedTokens?

  /// - Parameter isolation: the actor of the caller. A store opened in an actor's `init` belongs to that actor from now on.
  init(_ store: Store?, _ isolation: isolated (any Actor)?, _ begin: @escaping (LiveSubscription<Output>) -> Source) {
    store?.bind(isolation)
    self.store = store
    self.begin = begin
  }

  /// Begins to observe, on the store's context; a synchronous first value comes before this returns.
  public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == StoreError {
    subscriber.receive(
      subscription: subscription(
        value: { subscriber.receive($0) }, completion: { subscriber.receive(completion: $0) }))
  }

  func subscription(
    value: @escaping (Output) -> Subscribers.Demand, completion: @escaping (Subscribers.Completion<StoreError>) -> Void
  ) -> LiveSubscription<Output> {
    let (begin, saved) = (begin, saved)
    return LiveSubscription<Output>(
      begin: { subscription in
        let source = begin(subscription)
        for token in source.tokens { saved?.save(token) }
        return source
      }, value: value, completion: completion)
  }

  /// Adds the token of each subscription to `tokens`.
  public func saving(in tokens: SavedTokens) -> Self {
    var copy = self
    copy.saved = tokens
    return copy
  }
}

/// One subscription: counts the subscriber's demand, and begins to observe at the first request.
final class LiveSubscription<Output>: Subscription {
  private var begin: ((LiveSubscription<Output>) -> LivePublisher<Output>.Source)?
  private var source: LivePublisher<Output>.Source?
  private var value: ((Output) -> Subscribers.Demand)?
  private var completion: ((Subscribers.Completion<StoreError>) -> Void)?
  private var demand = Subscribers.Demand.none

  init(
    begin: @escaping (LiveSubscription<Output>) -> LivePublisher<Output>.Source,
    value: @escaping (Output) -> Subscribers.Demand, completion: @escaping (Subscribers.Completion<StoreError>) -> Void
  ) {
    self.begin = begin
    self.value = value
    self.completion = completion
  }

  deinit { source?.stop() }

  /// Whether values are withheld despite demand, until the subscriber asks in a turn.
  var isPaused = false

  /// Whether a value can be delivered now.
  var wants: Bool { value != nil && !isPaused && demand > .none }

  func request(_ more: Subscribers.Demand) {
    let didWant = wants
    demand += more
    guard wants else { return }
    if let begin {
      self.begin = nil
      let source = begin(self)
      // The first value may have ended the subscription.
      if value == nil { return source.stop() }
      self.source = source
      giveKept()
    } else if !didWant {
      source?.giveKept()
      source?.wake()
    }
  }

  /// Resumes delivery. Kept values come inside this call; the rest with the store's next delivery.
  func unpause() {
    isPaused = false
    giveKept()
  }

  private func giveKept() { if wants { source?.giveKept() } }

  /// Delivers a value if there is demand.
  func send(_ output: Output) {
    guard wants, let value else { return }
    demand -= 1
    // The call comes first, because it may request more itself.
    let more = value(output)
    let didWant = wants
    demand += more
    // A subscriber that writes hears of other commits inside its call, when it asked for nothing.
    if !didWant { giveKept() }
  }

  /// Completes the subscription.
  func end(_ end: Subscribers.Completion<StoreError>) {
    let completion = completion
    cancel()
    completion?(end)
  }

  func cancel() {
    source?.stop()
    source = nil
    begin = nil
    value = nil
    completion = nil
  }
}
