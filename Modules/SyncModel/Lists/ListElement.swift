/// An element of a list, with the metadata that merging needs.
public struct ListElement: Hashable, Sendable {
  /// The permanent identity of the element.
  public let id: ElementID
  /// The current position: that of its insert, or of its last move.
  public internal(set) var position: ListPosition
  /// The stamp of the insert or move that brought the element to its position; zero once no move to come can be earlier.
  public internal(set) var moved: Stamp
  /// The value or, in a list of embedded objects, the object.
  public internal(set) var slot: Slot

  /// Creates an element from its parts.
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
  /// In list order. Only a forged position can belong to two elements; the id then decides.
  public static func < (a: ListElement, b: ListElement) -> Bool {
    a.position != b.position ? a.position < b.position : a.id < b.id
  }
}

/// A list in an object, named by the path that leads to it.
public struct ListPlace: Hashable, Sendable {
  /// The object that contains the list.
  public let object: ObjectIdentity
  /// The path from the object; ends with `.list`.
  public let path: [PathStep.Place]

  /// The list at the end of a path, which ends with `.list`.
  public init(object: ObjectIdentity, path: [PathStep.Place]) {
    self.object = object
    self.path = path
  }
}
