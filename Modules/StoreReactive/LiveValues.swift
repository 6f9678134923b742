#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif
import Vivarium

/// The values of a stream for `for await`, in the store's context.
///
/// ```swift
/// for try await (tasks, changes) in Live.changeset(from: tasks).values { table.show(tasks, changes) }
/// ```
///
/// Nothing is buffered: changes between two calls of `next()` become one net change. The store advances when a value is requested, so
/// results match their change set until the next suspension. Ends with the task; fails as the stream
/// does, and with `.wrongContext` where the store has no context to wait in.
public struct LiveValues<Output>: AsyncSequence {
  public typealias Element = Output
  public typealias Failure = StoreError

  let publisher: LivePublisher<Output>

  public func makeAsyncIterator() -> Iterator { Iterator(publisher) }

  /// One subscription, from its first `next()` to its release.
  public final class Iterator: AsyncIteratorProtocol {
    private let publisher: LivePublisher<Output>
    private var subscription: LiveSubscription<Output>?
    private var isAsking = false
    private var found: Output?
    private var completion: Subscribers.Completion<StoreError>?

    init(_ publisher: LivePublisher<Output>) { self.publisher = publisher }

    public func next() async throws(StoreError) -> Output? { try await next(isolation: nil) }

    /// The next value; nil once the task is cancelled or the stream has ended.
    public func next(isolation actor: isolated (any Actor)?) async throws(StoreError) -> Output? {
      publisher.store?.bind(actor)
      while completion == nil {
        if Task.isCancelled {
          completion = .finished
          break
        }
        ask()
        if let found {
          self.found = nil
          isAsking = false
          return found
        }
        if completion == nil { try await publisher.store?.untilTurn(isolation: actor) }
      }
      subscription?.cancel()
      if case .failure(let error) = completion {
        completion = .finished
        throw error
      }
      return nil
    }

    /// Takes the available value.
    private func ask() {
      let subscription = subscription ?? subscribe()
      subscription.unpause()
      if !isAsking {
        isAsking = true
        subscription.request(.max(1))
      }
      if found == nil, completion == nil { publisher.store?.deliverReady() }
      subscription.isPaused = true
    }

    private func subscribe() -> LiveSubscription<Output> {
      let made = publisher.subscription(
        value: { [unowned self] value in
          found = value
          return .none
        }, completion: { [unowned self] in completion = $0 })
      subscription = made
      return made
    }

    deinit {
      // The iterator is released in the context where it iterated.
      subscription?.cancel()
    }
  }
}

extension LivePublisher {
  /// The values for `for await`, in the store's context.
  public var values: LiveValues<Output> { LiveValues(publisher: self) }
}
