/// One purge over the objects of a state.
struct PurgeRun {
  let purge: Purge
  /// The epochs of objects that were forgotten: a link to an earlier incarnation leads nowhere for good.
  private(set) var forgotten: [ObjectIdentity: Stamp]

  init(purge: Purge, forgotten: [ObjectIdentity: Stamp] = [:]) { (self.purge, self.forgotten) = (purge, forgotten) }

  mutating func forget<State: MergeState>(_ object: ObjectIdentity, in state: inout State) throws(State.Failure) {
    guard let old = try state.record(of: object) else { return }
    var record = old
    if let epoch = record.beneath.forget(purge) { forgotten[object] = epoch }
    if let epoch = record.node.guarding.forget(purge) { forgotten[object] = epoch }
    try forget(&record.node.contents, object, [], in: &state)
    guard record != old else { return }
    try state.setRecord(record.node.isNothing ? nil : record, of: object)
  }

  private func forget<State: MergeState>(
    _ contents: inout Contents, _ object: ObjectIdentity, _ path: [PathStep.Place], in state: inout State
  ) throws(State.Failure) {
    contents.values.updateAll { $0.settle(purge.floor) }
    for (name, old) in contents.embedded.map({ ($0.key, $0.value) }) {
      var node = old
      _ = node.guarding.forget(purge)
      try forget(&node.contents, object, path + [.embedded(name)], in: &state)
      contents.embedded[name] = node.isNothing ? nil : node
    }
    for (name, old) in contents.lists.map({ ($0.key, $0.value) }) {
      var head = old
      _ = head.guarding.forget(purge)
      head.erased.keep { _, seq in seq > purge.stable }
      try forgetElements(ListPlace(object: object, path: path + [.list(name)]), in: &state)
      contents.lists[name] = head
    }
    contents.sets.updateAll { set in
      _ = set.guarding.forget(purge)
      set.members.keep { _, member in
        guard member.stamp <= purge.floor else { return true }
        member.stamp = .zero
        return !member.isErased
      }
    }
    for (name, old) in contents.maps.map({ ($0.key, $0.value) }) {
      var map = old
      _ = map.guarding.forget(purge)
      for (key, before) in old.entries.map({ ($0.key, $0.value) }) {
        var entry = before
        let isForgotten = entry.slot.node.guarding.forget(purge) != nil
        try forget(&entry.slot.node.contents, object, path + [.map(name), .entry(key)], in: &state)
        map.entries[key] = entry.presence == .erased && isForgotten ? nil : entry
      }
      contents.maps[name] = map
    }
  }

  private func forgetElements<State: MergeState>(_ list: ListPlace, in state: inout State) throws(State.Failure) {
    for old in try state.elements(of: list) {
      var new = old
      if new.moved <= purge.floor { new.moved = .zero }
      _ = new.slot.node.guarding.forget(purge)
      try forget(&new.slot.node.contents, list.object, list.path + [.element(old.id)], in: &state)
      if new != old { try state.replaceElement(old, with: new, of: list) }
    }
  }

  // MARK: links

  private func isGone(_ link: LinkTarget) -> Bool { forgotten[link.object].map { link.epoch < $0 } ?? false }

  func sever<State: MergeState>(_ object: ObjectIdentity, in state: inout State) throws(State.Failure) {
    guard let old = try state.record(of: object) else { return }
    var record = old
    try sever(&record.node.contents, object, [], in: &state)
    if record != old { try state.setRecord(record, of: object) }
  }

  private func sever<State: MergeState>(
    _ contents: inout Contents, _ object: ObjectIdentity, _ path: [PathStep.Place], in state: inout State
  ) throws(State.Failure) {
    contents.values.updateAll { sever(&$0.value) }
    for (name, old) in contents.embedded.map({ ($0.key, $0.value) }) {
      var node = old
      try sever(&node.contents, object, path + [.embedded(name)], in: &state)
      contents.embedded[name] = node
    }
    for name in contents.lists.map(\.key) {
      let list = ListPlace(object: object, path: path + [.list(name)])
      for old in try state.elements(of: list) {
        var new = old
        sever(&new.slot.value)
        try sever(&new.slot.node.contents, object, list.path + [.element(old.id)], in: &state)
        if new != old { try state.replaceElement(old, with: new, of: list) }
      }
    }
    contents.sets.updateAll { set in set.members.updateAll { sever(&$0.value) } }
    for (name, old) in contents.maps.map({ ($0.key, $0.value) }) {
      var map = old
      for (key, before) in old.entries.map({ ($0.key, $0.value) }) {
        var entry = before
        sever(&entry.slot.value)
        try sever(&entry.slot.node.contents, object, path + [.map(name), .entry(key)], in: &state)
        map.entries[key] = entry
      }
      contents.maps[name] = map
    }
  }

  /// The cell keeps its stamps, so later and concurrent writes to it are decided as before.
  private func sever(_ value: inout CellValue) {
    if let severed = value.severing(isGone) { value = severed }
  }
}
