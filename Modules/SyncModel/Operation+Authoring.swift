extension Operation {
  /// Makes the operation of an author who sees the given state: it carries the epochs of the object and of each node on the path, and the
  /// positions of the elements on the way, as they are in that state.
  ///
  /// - Parameter places: the path from the object to the node that the action changes; empty for the object itself.
  /// - Complexity: O(the object's record), plus what the state takes to find elements.
  public static func made<State: MergeState>(
    on object: ObjectIdentity, _ places: [PathStep.Place] = [], _ action: Action, seeing state: State
  ) throws(State.Failure) -> Operation {
    let node = try state.record(of: object)?.node ?? Node()
    var contents = node.contents
    var map = EntryMap()
    var steps: [PathStep] = []
    for (index, place) in places.enumerated() {
      switch place {
      case .list(let name): steps.append(PathStep(place, epoch: contents.lists[name]?.guarding.epoch ?? .zero))
      case .set(let name): steps.append(PathStep(place, epoch: contents.sets[name]?.guarding.epoch ?? .zero))
      case .map(let name):
        map = contents.maps[name] ?? EntryMap()
        steps.append(PathStep(place, epoch: map.guarding.epoch))
      case .embedded(let name):
        let node = contents.embedded[name] ?? Node()
        steps.append(PathStep(place, epoch: node.guarding.epoch))
        contents = node.contents
      case .entry(let key):
        let node = map.entries[key]?.slot.node ?? Node()
        steps.append(PathStep(place, epoch: node.guarding.epoch))
        contents = node.contents
      case .element(let id):
        let element = try state.element(id, near: .none, of: ListPlace(object: object, path: Array(places[..<index])))
        let node = element?.slot.node ?? Node()
        steps.append(PathStep(place, epoch: node.guarding.epoch, near: element?.position ?? .none))
        contents = node.contents
      }
    }
    return Operation(object, epoch: node.guarding.epoch, path: steps, action)
  }
}

extension LinkTarget {
  /// Makes the link of an author who sees the given state.
  public static func made<State: MergeState>(
    to object: ObjectIdentity, seeing state: State
  ) throws(State.Failure) -> LinkTarget {
    LinkTarget(object, epoch: try state.record(of: object)?.node.guarding.epoch ?? .zero)
  }
}
