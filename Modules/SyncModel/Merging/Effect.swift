/// A visible change made by an operation. A client applies it to its objects; a server passes it to its event handlers. An operation that
/// lost has none.
///
/// Effects follow from stamps alone and never from values, so they are also correct for records stored without values.
public struct Effect: Hashable, Sendable {
  /// The object that changed, itself or in something embedded in it.
  public let object: ObjectIdentity
  /// The path to the node that changed; empty for the object itself.
  public let path: [PathStep.Place]
  /// The change of the node.
  public let change: Change

  /// A change of a node or of its contents.
  public enum Change: Hashable, Sendable {
    /// The object exists, and is empty so far.
    case created
    /// The object is gone, with all that is embedded in it.
    case deleted
    /// The object is now what its record and lists say, whatever it was before. Reported when the server's state was taken
    /// (`Merge.take`), or when an object or embedded object was made of which a part was known already: the part arrived against the
    /// order of the log, or the server had refused an earlier making and not what followed it.
    ///
    /// Read the record before anything else is merged. A later increment has an effect of its own, and would count twice.
    case replaced
    /// The property has this value, increments included.
    case set(Name, CellValue)
    /// The property increases by this amount, if it is an integer.
    case increment(Name, Int64)
    /// The embedded object at the end of the path exists, and is empty so far.
    case made
    /// The embedded object at the end of the path is gone.
    case removed
    case inserted(ElementID, at: ListPosition, CellValue)
    /// The element has this value, in place of its value or embedded object.
    case setElement(ElementID, at: ListPosition, CellValue)
    case moved(ElementID, from: ListPosition, to: ListPosition)
    case erased(ElementID, from: ListPosition)
    /// The set has the member in this form.
    case insertedMember(CellValue)
    case erasedMember(CellValue)
    /// The map has this value for the key, in place of its value or embedded object.
    case setEntry(Name, CellValue)
    case erasedEntry(Name)
    /// The collection at the end of the path is empty.
    case cleared
  }
}
