/// All that merging knows of one object: its record and the elements of its lists. What a server sends when it refuses a
/// changeset, and in the pages of a snapshot.
public struct ObjectState: Hashable, Sendable {
  /// All but the elements.
  public let record: ObjectRecord
  /// By path, ascending in the order in which the record has them; none is empty.
  public let lists: [List]

  /// The elements of one list of the object.
  public struct List: Hashable, Sendable {
    /// From the object to the list; ends with `.list`.
    public let path: [PathStep.Place]
    /// All of them, in the order of the list.
    public let elements: [ListElement]

    /// A list of its parts, which are not checked.
    public init(path: [PathStep.Place], elements: [ListElement]) {
      self.path = path
      self.elements = elements
    }
  }

  /// What a property that holds one value shows: null where nobody has written it. nil for all properties of an object that is not there
  /// (any more).
  public subscript(property: String) -> CellValue? {
    guard record.isAlive else { return nil }
    return record.node.contents.values[Name(property)]?.visible ?? .null
  }

  /// A state of its parts, which are not checked: the lists must be as `lists` says.
  public init(record: ObjectRecord, lists: [List]) {
    self.record = record
    self.lists = lists
  }
}

extension Merge {
  /// A copy of an object's state; nil for one that is not known. O(the object).
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

  /// Takes the server's states in the place of the own ones, whatever those were, and merges own changes that wait, and stand,
  /// into them again. For refusals, and for the pages of a snapshot.
  ///
  /// - Parameter states: nil for an object that the server does not know.
  /// - Returns: for each object that it is replaced, or gone. What was merged again is told by nothing else.
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
    // In one order everywhere: what is shown first gets the first keys of a file.
    for object in states.keys.sorted() {
      let isAlive = try state.record(of: object)?.isAlive ?? false
      if !isAlive, !wereAlive.contains(object) { continue }
      effects.append(Effect(object: object, path: [], change: isAlive ? .replaced : .deleted))
    }
    return effects
  }

  /// Puts a state in the place of whatever there was of an object. Tells nobody.
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
