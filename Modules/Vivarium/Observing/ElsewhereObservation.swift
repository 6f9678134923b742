import Dispatch
import Notifications
import Storage
import Synchronization

/// An observation in another context than its maker's: begun there, with a store of its own, and stopped from anywhere.
final class ElsewhereObservation: Sendable {
  private struct State {
    var token: NotificationToken?
    var isStopped = false
    /// Of whom it is not to hear once it has begun.
    var ignoredAuthors: [String] = []
  }

  private let state = Mutex(State())

  /// Runs in the other context, once. `observe` is given the authors of whom nothing is to be told.
  func begin(_ observe: ([String]) -> NotificationToken?) {
    let (isStopped, ignoredAuthors) = state.withLock { ($0.isStopped, $0.ignoredAuthors) }
    if isStopped { return }
    let token = observe(ignoredAuthors)
    let (late, ignored): (NotificationToken?, [String]) = state.withLock { state in
      if state.isStopped { return (token, []) }
      state.token = token
      return (nil, state.ignoredAuthors)
    }
    late?.stop()
    for author in ignored { token?.ignore(author: author) }
  }

  /// The maker says so as soon as it has the token, when nothing may have begun yet.
  private func ignore(author: String) {
    let token = state.withLock { state in
      if state.token == nil { state.ignoredAuthors.append(author) }
      return state.token
    }
    token?.ignore(author: author)
  }

  fileprivate func stop() {
    let token = state.withLock { state in
      state.isStopped = true
      defer { state.token = nil }
      return state.token
    }
    token?.stop()
  }

  /// The token for the maker.
  func token(_ fileID: StaticString, _ line: UInt) -> NotificationToken {
    NotificationToken(
      fileID: fileID, line: line, subject: { [weak self] in self?.state.withLock { $0.token?.subject } },
      ignore: { [weak self] in self?.ignore(author: $0) }, onStop: { self.stop() })
  }
}

/// What a store of another context is opened from. Its first version is that of the call, so that nothing committed after it
/// is missed.
struct StoreSeed: Sendable {
  private let configuration: StoreConfiguration
  private let shared: SharedEngine
  private let snapshot: Result<any ReadTransaction, StoreError>
  private let place: String

  init(_ store: Store, _ fileID: StaticString, _ line: UInt) {
    configuration = store.configuration
    let shared = store.shared
    self.shared = shared
    snapshot = Result { () throws(StoreError) in
      try storing { () throws(StorageError) in try shared.engine.beginRead() }
    }
    place = "\(fileID):\(line)"
  }

  func open(_ home: DeliveryContext, ignoring authors: [String]) throws(StoreError) -> Store {
    if case .queue(let queue) = home { queue.setSpecific(key: Store.currentQueue, value: ObjectIdentifier(queue)) }
    let store = try Store(configuration, shared, home: home, place: place, snapshot: try snapshot.get())
    store.ignoredAuthors = authors
    return store
  }
}

extension Store {
  /// Observes on a serial queue, in a store of its own there.
  func observe(
    on queue: DispatchQueue, _ fileID: StaticString, _ line: UInt,
    _ begin: @escaping @Sendable (Store) -> NotificationToken, fail: @escaping @Sendable (StoreError) -> Void
  ) -> NotificationToken {
    let observation = ElsewhereObservation()
    let seed = StoreSeed(self, fileID, line)
    queue.async {
      observation.begin { ignoredAuthors in
        do throws(StoreError) { return begin(try seed.open(.queue(queue), ignoring: ignoredAuthors)) } catch {
          fail(error)
          return nil
        }
      }
    }
    return observation.token(fileID, line)
  }

  /// Observes on an actor, in a store of its own there. The actor is kept until it has begun, and by the observation.
  func observe<A: Actor>(
    on actor: A, _ fileID: StaticString, _ line: UInt,
    _ begin: @escaping @Sendable (isolated A, Store) -> NotificationToken,
    fail: @escaping @Sendable (isolated A, StoreError) -> Void
  ) -> NotificationToken {
    let observation = ElsewhereObservation()
    let seed = StoreSeed(self, fileID, line)
    Task { await Store.begin(on: actor, observation, seed, begin, fail) }
    return observation.token(fileID, line)
  }

  private static func begin<A: Actor>(
    on actor: isolated A, _ observation: ElsewhereObservation, _ seed: StoreSeed,
    _ begin: @Sendable (isolated A, Store) -> NotificationToken, _ fail: @Sendable (isolated A, StoreError) -> Void
  ) {
    observation.begin { ignoredAuthors in
      do throws(StoreError) { return begin(actor, try seed.open(.actor(actor), ignoring: ignoredAuthors)) } catch {
        fail(actor, error)
        return nil
      }
    }
  }
}
