/// All that merging knows of one object: its record and the elements of its lists. A server sends it when it refuses a changeset, and in
/// the pages of a snapshot.
public struct ObjectState: Hashable, Sendable {
  /// Everything except list elements.
  public let record: ObjectRecord
  /// The lists by path, in the record's order; none is empty.
  public let lists: [List]

  /// The elements of one list of the object.
  public struct List: Hashable, Sendable {
    /// The path from the object to the list; ends with `.list`.
    public let path: [PathStep.Place]
    /// All elements, in list order.
    public let elements: [ListElement]

    /// Creates a list without checking its parts.
    public init(path: [PathStep.Place], elements: [ListElement]) {
      self.path = path
      self.elements = elements
    }
  }

  /// What a single-valued property shows; null if nobody has written it. nil for every property of an object that does not exist (any
  /// more).
  public subscript(property: String) -> CellValue? {
    guard record.isAlive else { return nil }
    return record.node.contents.values[Name(property)]?.visible ?? .null
  }

  /// Creates a state without checking its parts; `lists` must be ordered as that property says.
  public init(record: ObjectRecord, lists: [List]) {
    self.record = record
    self.lists = lists
  }
}

extension Merge {
  /// A copy of an object's state; nil if the object is not known. O(the object).
  public static func objectState<State: MergeState>(
    of object: ObjectIdentity, in state: State
  ) throws(State.Failure) -> ObjectState? {
    guard let record = try state.record(of: object) else { return nil }
    var lists: [ObjectState.List] = []
    try collect(record.node.contents, object, [], in: state, &lists)
    return ObjectState(record: record, lists: lists)
  }

  private static func collect<State: MergeState>(
    _ contents: Contents, _ object: ObjectIdentity, _ path: [PathStep.Place], in state: State, _ lists: inout [ObjectState.List]
  ) throws(State.Failure) {
    for (name, node) in contents.embedded.map({ ($0.key, $0.value) }) {
      try collect(node.contents, object, path + [.embedded(name)], in: state, &lists)
    }
    for name in contents.lists.map(\.key) {
      let place = ListPlace(object: object, path: path + [.list(name)])
      let elements = try state.elements(of: place)
      if elements.isEmpty { continue }
      lists.append(ObjectState.List(path: place.path, elements: elements))
      for element in elements where element.slot.node.contents.holdsLists {
        try collect(element.slot.node.contents, object, place.path + [.element(element.id)], in: state, &lists)
      }
    }
    for (name, map) in contents.maps.map({ ($0.key, $0.value) }) {
      for entry in map.entries where entry.value.slot.node.contents.holdsLists {
        try collect(entry.value.slot.node.contents, object, path + [.map(name), .entry(entry.key)], in: state, &lists)
      }
    }
  }

  /// Replaces the own states by the server's, whatever they were, then merges the pending own changes that are not void again. For
  /// refusals, and for the pages of a snapshot.
  ///
  /// - Parameter states: nil for an object that the server does not know.
  /// - Returns: for each object, that it is replaced or deleted. These effects include the changes that were merged again.
  public static func take<State: MergeState>(
    _ states: [ObjectIdentity: ObjectState?], under pending: PendingChangesets, in state: inout State
  ) throws(State.Failure) -> [Effect] {
    var wereAlive: Set<ObjectIdentity> = []
    for (object, new) in states {
      if try state.record(of: object)?.isAlive ?? false { wereAlive.insert(object) }
      try replace(object, with: new, in: &state)
    }
    for waiting in pending.all where !waiting.isVoid {
      for (index, operation) in waiting.changeset.operations.enumerated() where states.keys.contains(operation.object) {
        _ = try apply(operation, at: waiting.changeset.stamp(of: index), seq: .pending, to: &state)
      }
    }
    var effects: [Effect] = []
    // The same order everywhere: the object shown first gets the first key of a file.
    for object in states.keys.sorted() {
      let isAlive = try state.record(of: object)?.isAlive ?? false
      if !isAlive, !wereAlive.contains(object) { continue }
      effects.append(Effect(object: object, path: [], change: isAlive ? .replaced : .deleted))
    }
    return effects
  }

  /// Replaces whatever was known of an object by a state. Reports no effects.
  public static func replace<State: MergeState>(
    _ object: ObjectIdentity, with new: ObjectState?, in state: inout State
  ) throws(State.Failure) {
    try state.removeLists(of: object, under: [])
    try state.setRecord(new?.record, of: object)
    for list in new?.lists ?? [] {
      let place = ListPlace(object: object, path: list.path)
      for element in list.elements { try state.replaceElement(nil, with: element, of: place) }
    }
  }
}
