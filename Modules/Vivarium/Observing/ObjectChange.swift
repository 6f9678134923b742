import Values

/// What an observer of an object hears.
public enum ObjectChange: Sendable {
  /// Properties that have other values than when the observer was told last, in the order of the model.
  case change([PropertyChange])
  /// The object is gone. The last call.
  case deleted
  /// The object cannot be observed, or not any more. The last call.
  case error(StoreError)
}

/// One property of an object that changed.
public struct PropertyChange: Sendable {
  public let name: String
  /// What it was when the observer was told last, and what it is: also when several commits lie between, and when this
  /// store made them. A link is the key of the object it led to; nil for a list.
  public let oldValue: Value?
  public let newValue: Value?
  /// For a list, what happened to its elements.
  public let elements: ElementChanges?
}

/// The changes of a list property: positions as in `CollectionChange.update`.
public struct ElementChanges: Sendable, Hashable {
  public let deletions: [Int]
  public let insertions: [Int]
  public let modifications: [Int]
}
