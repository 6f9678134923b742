import Vivarium

/// What the demo is about: where the objects come from, what is asked, and what the second process changes.
@MainActor protocol World: SendableMetatype {
  /// The model types, notes included.
  nonisolated static var models: [any SchemaDescribing.Type] { get }

  /// Reads the source and makes a graph of live objects of it.
  func fill(_ store: Store) throws
  /// Asks what a person would ask, and prints the answers.
  func ask(_ store: Store) throws
  /// Asks the other side for its change and shows how a live result follows it.
  func watch(_ store: Store) async throws
  /// The change that the other side makes, inside a write.
  nonisolated static func change(_ store: Store) throws
}
