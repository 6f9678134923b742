#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif
import Vivarium

/// Streams of live values, and sinks that write, for Combine and OpenCombine.
///
/// ```swift
/// Live.changeset(from: tasks)
///   .sink(receiveCompletion: { _ in }) { tasks, changes in table.apply(changes) }
///   .store(in: &cancellables)
/// ```
///
/// Every stream belongs to the context of its store: create, subscribe, request and cancel there; values are delivered there. In a store
/// without a context it fails with `.wrongContext`, unless `configuration.manualDelivery` is set. Nothing is buffered for a subscriber
/// with limited demand: while it has none, changes are kept as net changes, and
/// the next value says all of it.
public enum Live {}

/// Collects the tokens of streams, so that a write can skip them: `store.write(withoutNotifying: saved.tokens) { … }`. Belongs to one
/// context.
public final class SavedTokens {
  private var saved: [NotificationToken] = []

  /// Creates an empty collection.
  public init() {}

  /// The tokens of the present subscriptions.
  public var tokens: [NotificationToken] {
    saved.removeAll { !$0.isActive }
    return saved
  }

  func save(_ token: NotificationToken) { saved.append(token) }
}
