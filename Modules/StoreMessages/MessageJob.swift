import Vivarium

/// A claimed message, for work outside the store.
public struct MessageJob<M: Message>: Sendable {
  /// The message: resolve it in a store of the context that works on it.
  public let message: ObjectReference<M>
  /// The same for every attempt at this message by handlers of this name, in any process. Give it to the outside system, so that it
  /// does nothing twice.
  public let idempotencyKey: String
  /// The number of this attempt, from 1.
  public let attempt: Int
}
