/// The merge of one operation into an object.
struct MergeRun {
  let operation: Operation
  let stamp: Stamp
  let seq: Seq
  let floor: Stamp
  var effects: [Effect] = []
  /// Whether the record has changed. An operation that lost leaves it unchanged, so nothing is written.
  var isChanged = false

  /// Merges the operation. Returns whether the record has changed.
  mutating func merge<State: MergeState>(into record: inout ObjectRecord, in state: inout State) throws(State.Failure) -> Bool {
    let before = record.node.guarding
    try apply(to: &record, in: &state)
    let isNoted = record.note(before, operation.action == .delete ? stamp : operation.epoch, seq)
    guard isChanged || isNoted else { return false }
    if seq != .pending { record.lastSeq = max(record.lastSeq, seq) }
    return true
  }

  private mutating func apply<State: MergeState>(to record: inout ObjectRecord, in state: inout State) throws(State.Failure) {
    if case .delete = operation.action {
      if raise(&record.node.guarding) { try unmake(&record.node, 0, .deleted, in: &state) }
      return
    }
    guard try enter(&record.node, operation.epoch, 0, .deleted, in: &state) else { return }
    if case .create = operation.action {
      make(&record.node, 0, .created)
    } else {
      try body(&record.node.contents, 0, isVisible: record.node.isMade, in: &state)
    }
  }

  // MARK: common to all nodes

  /// Takes the operation's stamp as a new epoch. Returns true if the contents belong to an earlier one.
  mutating func raise(_ guarding: inout EpochGuard) -> Bool {
    let before = guarding
    defer { isChanged = isChanged || guarding != before }
    return guarding.raise(to: stamp, seq: seq)
  }

  /// Whether the operation may act inside a node; see `EpochGuard`.
  mutating func enter<State: MergeState>(
    _ node: inout Node, _ seen: Stamp, _ depth: Int, _ gone: Effect.Change, in state: inout State, isVisible: Bool = true
  ) throws(State.Failure) -> Bool {
    switch node.guarding.passage(of: seen, floor: floor) {
    case .behind: return false
    case .current: return true
    case .ahead:
      _ = node.guarding.raise(to: seen, seq: seq)
      isChanged = true
      try unmake(&node, depth, gone, in: &state, isVisible: isVisible)
      return true
    }
  }

  /// Drops the contents of a node, including the list elements beside the record.
  mutating func unmake<State: MergeState>(
    _ node: inout Node, _ depth: Int, _ gone: Effect.Change?, in state: inout State, isVisible: Bool = true
  ) throws(State.Failure) {
    if node.contents.holdsLists { try state.removeLists(of: operation.object, under: places(depth)) }
    if node.isMade, isVisible, let gone { tell(gone, depth) }
    node.isMade = false
    node.contents = Contents()
  }

  mutating func make(_ node: inout Node, _ depth: Int, _ change: Effect.Change, isVisible: Bool = true) {
    guard !node.isMade else { return }
    node.isMade = true
    isChanged = true
    if isVisible { tell(change, depth) }
    if isVisible, !node.contents.isEmpty { tell(.replaced, 0) }
  }

  /// The first steps of the path.
  func places(_ depth: Int) -> [PathStep.Place] { operation.path.prefix(depth).map(\.place) }

  mutating func tell(_ change: Effect.Change, _ depth: Int) {
    effects.append(Effect(object: operation.object, path: places(depth), change: change))
  }

  // MARK: descending the path

  /// Acts on the properties of an object or embedded object at `depth` steps of the path.
  mutating func body<State: MergeState>(
    _ contents: inout Contents, _ depth: Int, isVisible: Bool, in state: inout State
  ) throws(State.Failure) {
    guard depth < operation.path.count else { return value(in: &contents, depth, isVisible: isVisible) }
    let step = operation.path[depth]
    switch step.place {
    case .embedded(let name):
      var node = contents.embedded[name] ?? Node()
      try embedded(&node, step, depth, isVisible: isVisible, in: &state)
      if isChanged { contents.embedded[name] = node }
    case .list(let name):
      var head = contents.lists[name] ?? ListHead()
      try list(&head, step, depth, isVisible: isVisible, in: &state)
      if isChanged { contents.lists[name] = head }
    case .set(let name):
      var set = contents.sets[name] ?? MemberSet()
      self.set(&set, step, depth, isVisible: isVisible)
      if isChanged { contents.sets[name] = set }
    case .map(let name):
      var map = contents.maps[name] ?? EntryMap()
      try self.map(&map, step, depth, isVisible: isVisible, in: &state)
      if isChanged { contents.maps[name] = map }
    case .element, .entry: break  // not well-formed
    }
  }

  private mutating func embedded<State: MergeState>(
    _ node: inout Node, _ step: PathStep, _ depth: Int, isVisible: Bool, in state: inout State
  ) throws(State.Failure) {
    if case .remove = operation.action, depth + 1 == operation.path.count {
      if raise(&node.guarding) { try unmake(&node, depth + 1, .removed, in: &state, isVisible: isVisible) }
      return
    }
    try inside(&node, step, depth, isVisible: isVisible, in: &state)
  }

  /// Descends into an embedded object, or makes it.
  mutating func inside<State: MergeState>(
    _ node: inout Node, _ step: PathStep, _ depth: Int, isVisible: Bool, in state: inout State
  ) throws(State.Failure) {
    guard try enter(&node, step.epoch, depth + 1, .removed, in: &state, isVisible: isVisible) else { return }
    if case .make = operation.action, depth + 1 == operation.path.count {
      make(&node, depth + 1, .made, isVisible: isVisible)
    } else {
      try body(&node.contents, depth + 1, isVisible: isVisible && node.isMade, in: &state)
    }
  }

  /// Merges a property's value: last writer wins, increments add.
  private mutating func value(in contents: inout Contents, _ depth: Int, isVisible: Bool) {
    switch operation.action {
    case .set(let name, let value, let isDefault):
      let key: Register.Key = isDefault ? .byDefault(stamp) : .written(stamp)
      var register = contents.values[name] ?? Register()
      guard key > register.key else { return }
      register.write(value, key)
      contents.values[name] = register
      isChanged = true
      if isVisible { tell(.set(name, register.visible), depth) }
    case .add(let name, let delta):
      var register = contents.values[name] ?? Register()
      guard register.counts(stamp), register.increments[stamp] == nil else { return }
      register.increments[stamp] = delta
      contents.values[name] = register
      isChanged = true
      if isVisible { tell(.increment(name, delta), depth) }
    default: break  // not well-formed
    }
  }
}
