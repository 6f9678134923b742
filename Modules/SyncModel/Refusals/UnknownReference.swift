/// Something that an uploaded operation names although nobody has made it: an epoch, an element or a link's target.
///
/// The merge trusts an epoch that is ahead of the known one (`EpochGuard`) and drops the node's contents. So an author without the right
/// to delete could delete by naming an invented epoch. An author who names only what he saw is never rejected: it was in the log, or in
/// an earlier changeset of his.
public enum UnknownReference: Hashable, Sendable {
  case epoch(Stamp, of: ObjectIdentity, path: [PathStep.Place])
  case element(ElementID, of: ListPlace)
  case link(LinkTarget)
}

extension Merge {
  /// What an uploaded operation names and the server does not know; nil if it knows everything. Call it before each operation of a
  /// changeset is merged, after those before it have been merged.
  public static func unknownReference<State: MergeState>(
    in operation: Operation, to state: State
  ) throws(State.Failure) -> UnknownReference? {
    if let value = operation.value, let link = try unknownLink(in: value, to: state) { return .link(link) }
    let object = operation.object
    let record = try state.record(of: object) ?? ObjectRecord()
    switch record.node.guarding.passage(of: operation.epoch, floor: state.floor) {
    case .ahead: return .epoch(operation.epoch, of: object, path: [])
    case .behind: return nil  // dropped, with everything it names
    case .current: break
    }
    var contents = record.node.contents
    var places: [PathStep.Place] = []
    var map = EntryMap()
    for step in operation.path {
      places.append(step.place)
      let guarding: EpochGuard
      switch step.place {
      case .embedded(let name):
        let node = contents.embedded[name] ?? Node()
        (guarding, contents) = (node.guarding, node.contents)
      case .list(let name): guarding = contents.lists[name]?.guarding ?? EpochGuard()
      case .set(let name): guarding = contents.sets[name]?.guarding ?? EpochGuard()
      case .map(let name):
        map = contents.maps[name] ?? EntryMap()
        guarding = map.guarding
      case .entry(let key):
        let node = map.entries[key]?.slot.node ?? Node()
        (guarding, contents) = (node.guarding, node.contents)
      case .element(let id):
        let list = ListPlace(object: object, path: places.dropLast())
        guard let element = try state.element(id, near: step.near, of: list) else {
          return isErased(id, contents, list) ? nil : .element(id, of: list)
        }
        (guarding, contents) = (element.slot.node.guarding, element.slot.node.contents)
      }
      switch guarding.passage(of: step.epoch, floor: state.floor) {
      case .ahead: return .epoch(step.epoch, of: object, path: places)
      case .behind: return nil
      case .current: break
      }
    }
    switch operation.action {
    case .setElement(let id, let near, _), .move(let id, let near, _), .erase(let id, let near):
      let list = ListPlace(object: object, path: places)
      if isErased(id, contents, list) { return nil }
      return try state.element(id, near: near, of: list) == nil ? .element(id, of: list) : nil
    default: return nil
    }
  }

  private static func isErased(_ id: ElementID, _ contents: Contents, _ list: ListPlace) -> Bool {
    guard case .list(let name) = list.path.last else { return false }
    return contents.lists[name]?.erased[id] != nil
  }

  private static func unknownLink<State: MergeState>(
    in value: CellValue, to state: State
  ) throws(State.Failure) -> LinkTarget? {
    var links: [LinkTarget] = []
    value.forEachLink { links.append($0) }
    for link in links {
      let guarding = try state.record(of: link.object)?.node.guarding ?? EpochGuard()
      if guarding.passage(of: link.epoch, floor: state.floor) == .ahead { return link }
    }
    return nil
  }
}
