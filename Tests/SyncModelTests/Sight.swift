import SyncModel

/// What an author sees, and so the epochs that his operations name.
struct Sight {
  let state: MemoryState

  func epoch(_ object: ObjectIdentity) -> Stamp { state.record(of: object)?.node.guarding.epoch ?? .zero }

  func link(_ object: ObjectIdentity) -> CellValue { .link(LinkTarget(object, epoch: epoch(object))) }

  func operation(_ object: ObjectIdentity, _ places: [PathStep.Place], _ action: SyncModel.Operation.Action) -> SyncModel.Operation {
    SyncModel.Operation(object, epoch: epoch(object), path: path(object, places), action)
  }

  func operation(_ object: ObjectIdentity, _ action: SyncModel.Operation.Action) -> SyncModel.Operation {
    operation(object, [], action)
  }

  func path(_ object: ObjectIdentity, _ places: [PathStep.Place]) -> [PathStep] {
    var contents = state.record(of: object)?.node.contents ?? Contents()
    var entries = EntryMap()
    return places.enumerated().map { index, place in
      let node: Node
      switch place {
      case .list(let name): return PathStep(place, epoch: contents.lists[name]?.guarding.epoch ?? .zero)
      case .set(let name): return PathStep(place, epoch: contents.sets[name]?.guarding.epoch ?? .zero)
      case .map(let name):
        entries = contents.maps[name] ?? EntryMap()
        return PathStep(place, epoch: entries.guarding.epoch)
      case .embedded(let name): node = contents.embedded[name] ?? Node()
      case .entry(let key): node = entries.entries[key]?.slot.node ?? Node()
      case .element(let id):
        let list = ListPlace(object: object, path: Array(places[..<index]))
        let element = state.element(id, near: .none, of: list)
        contents = element?.slot.node.contents ?? Contents()
        return PathStep(place, epoch: element?.slot.node.guarding.epoch ?? .zero, near: element?.position ?? .none)
      }
      contents = node.contents
      return PathStep(place, epoch: node.guarding.epoch)
    }
  }

  func elements(_ object: ObjectIdentity, _ places: [PathStep.Place]) -> [ListElement] {
    state.elements(of: ListPlace(object: object, path: places))
  }
}

func object(_ number: Int64) -> ObjectIdentity { ObjectIdentity("Thing", .int(number)) }

/// An operation with the stamp it has.
typealias Stamped = (stamp: Stamp, operation: SyncModel.Operation)

extension MemoryState {
  /// Merges operations in the order given.
  mutating func merge(_ operations: some Sequence<Stamped>, seq: Seq = Seq(20)) {
    for (stamp, operation) in operations { _ = Merge.apply(operation, at: stamp, seq: seq, to: &self) }
  }
}

extension Sequence where Element == Stamped {
  /// In any order, but inserts of elements first: what else happens to an element comes after its insert.
  func inAnyOrder(_ random: inout some RandomNumberGenerator) -> [Stamped] {
    let all = shuffled(using: &random)
    func isInsert(_ stamped: Stamped) -> Bool { if case .insert = stamped.operation.action { true } else { false } }
    return all.filter(isInsert) + all.filter { !isInsert($0) }
  }
}

extension Array {
  /// All orders of the elements.
  var permutations: [[Element]] {
    if count < 2 { return [self] }
    return indices.flatMap { index in
      var rest = self
      let one = rest.remove(at: index)
      return rest.permutations.map { [one] + $0 }
    }
  }
}
