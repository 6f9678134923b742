/// Sets and maps: a last-writer-wins register for each member and each key. The register of an erased one stays until a purge.
extension MergeRun {
  mutating func set(_ set: inout MemberSet, _ step: PathStep, _ depth: Int, isVisible: Bool) {
    if case .clear = operation.action {
      guard raise(&set.guarding) else { return }
      set.members = SortedTable()
      if isVisible { tell(.cleared, depth + 1) }
      return
    }
    switch set.guarding.passage(of: step.epoch, floor: floor) {
    case .behind: return
    case .current: break
    case .ahead:
      _ = set.guarding.raise(to: step.epoch, seq: seq)
      isChanged = true
      set.members = SortedTable()
      if isVisible { tell(.cleared, depth + 1) }
    }
    switch operation.action {
    case .insertMember(let value): write(&set, value, isErased: false, depth + 1, isVisible: isVisible)
    case .eraseMember(let value): write(&set, value, isErased: true, depth + 1, isVisible: isVisible)
    default: break  // not well-formed
    }
  }

  private mutating func write(_ set: inout MemberSet, _ value: CellValue, isErased: Bool, _ depth: Int, isVisible: Bool) {
    let key = value.memberKey
    let old = set.members[key]
    if let old, stamp <= old.stamp { return }
    set.members[key] = MemberSet.Member(value: value, stamp: stamp, isErased: isErased)
    isChanged = true
    guard isVisible else { return }
    let before = old.flatMap { $0.isErased ? nil : $0.value }
    if isErased {
      if let before { tell(.erasedMember(before), depth) }
    } else if before != value {
      tell(.insertedMember(value), depth)
    }
  }

  mutating func map<State: MergeState>(
    _ map: inout EntryMap, _ step: PathStep, _ depth: Int, isVisible: Bool, in state: inout State
  ) throws(State.Failure) {
    let isLast = depth + 1 == operation.path.count
    if case .clear = operation.action, isLast {
      if raise(&map.guarding) { try empty(&map, depth + 1, isVisible: isVisible, in: &state) }
      return
    }
    switch map.guarding.passage(of: step.epoch, floor: floor) {
    case .behind: return
    case .current: break
    case .ahead:
      _ = map.guarding.raise(to: step.epoch, seq: seq)
      isChanged = true
      try empty(&map, depth + 1, isVisible: isVisible, in: &state)
    }
    guard isLast else { return try inEntry(&map, depth + 1, isVisible: isVisible, in: &state) }
    switch operation.action {
    case .setEntry(let key, let value):
      try write(&map, key, value, depth + 1, isVisible: isVisible, in: &state)
    case .eraseEntry(let key):
      try write(&map, key, nil, depth + 1, isVisible: isVisible, in: &state)
    default: break  // not well-formed
    }
  }

  private mutating func empty<State: MergeState>(
    _ map: inout EntryMap, _ depth: Int, isVisible: Bool, in state: inout State
  ) throws(State.Failure) {
    if map.entries.contains(where: { $0.value.slot.node.contents.holdsLists }) {
      try state.removeLists(of: operation.object, under: places(depth))
    }
    map.entries = SortedTable()
    if isVisible { tell(.cleared, depth) }
  }

  /// Writes an entry, or erases it (nil).
  private mutating func write<State: MergeState>(
    _ map: inout EntryMap, _ key: Name, _ value: CellValue?, _ depth: Int, isVisible: Bool, in state: inout State
  ) throws(State.Failure) {
    let old = map.entries[key] ?? EntryMap.Entry(slot: Slot(), presence: .unknown)
    guard stamp >= old.slot.node.guarding.epoch else { return }
    var new = old
    try write(&new.slot, value ?? .null, places(depth) + [.entry(key)], in: &state)
    new.presence = value == nil ? .erased : .present
    guard new != old else { return }
    map.entries[key] = new
    isChanged = true
    guard isVisible else { return }
    if let value {
      let isSame = old.isVisible && old.slot.value == value && old.slot.node.isMade == new.slot.node.isMade
      if !isSame { tell(.setEntry(key, value), depth) }
    } else if old.isVisible {
      tell(.erasedEntry(key), depth)
    }
  }

  /// Acts inside the object that is embedded in an entry.
  private mutating func inEntry<State: MergeState>(
    _ map: inout EntryMap, _ depth: Int, isVisible: Bool, in state: inout State
  ) throws(State.Failure) {
    let step = operation.path[depth]
    guard case .entry(let key) = step.place else { return }
    let old = map.entries[key] ?? EntryMap.Entry(slot: Slot(), presence: .unknown)
    var new = old
    if old.slot.node.guarding.passage(of: step.epoch, floor: floor) == .ahead {
      new.slot.value = .null
      new.presence = .unknown
      if isVisible, old.isVisible { tell(.erasedEntry(key), depth) }
    }
    try inside(&new.slot.node, step, depth, isVisible: isVisible && old.presence != .erased, in: &state)
    guard new != old else { return }
    map.entries[key] = new
    isChanged = true
  }
}
