import Dispatch
import Notifications
import StorageInterface

// An observation in another context has a store of its own there. It begins at once, before that store belongs to a context, so
// that its token works from the first moment: for writes that skip it, and for authors that it ignores. Then the store is handed
// over to its context, and calls the block there.

/// A store being handed over to its context.
private struct TransferredStore: @unchecked Sendable {
  // Sound because the function that makes this also made the store, gives it to the context in its last step and never touches it
  // again: one thread at a time has it, and the queue or the actor orders the two. The notifier and the token, which also know it
  // by then, are safe from any thread and do not call the store, which belongs to no context, and so takes no turns, until it
  // settles.
  let store: Store
}

/// A change that is delivered in an actor's own turn.
private struct TransferredNews<News>: @unchecked Sendable {
  // Sound because it never leaves the thread: `notify` makes and opens it on the actor, without suspending in between. The compiler
  // only knows that the closure in which it is opened is isolated to the actor.
  let news: News
}

extension Actor {
  /// Calls a block isolated to the actor. Only for use in a turn that a store takes on the actor: a store that was handed to it
  /// takes turns nowhere else, and a block cannot move the store elsewhere, because it is not Sendable.
  nonisolated func notify<News>(_ news: News, _ block: @Sendable (isolated Self, News) -> Void) {
    let transferred = TransferredNews(news: news)
    assumeIsolated { block($0, transferred.news) }
  }
}

extension Store {
  /// A store of the same file that belongs to no context yet. It reads the newest version, so that nothing committed from now on is
  /// missed.
  private func sibling(_ fileID: StaticString, _ line: UInt) throws(StoreError) -> Store {
    let shared = shared
    let snapshot = try storing { () throws(StorageError) in try shared.engine.beginRead() }
    return try Store(configuration, shared, home: .manual, place: "\(fileID):\(line)", snapshot: snapshot)
  }

  /// Observes on a serial queue, in a store of its own there. `begin` runs here and must leave calling the block to the store.
  func observe(
    on queue: DispatchQueue, _ fileID: StaticString, _ line: UInt, _ begin: (Store) -> NotificationToken,
    fail: @escaping @Sendable (StoreError) -> Void
  ) -> NotificationToken {
    do throws(StoreError) {
      let store = try sibling(fileID, line)
      let token = begin(store)
      let handed = TransferredStore(store: store)
      Store.identity(of: queue)
      queue.async { handed.store.settle(in: .queue(queue)) }
      return token
    } catch {
      queue.async { fail(error) }
      return .ended(fileID, line)
    }
  }

  /// Observes on an actor, in a store of its own there. The actor is retained until it has the store, and by the observation.
  func observe<A: Actor>(
    on actor: A, _ fileID: StaticString, _ line: UInt, _ begin: (Store) -> NotificationToken,
    fail: @escaping @Sendable (isolated A, StoreError) -> Void
  ) -> NotificationToken {
    do throws(StoreError) {
      let store = try sibling(fileID, line)
      let token = begin(store)
      let handed = TransferredStore(store: store)
      Task { await Store.settle(handed, on: actor) }
      return token
    } catch {
      Store.refuse(actor, error, fail)
      return .ended(fileID, line)
    }
  }

  /// Reports to an actor's block why nothing is observed.
  static func refuse<A: Actor>(
    _ actor: A, _ error: StoreError, _ block: @escaping @Sendable (isolated A, StoreError) -> Void
  ) {
    Task { await notify(actor, error, block) }
  }

  private static func settle(_ handed: TransferredStore, on actor: isolated some Actor) {
    handed.store.settle(in: .actor(actor))
  }

  private static func notify<A: Actor>(
    _ actor: isolated A, _ error: StoreError, _ block: @Sendable (isolated A, StoreError) -> Void
  ) { block(actor, error) }
}
