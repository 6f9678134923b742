import ChangeTracker
import StoreValues

/// A change reported to the observer of an object.
public enum ObjectChange: Sendable {
  /// Properties whose values differ from the last call, in the order of the model.
  case change([PropertyChange])
  /// The object was deleted. The last call.
  case deleted
  /// The object cannot be observed, or no longer. The last call.
  case error(StoreError)

  /// More about a change: the versions, who wrote, and where; nil for the other cases. Positions and identities are in the
  /// properties' `elements`, and empty here.
  public var details: ChangeDetails? {
    if case .change(let properties) = self { properties.first?.details } else { nil }
  }
}

/// One changed property of an object.
public struct PropertyChange: Sendable {
  /// The property's name in the schema.
  public let name: String
  /// The value at the last call, even if several commits lie between or this store made them. For a link, the key of its target;
  /// for an inverse, that of the first object that linked here; nil for a collection, and for what a projection shows from behind a
  /// link if another store told the owner of the token.
  public let oldValue: Value?
  /// The present value; see `oldValue`.
  public let newValue: Value?
  /// For a list, set or map, the changes of its elements.
  public let elements: ElementChanges?
  /// Details of the change that contains this one.
  var details: ChangeDetails?
}

/// The changes of a collection property: positions as in `CollectionChange.update`, and the members of a set or map.
public struct ElementChanges: Sendable, Hashable {
  /// Positions in the collection of the last call.
  public let deletions: [Int]
  /// Positions in the present collection.
  public let insertions: [Int]
  /// Positions in the collection of the last call, of elements that remained and were set.
  public let modifications: [Int]
  private let members: ChangedMembers

  init(deletions: [Int], insertions: [Int], modifications: [Int], members: ChangedMembers) {
    self.deletions = deletions
    self.insertions = insertions
    self.modifications = modifications
    self.members = members
  }

  /// The removed members of a set or keys of a map, in the order of `deletions`; empty for a list.
  public var deletedMembers: [Value] { members.deleted }
  /// The inserted members of a set or keys of a map, in the order of `insertions`; empty for a list.
  public var insertedMembers: [Value] { members.inserted }
  /// The members of a set or keys of a map with changed values, in the order of `modifications`; empty for a list.
  public var modifiedMembers: [Value] { members.modified }
}
