/// Lists. Elements have identities and positions of their own, so an operation names neither an index nor a neighbour, and needs no
/// transform. A move writes the position, last writer wins, so an element is never duplicated (Kleppmann: *Moving Elements in List
/// CRDTs*, 2020).
extension MergeRun {
  mutating func list<State: MergeState>(
    _ head: inout ListHead, _ step: PathStep, _ depth: Int, isVisible: Bool, in state: inout State
  ) throws(State.Failure) {
    let isLast = depth + 1 == operation.path.count
    if case .clear = operation.action, isLast {
      if raise(&head.guarding) { try empty(&head, depth + 1, isVisible: isVisible, in: &state) }
      return
    }
    switch head.guarding.passage(of: step.epoch, floor: floor) {
    case .behind: return
    case .current: break
    case .ahead:
      _ = head.guarding.raise(to: step.epoch, seq: seq)
      isChanged = true
      try empty(&head, depth + 1, isVisible: isVisible, in: &state)
    }
    let place = ListPlace(object: operation.object, path: places(depth + 1))
    if isLast {
      try elements(of: place, &head, depth + 1, isVisible: isVisible, in: &state)
    } else {
      try inElement(of: place, head, depth + 1, isVisible: isVisible, in: &state)
    }
  }

  private mutating func empty<State: MergeState>(
    _ head: inout ListHead, _ depth: Int, isVisible: Bool, in state: inout State
  ) throws(State.Failure) {
    head.erased = SortedTable()
    try state.removeLists(of: operation.object, under: places(depth))
    if isVisible { tell(.cleared, depth) }
  }

  private mutating func elements<State: MergeState>(
    of list: ListPlace, _ head: inout ListHead, _ depth: Int, isVisible: Bool, in state: inout State
  ) throws(State.Failure) {
    switch operation.action {
    case .insert(let id, let position, let value):
      // *Erased* is above *inserted*: an erased element does not come back, and a repeated insert has no effect.
      guard head.erased[id] == nil else { return }
      guard let old = try state.element(id, near: position, of: list) else {
        let slot = Slot(node: Node(guarding: EpochGuard(epoch: stamp, seq: seq)), value: value)
        try replace(nil, with: ListElement(id: id, position: position, moved: stamp, slot: slot), of: list, in: &state)
        if isVisible { tell(.inserted(id, at: position, value), depth) }
        return
      }
      var new = old
      _ = new.slot.node.guarding.raise(to: old.slot.node.guarding.epoch == stamp ? stamp : .zero, seq: seq)
      try replace(old, with: new, of: list, in: &state)
    case .setElement(let id, let near, let value):
      guard let old = try state.element(id, near: near, of: list) else { return }
      var new = old
      try write(&new.slot, value, list.path + [.element(id)], in: &state)
      try replace(old, with: new, of: list, in: &state)
      if isVisible, new.slot.value != old.slot.value || old.slot.node.isMade && !new.slot.node.isMade {
        tell(.setElement(id, at: new.position, value), depth)
      }
    case .move(let id, let from, let to):
      guard let old = try state.element(id, near: from, of: list), stamp > old.moved else { return }
      var new = old
      new.moved = stamp
      new.position = to
      try replace(old, with: new, of: list, in: &state)
      if isVisible { tell(.moved(id, from: old.position, to: to), depth) }
    case .erase(let id, let near):
      if let before = head.erased[id] {
        isChanged = isChanged || seq < before
        head.erased[id] = min(before, seq)
        return
      }
      guard let old = try state.element(id, near: near, of: list) else { return }
      head.erased[id] = seq
      if old.slot.node.contents.holdsLists {
        try state.removeLists(of: operation.object, under: list.path + [.element(id)])
      }
      try replace(old, with: nil, of: list, in: &state)
      if isVisible { tell(.erased(id, from: old.position), depth) }
    default: break  // not well-formed
    }
  }

  private mutating func replace<State: MergeState>(
    _ old: ListElement?, with new: ListElement?, of list: ListPlace, in state: inout State
  ) throws(State.Failure) {
    guard old != new else { return }
    isChanged = true
    try state.replaceElement(old, with: new, of: list)
  }

  /// Writes the value of an element or entry: the last writer wins, and an embedded object there is gone.
  mutating func write<State: MergeState>(
    _ slot: inout Slot, _ value: CellValue, _ path: [PathStep.Place], in state: inout State
  ) throws(State.Failure) {
    if raise(&slot.node.guarding) {
      if slot.node.contents.holdsLists { try state.removeLists(of: operation.object, under: path) }
      slot.node.isMade = false
      slot.node.contents = Contents()
      slot.value = value
    } else if slot.node.guarding.epoch == stamp, slot.value != value {
      // An operation inside the slot arrived first and brought the epoch.
      slot.value = value
      isChanged = true
    }
  }

  /// Acts inside the object that is embedded in an element.
  private mutating func inElement<State: MergeState>(
    of list: ListPlace, _ head: ListHead, _ depth: Int, isVisible: Bool, in state: inout State
  ) throws(State.Failure) {
    let step = operation.path[depth]
    guard case .element(let id) = step.place, let old = try state.element(id, near: step.near, of: list) else { return }
    var new = old
    if old.slot.node.guarding.passage(of: step.epoch, floor: floor) == .ahead {
      new.slot.value = .null
      if isVisible, old.slot.value != .null { tell(.setElement(id, at: old.position, .null), depth) }
    }
    try inside(&new.slot.node, step, depth, isVisible: isVisible, in: &state)
    try replace(old, with: new, of: list, in: &state)
  }
}
