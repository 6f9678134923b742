/// One step from an object to a node inside it: an embedded object, a collection, or what is embedded in a collection.
public struct PathStep: Hashable, Sendable {
  /// Where a step leads, from the node before it.
  public enum Place: Hashable, Sendable {
    /// The embedded object of a property.
    case embedded(Name)
    case list(Name)
    case set(Name)
    case map(Name)
    /// The object embedded in an element. After `.list`.
    case element(ElementID)
    /// The object embedded in the entry of a key. After `.map`.
    case entry(Name)
  }

  /// Where the step leads.
  public let place: Place
  /// The node's epoch as the author saw it: what guards the node's contents, see `EpochGuard`.
  public let epoch: Stamp
  /// Of an element, where the author saw it; `.none` otherwise. Only a hint to find it by.
  public let near: ListPosition

  /// A step to a place.
  ///
  /// - Parameters:
  ///   - epoch: of the node there, as the author sees it.
  ///   - near: for an element, where the author sees it.
  public init(_ place: Place, epoch: Stamp, near: ListPosition = .none) {
    self.place = place
    self.epoch = epoch
    self.near = near
  }
}

/// One change of one object. There is no operation for a swap (two moves are one), for renaming, and none that names an
/// index of a list.
///
/// Its stamp is that of its place in its `Changeset`.
public struct Operation: Hashable, Sendable {
  /// The object that changes, or in which something does.
  public let object: ObjectIdentity
  /// The object's epoch as the author saw it.
  public let epoch: Stamp
  /// To the node on which the action acts; empty for the object itself.
  public let path: [PathStep]
  /// What is done at the end of the path.
  public let action: Action

  /// What is done to a node. Elements are named by id; the positions `near` and `from` are where the author saw them, and only
  /// hints to find them by.
  public enum Action: Hashable, Sendable {
    // On an object.
    /// The object is there. Creating it twice is creating it once.
    case create
    /// Ends the incarnation of the object that the author saw, whatever others do to that at any time.
    case delete

    // On an object or an embedded one.
    /// Writes a property. A default, as creating an object gives it, loses to what anybody wrote by intent.
    case set(Name, CellValue, isDefault: Bool)
    /// Adds to an integer property.
    case add(Name, Int64)

    // On an embedded object: in a property, an element or an entry.
    /// The embedded object is there.
    case make
    /// Ends the incarnation of the embedded object. In a property alone: elements and entries are written or erased.
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
    /// Ends the incarnation of the collection: all that others put into it without having seen the clear is gone.
    case clear
  }

  /// An operation of its parts, which are not checked: see `isWellFormed`.
  ///
  /// - Parameters:
  ///   - epoch: of the object, as the author sees it.
  ///   - path: to the node that the action acts on; empty for the object itself.
  public init(_ object: ObjectIdentity, epoch: Stamp, path: [PathStep] = [], _ action: Action) {
    self.object = object
    self.epoch = epoch
    self.path = path
    self.action = action
  }
}

extension Operation {
  /// Steps of a path, at most: embedded types cannot embed themselves, so schemas stay far below.
  public static let depthMax = 64

  /// Whether the action fits the end of the path and each step the one before. No other is ever decoded, and
  /// merging one that is not does nothing.
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

  /// Whether the operation begins a new incarnation of something, named by the operation's stamp.
  var makesEpoch: Bool {
    switch action {
    case .delete, .remove, .clear, .insert, .setElement, .setEntry, .eraseEntry: true
    default: false
    }
  }

  /// The value that is written, if any.
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
  /// Whether the step may come after another; nil is the object.
  func follows(_ other: PathStep.Place?) -> Bool {
    switch (self, other) {
    case (.element, .list), (.entry, .map): true
    case (.element, _), (.entry, _), (_, .list), (_, .set), (_, .map): false
    default: true
    }
  }
}
