/// An element of a list, with what merging needs to know of it.
public struct ListElement: Hashable, Sendable {
  /// Which element it is, for good.
  public let id: ElementID
  /// Where it stands now: the position of its insert, or of its last move.
  public internal(set) var position: ListPosition
  /// When it came to its position; zero once no later move can be earlier.
  public internal(set) var moved: Stamp
  /// The value and, for a list of embedded objects, the object.
  public internal(set) var slot: Slot

  /// An element of its parts.
  ///
  /// - Parameter moved: the stamp of the insert or move that brought it to its position.
  public init(id: ElementID, position: ListPosition, moved: Stamp, slot: Slot) {
    self.id = id
    self.position = position
    self.moved = moved
    self.slot = slot
  }
}

extension ListElement: Comparable {
  /// As in the list. Two elements have one position only where somebody forged it; the id decides then.
  public static func < (a: ListElement, b: ListElement) -> Bool {
    a.position != b.position ? a.position < b.position : a.id < b.id
  }
}

/// A list in an object: the names of the properties, and the ids or keys, that lead to it.
public struct ListPlace: Hashable, Sendable {
  /// The object in which the list is.
  public let object: ObjectIdentity
  /// Ends with `.list`.
  public let path: [PathStep.Place]

  /// The list at the end of a path, which ends with `.list`.
  public init(object: ObjectIdentity, path: [PathStep.Place]) {
    self.object = object
    self.path = path
  }
}
