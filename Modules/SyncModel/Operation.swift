/// One step from an object to a node inside it: an embedded object, a collection, or an object embedded in a collection.
public struct PathStep: Hashable, Sendable {
  /// The kind and name of a step, from the node before it.
  public enum Place: Hashable, Sendable {
    /// The embedded object of a property.
    case embedded(Name)
    case list(Name)
    case set(Name)
    case map(Name)
    /// The object embedded in a list element. Follows `.list`.
    case element(ElementID)
    /// The object embedded in a map's entry. Follows `.map`.
    case entry(Name)
  }

  /// Where the step leads.
  public let place: Place
  /// The node's epoch as the author saw it; it guards the node's contents, see `EpochGuard`.
  public let epoch: Stamp
  /// The position at which the author saw an element; `.none` for other steps. Only a hint for finding the element.
  public let near: ListPosition

  /// Creates a step.
  ///
  /// - Parameters:
  ///   - epoch: the epoch of the node, as the author sees it.
  ///   - near: the position of an element, as the author sees it.
  public init(_ place: Place, epoch: Stamp, near: ListPosition = .none) {
    self.place = place
    self.epoch = epoch
    self.near = near
  }
}

/// One change of one object. No operation swaps (two moves do that), renames, or names an index of a list.
///
/// Its stamp follows from its index in its `Changeset`.
public struct Operation: Hashable, Sendable {
  /// The object that changes, itself or in something embedded in it.
  public let object: ObjectIdentity
  /// The object's epoch as the author saw it.
  public let epoch: Stamp
  /// The path to the node that the action changes; empty for the object itself.
  public let path: [PathStep]
  /// The change at the end of the path.
  public let action: Action

  /// A change of a node. Elements are named by id. The positions `near` and `from`, where the author saw them, are only hints for finding
  /// them.
  public enum Action: Hashable, Sendable {
    // On an object.
    /// Creates the object. A repeated create has no effect.
    case create
    /// Ends the incarnation of the object that the author saw, whatever others do to that incarnation at any time.
    case delete

    // On an object or an embedded one.
    /// Writes a property. A default, written when an object is created, loses to every value that somebody set.
    case set(Name, CellValue, isDefault: Bool)
    /// Adds to an integer property.
    case add(Name, Int64)

    // On an embedded object: in a property, an element or an entry.
    /// Creates the embedded object.
    case make
    /// Ends the incarnation of the embedded object. Only for a property: elements and entries are written or erased instead.
    case remove

    // On a list.
    case insert(ElementID, at: ListPosition, CellValue)
    case setElement(ElementID, near: ListPosition, CellValue)
    case move(ElementID, from: ListPosition, to: ListPosition)
    case erase(ElementID, near: ListPosition)

    // On a set.
    case insertMember(CellValue)
    case eraseMember(CellValue)

    // On a map.
    case setEntry(Name, CellValue)
    case eraseEntry(Name)

    // On a list, a set or a map.
    /// Ends the incarnation of the collection: everything that others put into it without having seen the clear is gone.
    case clear
  }

  /// Creates an operation without checking its parts; see `isWellFormed`.
  ///
  /// - Parameters:
  ///   - epoch: the epoch of the object, as the author sees it.
  ///   - path: the path to the node that the action changes; empty for the object itself.
  public init(_ object: ObjectIdentity, epoch: Stamp, path: [PathStep] = [], _ action: Action) {
    self.object = object
    self.epoch = epoch
    self.path = path
    self.action = action
  }
}

extension Operation {
  /// The maximal number of steps in a path. Embedded types cannot embed themselves, so schemas stay far below it.
  public static let depthMax = 64

  /// Whether the action fits the end of the path, and each step the one before it. Decoding throws for an operation that is not
  /// well-formed; merging one does nothing.
  public var isWellFormed: Bool {
    guard path.count <= Operation.depthMax else { return false }
    var container: PathStep.Place?
    for step in path {
      guard step.place.follows(container) else { return false }
      container = step.place
    }
    switch (action, container) {
    case (.create, nil), (.delete, nil), (.set, nil), (.add, nil): return true
    case (.set, .embedded), (.add, .embedded), (.set, .element), (.add, .element), (.set, .entry), (.add, .entry): return true
    case (.make, .embedded), (.make, .element), (.make, .entry), (.remove, .embedded): return true
    case (.insert, .list), (.setElement, .list), (.move, .list), (.erase, .list), (.clear, .list): return true
    case (.insertMember, .set), (.eraseMember, .set), (.clear, .set): return true
    case (.setEntry, .map), (.eraseEntry, .map), (.clear, .map): return true
    default: return false
    }
  }

  /// Whether the operation begins a new incarnation of something; the operation's stamp is then its epoch.
  var makesEpoch: Bool {
    switch action {
    case .delete, .remove, .clear, .insert, .setElement, .setEntry, .eraseEntry: true
    default: false
    }
  }

  /// The value that the operation writes, if any.
  var value: CellValue? {
    switch action {
    case .set(_, let value, _), .insert(_, _, let value), .setElement(_, _, let value), .insertMember(let value),
      .eraseMember(let value), .setEntry(_, let value):
      value
    default: nil
    }
  }
}

extension PathStep.Place {
  /// Whether the step may follow another; nil stands for the object.
  func follows(_ other: PathStep.Place?) -> Bool {
    switch (self, other) {
    case (.element, .list), (.entry, .map): true
    case (.element, _), (.entry, _), (_, .list), (_, .set), (_, .map): false
    default: true
    }
  }
}
