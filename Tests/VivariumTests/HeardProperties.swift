import Vivarium

/// What observers of single properties were told, as text, in the order in which they were.
final class HeardProperties {
  private var calls: [String] = []
  private var tokens: [NotificationToken] = []

  /// Hears of a property from now on.
  func follow<Object: Model, Property>(
    _ object: Object, _ path: KeyPath<Object, Property>, _ text: @escaping (ObservedChange<Property>) -> String
  ) {
    tokens.append(object.observe(path) { [unowned self] _, change in calls.append(text(change)) })
  }

  /// Hears of a store too, as "store".
  func follow(_ store: Store) { tokens.append(store.observe { [unowned self] _, _ in calls.append("store") }) }

  func take() -> [String] {
    defer { calls = [] }
    return calls
  }

  func stop() { for token in tokens { token.stop() } }
}
