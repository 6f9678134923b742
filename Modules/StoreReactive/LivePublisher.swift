#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif
import Vivarium

/// A stream of live values. Every subscription observes by itself, and stops with it. `values` gives the same to `for await`.
public struct LivePublisher<Output>: Publisher {
  public typealias Failure = StoreError

  /// What a subscription runs on.
  struct Source {
    let tokens: [NotificationToken]
    /// Gives what was kept because nobody took it, at once.
    let giveKept: () -> Void
    /// Asks the store for a turn, which brings what it keeps as net changes.
    let wake: () -> Void

    init(tokens: [NotificationToken], giveKept: @escaping () -> Void = {}, wake: @escaping () -> Void = {}) {
      self.tokens = tokens
      self.giveKept = giveKept
      self.wake = wake
    }

    /// Of a stream that has ended before it began.
    static var none: Self { Self(tokens: []) }

    func stop() { for token in tokens { token.stop() } }
  }

  /// Where the values come from; nil for an object that is in no store.
  let store: Store?
  private let begin: (LiveSubscription<Output>) -> Source
  private var saved: SavedTokens?

  /// - Parameter isolation: whose code made it: a store that was opened in an actor's `init` is that actor's from now on.
  init(_ store: Store?, _ isolation: isolated (any Actor)?, _ begin: @escaping (LiveSubscription<Output>) -> Source) {
    store?.bind(isolation)
    self.store = store
    self.begin = begin
  }

  /// Begins to observe, on the store's context; a first value that starts synchronously comes before this returns.
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

  /// Puts the token of each subscription into `tokens`.
  public func saving(in tokens: SavedTokens) -> Self {
    var copy = self
    copy.saved = tokens
    return copy
  }
}

/// One subscription: counts what the subscriber asked for, and begins to observe when it first asks.
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

  /// Takes nothing though it was asked for: its subscriber waits for a turn to ask in.
  var isPaused = false

  /// Whether a value would be taken now.
  var wants: Bool { value != nil && !isPaused && demand > .none }

  func request(_ more: Subscribers.Demand) {
    let didWant = wants
    demand += more
    guard wants else { return }
    if let begin {
      self.begin = nil
      let source = begin(self)
      // The first value may have ended it all.
      if value == nil { source.stop() } else { self.source = source }
    } else if !didWant {
      source?.giveKept()
      source?.wake()
    }
  }

  /// Takes values again. What was kept comes inside; the rest with the store's next delivery.
  func unpause() {
    isPaused = false
    if wants { source?.giveKept() }
  }

  /// Gives a value to a subscriber that wants it.
  func send(_ output: Output) {
    guard wants, let value else { return }
    demand -= 1
    // First the call: it may ask for more by itself.
    let more = value(output)
    demand += more
  }

  /// The last thing the subscriber hears.
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
