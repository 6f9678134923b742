import SyncModel

/// What a reader sees of an object, as a plain tree that two ways of merging can be compared by.
indirect enum Shown: Hashable, CustomStringConvertible {
  case value(CellValue)
  case object([String: Shown])
  case list([Shown])
  case set(Set<CellValue>)
  case map([String: Shown])

  static let null = Shown.value(.null)

  var isEmpty: Bool {
    switch self {
    case .value(let value): value == .null
    case .object: false
    case .list(let all): all.isEmpty
    case .set(let all): all.isEmpty
    case .map(let all): all.isEmpty
    }
  }

  var description: String {
    switch self {
    case .value(let value): value.description
    case .object(let all): "{" + all.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "}"
    case .list(let all): "[" + all.map(\.description).joined(separator: ", ") + "]"
    case .set(let all): "(" + all.map(\.description).sorted().joined(separator: ", ") + ")"
    case .map(let all): "<" + all.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + ">"
    }
  }

  /// The property of an object, by the name of its kind and its own: "L.items".
  subscript(name: String) -> Shown {
    if case .object(let all) = self { return all[name] ?? .null }
    return .null
  }
}

/// Reads what a merged state shows. What is empty or null is left out, as a property that was never written.
struct ShownReader {
  let state: MemoryState

  func all() -> [ObjectIdentity: Shown] {
    var all: [ObjectIdentity: Shown] = [:]
    for (object, record) in state.records where record.isAlive { all[object] = shown(record.node.contents, object, []) }
    return all
  }

  func object(_ object: ObjectIdentity) -> Shown? {
    guard let record = state.record(of: object), record.isAlive else { return nil }
    return shown(record.node.contents, object, [])
  }

  /// A link that leads nowhere reads as null: nil where it is passed over.
  private func value(_ value: CellValue) -> CellValue? {
    guard case .link(let target) = value else { return value }
    return Merge.resolves(target, in: state) ? .link(LinkTarget(target.object)) : nil
  }

  private func shown(_ slot: Slot, _ object: ObjectIdentity, _ path: [PathStep.Place]) -> Shown? {
    slot.node.isMade ? shown(slot.node.contents, object, path) : value(slot.value).map { .value($0) }
  }

  func shown(_ contents: Contents, _ object: ObjectIdentity, _ path: [PathStep.Place]) -> Shown {
    var all: [String: Shown] = [:]
    for entry in contents.values { all["V.\(entry.key)"] = .value(value(entry.value.visible) ?? .null) }
    for entry in contents.embedded where entry.value.isMade {
      all["E.\(entry.key)"] = shown(entry.value.contents, object, path + [.embedded(entry.key)])
    }
    for entry in contents.lists {
      let place = ListPlace(object: object, path: path + [.list(entry.key)])
      all["L.\(entry.key)"] = .list(
        state.elements(of: place).compactMap { shown($0.slot, object, place.path + [.element($0.id)]) })
    }
    for entry in contents.sets {
      all["S.\(entry.key)"] = .set(Set(entry.value.members.compactMap { $0.value.isErased ? nil : value($0.value.value) }))
    }
    for entry in contents.maps {
      var map: [String: Shown] = [:]
      for item in entry.value.entries where item.value.isVisible {
        map[item.key.text] = shown(item.value.slot, object, path + [.map(entry.key), .entry(item.key)])
      }
      all["M.\(entry.key)"] = .map(map)
    }
    return .object(all.filter { !$0.value.isEmpty })
  }
}
