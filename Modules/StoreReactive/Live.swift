#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif
import Vivarium

/// Streams of what is live, and sinks that write, for Combine and OpenCombine.
///
/// ```swift
/// Live.changeset(from: tasks)
///   .sink(receiveCompletion: { _ in }) { tasks, changes in table.apply(changes) }
///   .store(in: &cancellables)
/// ```
///
/// Every stream belongs to the context of its store: make it, subscribe, request and cancel there; values come there. In a store that
/// has no context it fails with `.wrongContext`, unless `configuration.manualDelivery` was asked for. A subscriber that
/// asks for values one by one is never buffered for: while it asks for none, what happens is kept as net changes, and
/// the next value says all of it.
public enum Live {}

/// Keeps the tokens of streams, so that a write can leave them out: `store.write(withoutNotifying: saved.tokens) { … }`.
/// Belongs to one context.
public final class SavedTokens {
  private var saved: [NotificationToken] = []

  /// Keeps none yet.
  public init() {}

  /// Those of streams that are subscribed to now.
  public var tokens: [NotificationToken] {
    saved.removeAll { !$0.isActive }
    return saved
  }

  func save(_ token: NotificationToken) { saved.append(token) }
}
