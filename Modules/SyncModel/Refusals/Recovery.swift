/// Redoes pending changes on top of a server's state that does not know them: after the history in which they were made is gone, when a
/// wrong clock stamped them, or when the file continues as another replica.
///
/// Operations get new stamps, and the epochs and positions of the current state. An operation is redone unless
/// - what it acts in no longer exists: an object, an element, an embedded object (SYNC asks for the same: an insert is always redone,
///   other edits of an element only if the element exists);
/// - somebody else wrote the same property, member, entry or element later than it was made.
///
/// So lists keep the elements of both sides, and nothing written since is overwritten by something older.
public struct Recovery: Sendable {
  /// The author of the redone changes.
  public let replica: ReplicaID
  /// The new identities of objects that the pending changes created under another replica's name.
  private let renamed: [ObjectIdentity: ObjectIdentity]
  /// The number of the last element inserted into a list.
  public private(set) var elements: UInt64
  /// The objects, as the pending changes name them, of what was not redone and is lost by that.
  public private(set) var lost: Set<ObjectIdentity> = []
  private var inserted: [ElementID: ElementID] = [:]
  /// Stamps of the pending operations, and the stamps that replace them in list positions.
  private var bunches: [Stamp: Stamp?] = [:]
  /// The first stamp given out by this recovery.
  private var start: Stamp?

  /// - Parameters:
  ///   - elements: the last number given to a list element.
  public init(as replica: ReplicaID, elements: UInt64, renamed: [ObjectIdentity: ObjectIdentity] = [:]) {
    (self.replica, self.elements, self.renamed) = (replica, elements, renamed)
  }

  /// Redoes one transaction and merges it into the state.
  ///
  /// - Parameter stamp: returns the next stamp, later than everything in the state and every stamp that the pending changes name other
  ///   than each other's.
  /// - Returns: the redone operations and the first of their stamps, nil if none is redone; and whether something is lost.
  public mutating func redo<Failure: Error>(
    _ transaction: [Changeset], in state: inout MemoryState, stamp: () throws(Failure) -> Stamp
  ) throws(Failure) -> (redone: (first: Stamp, operations: [Operation])?, loses: Bool) {
    var first: Stamp?
    var (operations, loses): ([Operation], Bool) = ([], false)
    for changeset in transaction {
      for index in changeset.operations.indices { bunches[changeset.stamp(of: index)] = .some(nil) }
    }
    for changeset in transaction {
      for (index, operation) in changeset.operations.enumerated() {
        guard var again = again(operation, changeset.stamp(of: index), in: state) else {
          if operation.action.says {
            lost.insert(operation.object)
            loses = true
          }
          continue
        }
        let stamp = try stamp()
        first = first ?? stamp
        start = start ?? stamp
        again = again.movingPosition { position($0, stamp) }
        _ = Merge.apply(again, at: stamp, seq: .pending, to: &state)
        operations.append(again)
      }
    }
    return (redone: first.map { (first: $0, operations: operations) }, loses: loses)
  }

  // MARK: one operation

  private mutating func again(
    _ operation: Operation, _ made: Stamp, in state: MemoryState
  ) -> Operation? {
    let object = name(operation.object)
    let node = state.record(of: object)?.node ?? Node()
    let places = operation.path.map { place($0.place) }
    guard let end = Target(node, object, places, of: operation.action, in: state) else { return nil }
    guard let action = action(operation.action, made, end, in: state) else { return nil }
    return Operation.made(on: object, places, action, seeing: state)
  }

  /// The action to redo; nil if it has nothing to act on, or a later write by somebody else exists.
  private mutating func action(
    _ action: Operation.Action, _ made: Stamp, _ end: Target, in state: MemoryState
  ) -> Operation.Action? {
    switch action {
    case .create: return end.node.isMade ? nil : .create
    case .delete, .remove: return end.node.isMade && !isLater(end.node.guarding.epoch, made) ? action : nil
    case .make: return end.node.isMade ? nil : .make
    case .clear: return isLater(end.guarding.epoch, made) ? nil : .clear
    case .set(let name, let value, let isDefault):
      switch end.contents.values[name]?.key ?? .never {
      case .written(let stamp): if isDefault || isLater(stamp, made) { return nil }
      case .byDefault(let stamp): if isDefault, isLater(stamp, made) { return nil }
      case .never: break
      }
      return .set(name, self.value(value, in: state), isDefault: isDefault)
    case .add(let name, _):
      if case .written(let stamp) = end.contents.values[name]?.key, isLater(stamp, made) { return nil }
      return action
    case .insert(let id, let position, let value): return .insert(new(id), at: position, self.value(value, in: state))
    case .setElement(let id, _, let value):
      guard let element = end.element(element(id), in: state), !isLater(element.slot.node.guarding.epoch, made) else { return nil }
      return .setElement(element.id, near: element.position, self.value(value, in: state))
    case .move(let id, _, let to):
      guard let element = end.element(element(id), in: state), !isLater(element.moved, made) else { return nil }
      return .move(element.id, from: element.position, to: to)
    case .erase(let id, _):
      return end.element(element(id), in: state).map { .erase($0.id, near: $0.position) }
    case .insertMember(let value), .eraseMember(let value):
      let value = self.value(value, in: state)
      if let stamp = end.members.members[value.memberKey]?.stamp, isLater(stamp, made) { return nil }
      if case .eraseMember = action { return .eraseMember(value) }
      return .insertMember(value)
    case .setEntry(let key, _), .eraseEntry(let key):
      if let epoch = end.map.entries[key]?.slot.node.guarding.epoch, isLater(epoch, made) { return nil }
      guard case .setEntry(_, let value) = action else { return action }
      return .setEntry(key, self.value(value, in: state))
    }
  }

