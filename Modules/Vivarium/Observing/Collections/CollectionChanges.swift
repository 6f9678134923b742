import ChangeTracker
import Notifications
import StorageInterface

/// The changes of results as an asynchronous sequence: first the results, then the changes since the previous element.
///
/// ```swift
/// for await change in store.objects(Item.self).changes { show(change) }
/// ```
/// Nothing accumulates and nothing is lost: the changes between two calls of `next()` become one net change set. The store moves
/// when `next()` is called, so the results of an element match its positions until the next suspension. Ends when the task is
/// cancelled, or after an error.
public struct CollectionChanges<Object: Model>: AsyncSequence {
  public typealias Element = CollectionChange<Results<Object>>
  public typealias Failure = Never

  let results: Results<Object>

  public func makeAsyncIterator() -> Iterator { Iterator(results) }

  /// One observation, from its first `next()` to its release.
  public final class Iterator: AsyncIteratorProtocol {
    private let results: Results<Object>
    private var observer: ResultObserver?
    private var isAsking = false
    private var isDone = false
    private var found: Element?
    private var waiter: CheckedContinuation<Void, Never>?

    init(_ results: Results<Object>) { self.results = results }

    public func next() async -> Element? { await next(isolation: nil) }

    /// The next element; nil once the task is cancelled or an error was delivered.
    public func next(isolation actor: isolated (any Actor)?) async -> Element? {
      let store = results.store
      if observer == nil, !isDone {
        do throws(StoreError) { try store.checkContext("next") } catch {
          store.misuse(error)
          return end(with: error)
        }
        begin(in: store, actor)
      }
      while !isDone, !Task.isCancelled {
        if store.mayNotify {
          isAsking = true
          store.deliver(.none)
          isAsking = false
        } else {
          store.observing.missedTurn = true
        }
        if let found {
          self.found = nil
          return found
        }
        let place = store.deliveryPlace()
        guard place.takesTurns else { return end(with: .noContext) }
        await withTaskCancellationHandler {
          await withCheckedContinuation(isolation: actor) { waiter = $0 }
        } onCancel: {
          place.wake()
        }
      }
      stop()
      return nil
    }

    private func begin(in store: Store, _ actor: isolated (any Actor)?) {
      store.bind(actor)
      let remade = results.state.remaking
      let made = store.add(results.state, .success(nil)) { [unowned self] content, store in
        switch content {
        case .initial: found = .initial(Results(remade(store)))
        case .total: break  // not of change sets
        case .error(let error): found = end(with: error)
        case .update(let change):
          found = .update(
            Results(remade(store)), deletions: change.changes.deletions, insertions: change.changes.insertions,
            modifications: ChangedRows(change.changes, ChangeDetails(Object._$name, change, own: store.origin)))
        }
      }
      made.isListening = { [unowned self] in isAsking }
      store.observing.waiters[ObjectIdentifier(self)] = { [unowned self] in
        let waiting = waiter
        waiter = nil
        waiting?.resume()
      }
      observer = made
    }

    private func end(with error: StoreError) -> Element {
      isDone = true
      return .error(error)
    }

    private func stop() {
      guard let observer else { return }
      observer.flag.stop()
      observer.observation.map(results.store.shared.results.stop)
      results.store.observing.waiters[ObjectIdentifier(self)] = nil
      results.store.endStopped()
    }

    deinit {
      // An iterator is released in the context where it was used.
      stop()
    }
  }
}

extension Results {
  /// The results, and then their changes, for `for await` in the store's context.
  public var changes: CollectionChanges<Element> { CollectionChanges(results: self) }
}

extension StoreError {
  static let noContext = StoreError(
    .wrongContext, "The store was opened in no actor's code, for no queue and no run loop, so nobody would tell its observers.",
    remedy: "Open it in an actor, or with 'queue:' or 'runLoop:'. A function that opens it for others takes "
      + "'isolation: isolated (any Actor)? = #isolation' and passes that on. "
      + "To be told inside 'refresh()' alone, set 'configuration.manualDelivery'.")
}
