import StorageInterface
import StoreValues

/// A path that may lead over lists, sets, maps, inverses and into mixed values.
struct RowwisePath: Sendable {
  enum Step: Sendable {
    case link(ColumnID)
    /// A list of links.
    case list(ColumnID, ElementPosition?)
    case set(ColumnID)
    /// The links of a map, or the one at a key.
    case map(ColumnID, key: String?)
    /// The objects whose links in the columns point to the current object, of the given table.
    case inverse([ColumnID], of: TableID)
    /// One of those objects, by its position in key order; if missing, like a null link.
    case source([ColumnID], of: TableID, ElementPosition)
  }

  enum End: Sendable {
    /// The objects that the steps lead to, as links.
    case objects
    /// The elements of a map of links, nulls among them.
    case links(ColumnID)
    case scalar(ColumnID)
    /// The elements of a list or set, or the values of a map.
    case elements(ColumnID, ElementPosition?)
    case value(ColumnID, key: String)
    case keys(ColumnID)
  }

  /// What becomes of each value at the end.
  enum Transform: Sendable {
    case none
    /// The length of a string or data in bytes.
    case length
    /// The name of the value's type.
    case typeName
  }

  /// How many SUBQUERYs further out the path begins; 0: at the object asked about.
  var outer = 0
  var steps: [Step] = []
  var end: End = .objects
  /// Into a mixed value.
  var inside: [MixedStep] = []
  var transform = Transform.none
  /// Of the values at the end, before the transform.
  var type: ValueType = .link
  /// The table of the objects at the end; nil where they may be of any.
  var target: TableID?
  var isMany = false
  /// Whether the steps lead to many objects.
  var hasManyOwners = false
  /// Whether an object that is reached several ways need be asked but once: no answer depends on how often it is there.
  var asksEachOnce = false
  /// Whether the last step is a relationship or collection of its owner's, whose size is asked owner by owner.
  var endsInCollection = false

  /// Whether an aggregate gives a value for each of many owners.
  var groupsAggregates: Bool { hasManyOwners && endsInCollection }

  /// The type of the values the path gives.
  var valueType: ValueType? {
    switch transform {
    case .none: type
    case .length: .int64
    case .typeName: nil
    }
  }
}

extension RowwisePath {
  /// The same path, where each inverse leads to the first object that points back: for orders, which need one value. Of an
  /// inverse to one that is the one there is.
  var overFirstSources: RowwisePath {
    var path = self
    path.steps = steps.map { step in
      if case .inverse(let columns, let table) = step { .source(columns, of: table, .index(0)) } else { step }
    }
    let endIsMany =
      switch end {
      case .elements(_, nil), .links, .keys: true
      case .objects, .scalar, .elements, .value: false
      }
    let insideIsMany = inside.contains { step in
      switch step {
      case .all, .keys: true
      case .key, .position: false
      }
    }
    path.isMany = endIsMany || insideIsMany || path.steps.contains(where: \.isMany)
    return path
  }
}

extension RowwisePath.Step {
  /// Whether it can lead to several objects.
  var isMany: Bool {
    switch self {
    case .link, .list(_, .some), .map(_, .some), .source: false
    case .list(_, nil), .set, .map(_, nil), .inverse: true
    }
  }
}

/// One step inside a mixed value: of a list, of a map, or through a link to a property.
enum MixedStep: Sendable {
  case key(String)
  case position(ElementPosition)
  /// Every element of a list, every value of a map.
  case all
  /// The keys of a map.
  case keys
}

/// `[0]`, `[FIRST]`, `[LAST]`.
enum ElementPosition: Sendable {
  case index(Int)
  case last
}
