/// A visible change that an operation made: what a client does to its objects, and what a server's event handlers hear.
/// An operation that lost has none.
///
/// Effects follow from stamps alone and never from values, so they are right as well for records kept without values.
public struct Effect: Hashable, Sendable {
  /// The object that changed, or in which something did.
  public let object: ObjectIdentity
  /// To the node that changed; empty for the object itself.
  public let path: [PathStep.Place]
  /// What is different there now.
  public let change: Change

  /// What became of a node, or of what it holds.
  public enum Change: Hashable, Sendable {
    /// The object is there, and holds nothing yet.
    case created
    /// The object is gone, with all that is embedded in it.
    case deleted
    /// The object is as its record and its lists say when all that the call merged is merged, whatever it was: the server's
    /// state was taken (`Merge.take`), or something of it came before the object itself, which is against the order of the log.
    case replaced
    /// The property has this value, increments included.
    case set(Name, CellValue)
    /// The property has this much more, if it is an integer.
    case increment(Name, Int64)
    /// The embedded object at the end of the path is there, and holds nothing yet.
    case made
    /// The embedded object at the end of the path is gone.
    case removed
    case inserted(ElementID, at: ListPosition, CellValue)
    /// The element has this value instead, or of the object that was embedded in it.
    case setElement(ElementID, at: ListPosition, CellValue)
    case moved(ElementID, from: ListPosition, to: ListPosition)
    case erased(ElementID, from: ListPosition)
    /// The set has the member in this form.
    case insertedMember(CellValue)
    case erasedMember(CellValue)
    /// The map has this value for the key, instead of any other and of any embedded object.
    case setEntry(Name, CellValue)
    case erasedEntry(Name)
    /// The collection at the end of the path is empty.
    case cleared
  }
}