  /// Whether somebody else's stamp is later than the stamp of an operation.
  private func isLater(_ stamp: Stamp, _ made: Stamp) -> Bool { stamp > made && start.map { stamp < $0 } ?? true }

  // MARK: names

  private func name(_ object: ObjectIdentity) -> ObjectIdentity { renamed[object] ?? object }
  private func element(_ id: ElementID) -> ElementID { inserted[id] ?? id }

  private mutating func new(_ id: ElementID) -> ElementID {
    if id.replica == replica { return id }
    elements += 1
    let new = ElementID(replica, elements)
    inserted[id] = new
    return new
  }

  /// Positions are ordered by the time at which they were made, so redone ones get the new stamp.
  private mutating func position(_ old: ListPosition, _ stamp: Stamp) -> ListPosition {
    ListPosition(
      old.steps.map { step in
        guard let known = bunches[step.bunch] else { return step }
        bunches[step.bunch] = known ?? stamp
        return ListPosition.Step(gap: step.gap, bunch: known ?? stamp, offset: step.offset)
      })
  }

  private func place(_ place: PathStep.Place) -> PathStep.Place {
    if case .element(let id) = place { .element(element(id)) } else { place }
  }

  private func value(_ value: CellValue, in state: MemoryState) -> CellValue {
    switch value {
    case .plain: return value
    case .link(let target): return .link(LinkTarget.made(to: name(target.object), seeing: state))
    case .list(let elements):
      var all: [CellValue] = []
      for element in elements { all.append(self.value(element, in: state)) }
      return .list(all)
    case .map(let table):
      var all = SortedTable<Name, CellValue>()
      for entry in table { all[entry.key] = self.value(entry.value, in: state) }
      return .map(all)
    }
  }
}

extension Operation {
  /// The operation with another position for the element that it inserts or moves.
  fileprivate func movingPosition(_ new: (ListPosition) -> ListPosition) -> Operation {
    switch action {
    case .insert(let id, let position, let value):
      return Operation(object, epoch: epoch, path: path, .insert(id, at: new(position), value))
    case .move(let id, let from, let to): return Operation(object, epoch: epoch, path: path, .move(id, from: from, to: new(to)))
    default: return self
    }
  }
}

extension Operation.Action {
  /// Whether somebody's content is lost if the action is not redone. What was to be made then exists already, and what was to be removed
  /// does not, or was made again by somebody else.
  fileprivate var says: Bool {
    switch self {
    case .create, .make, .delete, .remove, .clear, .erase, .eraseMember, .eraseEntry: false
    case .set(_, _, let isDefault): !isDefault
    case .add, .insert, .setElement, .move, .insertMember, .setEntry: true
    }
  }
}

/// The end of a path in a state.
private struct Target {
  /// The object or embedded object at the end, or the one that contains it.
  private(set) var node: Node
  /// The guard of the collection at the end, or of the node.
  private(set) var guarding: EpochGuard
  private(set) var members = MemberSet()
  private(set) var map = EntryMap()
  private var list: ListPlace?

  var contents: Contents { node.contents }

  /// Returns nil if something on the path does not exist.
  init?(
    _ node: Node, _ object: ObjectIdentity, _ places: [PathStep.Place], of action: Operation.Action, in state: MemoryState
  ) {
    (self.node, guarding) = (node, node.guarding)
    if !node.isMade, action != .create { return nil }
    for (index, place) in places.enumerated() {
      let isMaking = index == places.count - 1 && action == .make
      switch place {
      case .list(let name):
        list = ListPlace(object: object, path: Array(places[...index]))
        guarding = contents.lists[name]?.guarding ?? EpochGuard()
      case .set(let name):
        members = contents.sets[name] ?? MemberSet()
        guarding = members.guarding
      case .map(let name):
        map = contents.maps[name] ?? EntryMap()
        guarding = map.guarding
      case .embedded(let name): self.node = contents.embedded[name] ?? Node()
      case .entry(let key):
        guard let entry = map.entries[key], entry.presence != .erased else { return nil }
        self.node = entry.slot.node
      case .element(let id):
        guard let element = element(id, in: state) else { return nil }
        self.node = element.slot.node
      }
      switch place {
      case .embedded, .entry, .element:
        guarding = self.node.guarding
        if !self.node.isMade, !isMaking { return nil }
      case .list, .set, .map: break
      }
    }
  }

  func element(_ id: ElementID, in state: MemoryState) -> ListElement? {
    guard let list else { return nil }
    return state.element(id, near: .none, of: list)
  }
}
