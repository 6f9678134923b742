#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif
import Vivarium

extension Live {
  /// Two collections together: at once, and once for each version of the store in which either changed, however many changes
  /// that brings. Both always show one version.
  ///
  /// Combining two streams of one store by operators gives every change twice, and in between a pair that never was.
  public static func combineLatest<A: Model, B: Model>(
    _ a: Results<A>, _ b: Results<B>
  ) -> LivePublisher<(Results<A>, Results<B>)> {
    LivePublisher { subscription in
      let once = OncePerVersion(a.store) { [weak subscription] in subscription?.send((a, b)) }
      let wants = { [weak subscription] in subscription?.wants ?? false }
      let sources = [once.track(a, wants), once.track(b, wants)]
      subscription.send((a, b))
      return once.source(sources) { [weak subscription] in subscription?.end(.failure($0)) }
    }
  }

  /// Three collections together.
  public static func combineLatest<A: Model, B: Model, C: Model>(
    _ a: Results<A>, _ b: Results<B>, _ c: Results<C>
  ) -> LivePublisher<(Results<A>, Results<B>, Results<C>)> {
    LivePublisher { subscription in
      let once = OncePerVersion(a.store) { [weak subscription] in subscription?.send((a, b, c)) }
      let wants = { [weak subscription] in subscription?.wants ?? false }
      let sources = [once.track(a, wants), once.track(b, wants), once.track(c, wants)]
      subscription.send((a, b, c))
      return once.source(sources) { [weak subscription] in subscription?.end(.failure($0)) }
    }
  }
}

/// Makes one call of the changes that one version brings. All observers of a turn see one version, so the first to hear
/// of it can speak for all.
private final class OncePerVersion {
  private let store: Store
  private let send: () -> Void
  private var told: Version
  private var failed: ((StoreError) -> Void)?

  init(_ store: Store, _ send: @escaping () -> Void) {
    self.store = store
    self.send = send
    told = store.version
  }

  func track<T: Model>(_ results: Results<T>, _ wants: @escaping () -> Bool) -> (token: NotificationToken, resume: () -> Void) {
    let tracking = ResultsTracking(
      results, isolation: nil, fileID: #fileID, line: #line, wants: wants
    ) { [self] step in
      if case .error(let error) = step { failed?(error) } else { tell() }
    }
    return (tracking.token, { tracking.resume() })
  }

  private func tell() {
    guard told != store.version else { return }
    told = store.version
    send()
  }

  /// One token for all: stopping it stops the others.
  func source<Output>(
    _ parts: [(token: NotificationToken, resume: () -> Void)], _ failed: @escaping (StoreError) -> Void
  ) -> LivePublisher<Output>.Source {
    self.failed = failed
    return .init(tokens: parts.map(\.token), resume: { for part in parts { part.resume() } })
  }
}
