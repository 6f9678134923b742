import SyncModel

/// What a client shows who never looks at the merged state but where an effect tells him to: kept by effects alone.
struct EffectMirror {
  private(set) var objects: [ObjectIdentity: Thing] = [:]

  mutating func take(_ effects: [Effect], from state: MemoryState) {
    for effect in effects { take(effect, state) }
  }

  /// Merges a changeset as a client does: the effects of an operation are shown before the next one is merged.
  mutating func integrate(_ changeset: Changeset, seq: Seq, into state: inout MemoryState) {
    for (index, operation) in changeset.operations.enumerated() {
      take(Merge.apply(operation, at: changeset.stamp(of: index), seq: seq, to: &state), from: state)
    }
  }

  private mutating func take(_ effect: Effect, _ state: MemoryState) {
    let object = effect.object
    switch effect.change {
    case .created:
      let thing = Thing()
      thing.isMade = true
      objects[object] = thing
      return
    case .replaced:
      guard let record = state.record(of: object), record.isAlive else { break }
      objects[object] = EffectMirror.thing(record.node, object, [], state)
      return
    case .deleted:
      objects[object] = nil
      return
    default: break
    }
    guard var thing = objects[object] else { return }
    for place in effect.path {
      switch place {
      case .element(let id):
        guard let next = thing.elements[id]?.thing else { return }
        thing = next
      case .entry(let key):
        if thing.entries[key] == nil { thing.entries[key] = (.null, Thing()) }
        thing = thing.entries[key]?.thing ?? Thing()
      default:
        let next = thing.things[place] ?? Thing()
        thing.things[place] = next
        thing = next
      }
    }
    change(thing, effect)
  }

  private func change(_ thing: Thing, _ effect: Effect) {
    switch effect.change {
    case .set(let name, let value): thing.values[name] = (value, true)
    case .increment(let name, let delta):
      thing.values[name] = (Thing.sum(thing.values[name]?.value ?? .int(0), delta), true)
    case .made:
      thing.begin(.zero)
      thing.isMade = true
    case .removed, .cleared: thing.begin(.zero)
    case .inserted(let id, let position, let value): thing.elements[id] = (position, value, Thing())
    case .setElement(let id, _, let value):
      thing.elements[id]?.value = value
      thing.elements[id]?.thing.begin(.zero)
    case .moved(let id, _, let position): thing.elements[id]?.position = position
    case .erased(let id, _): thing.elements[id] = nil
    case .insertedMember(let value): thing.members[value.memberKey] = value
    case .erasedMember(let value): thing.members[value.memberKey] = nil
    case .setEntry(let key, let value): thing.setEntry(key, value, .zero)
    case .erasedEntry(let key): thing.entries[key] = nil
    case .created, .deleted, .replaced: break
    }
  }

  /// Links to incarnations that a purge has forgotten lead nowhere for good.
  mutating func sever(_ forgotten: [ObjectIdentity: Stamp]) {
    func sever(_ value: inout CellValue) {
      if case .link(let link) = value, let epoch = forgotten[link.object], link.epoch < epoch { value = .null }
    }
    for thing in objects.values {
      for name in thing.values.keys { sever(&thing.values[name]!.value) }
    }
  }

  func shown(_ state: MemoryState) -> [ObjectIdentity: Shown] {
    objects.mapValues { $0.shown { Merge.resolves($0, in: state) } }
  }

  // MARK: reading a record once, where an effect says that something is there

  private static func thing(_ node: Node, _ object: ObjectIdentity, _ path: [PathStep.Place], _ state: MemoryState) -> Thing {
    let thing = Thing()
    thing.isMade = node.isMade
    if node.isMade { fill(thing, node.contents, object, path, state) }
    return thing
  }

  private static func fill(
    _ thing: Thing, _ contents: Contents, _ object: ObjectIdentity, _ path: [PathStep.Place], _ state: MemoryState
  ) {
    for entry in contents.values { thing.values[entry.key] = (entry.value.visible, true) }
    for entry in contents.embedded {
      thing.things[.embedded(entry.key)] = self.thing(entry.value, object, path + [.embedded(entry.key)], state)
    }
    for entry in contents.lists {
      let list = Thing()
      let place = ListPlace(object: object, path: path + [.list(entry.key)])
      for element in state.elements(of: place) {
        let inner = self.thing(element.slot.node, object, place.path + [.element(element.id)], state)
        list.elements[element.id] = (element.position, element.slot.value, inner)
      }
      thing.things[.list(entry.key)] = list
    }
    for entry in contents.sets {
      let set = Thing()
      for member in entry.value.members where !member.value.isErased { set.members[member.key] = member.value.value }
      thing.things[.set(entry.key)] = set
    }
    for entry in contents.maps {
      let map = Thing()
      for item in entry.value.entries where item.value.isVisible {
        let inner = self.thing(item.value.slot.node, object, path + [.map(entry.key), .entry(item.key)], state)
        map.entries[item.key] = (item.value.slot.value, inner)
      }
      thing.things[.map(entry.key)] = map
    }
  }
}
