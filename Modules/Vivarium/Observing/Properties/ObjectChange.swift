import ChangeTracker
import StoreValues

/// What an observer of an object hears.
public enum ObjectChange: Sendable {
  /// Properties that have other values than when the observer was last notified, in the order of the model.
  case change([PropertyChange])
  /// The object is gone. The last call.
  case deleted
  /// The object cannot be observed, or not any more. The last call.
  case error(StoreError)

  /// More about a change: the versions, who wrote, and where; nil for the others. Positions and identities are those of the
  /// properties' `elements`, and empty here.
  public var details: ChangeDetails? {
    if case .change(let properties) = self { properties.first?.details } else { nil }
  }
}

/// One property of an object that changed.
public struct PropertyChange: Sendable {
  /// The property's name in the schema.
  public let name: String
  /// What it was when the observer was last notified, and what it is: also when several commits lie between, and when this
  /// store made them. A link is the key of the object it led to, an inverse that of the first object that pointed here; nil
  /// for a collection.
  public let oldValue: Value?
  /// What it is now; see `oldValue`.
  public let newValue: Value?
  /// For a list, set or map, what happened to its elements.
  public let elements: ElementChanges?
  /// Of the change that it is part of.
  var details: ChangeDetails?
}

/// The changes of a collection property: positions as in `CollectionChange.update`, and of a set or map the members.
public struct ElementChanges: Sendable, Hashable {
  /// Positions in the collection of the last call.
  public let deletions: [Int]
  /// Positions in the collection of now.
  public let insertions: [Int]
  /// Positions in the collection of the last call, of elements that stayed and were set.
  public let modifications: [Int]
  private let members: ChangedMembers

  init(deletions: [Int], insertions: [Int], modifications: [Int], members: ChangedMembers) {
    self.deletions = deletions
    self.insertions = insertions
    self.modifications = modifications
    self.members = members
  }

  /// Members of a set or keys of a map that went, in the order of `deletions`; empty for a list.
  public var deletedMembers: [Value] { members.deleted }
  /// Members of a set or keys of a map that came, in the order of `insertions`; empty for a list.
  public var insertedMembers: [Value] { members.inserted }
  /// Members of a set or keys of a map that have other values, in the order of `modifications`; empty for a list.
  public var modifiedMembers: [Value] { members.modified }
}
