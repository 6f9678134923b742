import StoreValues
import SyncModel

/// The obviously right and slow way to merge: all operations again from the beginning, one after the other in the order of
/// their stamps, each doing what it says. That order extends *happened before*, so nothing ever arrives early, no
/// stamp is compared but to sort, and the later writer wins because he comes last.
///
/// Of the merge's rules it has one alone: an operation acts only on the incarnation that its author saw.
final class Replay {
  private var objects: [ObjectIdentity: Thing] = [:]

  static func shown(_ operations: [(stamp: Stamp, operation: SyncModel.Operation)]) -> [ObjectIdentity: Shown] {
    let replay = Replay()
    var last: Stamp?
    for (stamp, operation) in operations.sorted(by: { $0.stamp < $1.stamp }) where stamp != last {
      replay.apply(operation, stamp)
      last = stamp
    }
    return replay.all()
  }

  private func apply(_ operation: SyncModel.Operation, _ stamp: Stamp) {
    let object = objects[operation.object] ?? Thing()
    objects[operation.object] = object
    if case .delete = operation.action { return object.begin(stamp) }
    guard object.epoch == operation.epoch else { return }
    var thing = object
    for (index, step) in operation.path.enumerated() {
      let next: Thing
      switch step.place {
      case .element(let id):
        guard let element = thing.elements[id] else { return }
        next = element.thing
      case .entry(let key):
        if thing.entries[key] == nil { thing.entries[key] = (nil, Thing()) }
        next = thing.entries[key]?.thing ?? Thing()
      default:
        next = thing.things[step.place] ?? Thing()
        thing.things[step.place] = next
      }
      if index == operation.path.count - 1 {
        switch operation.action {
        case .clear, .remove: return next.begin(stamp)
        default: break
        }
      }
      guard next.epoch == step.epoch else { return }
      thing = next
    }
    act(operation.action, on: thing, stamp)
  }

  private func act(_ action: SyncModel.Operation.Action, on thing: Thing, _ stamp: Stamp) {
    switch action {
    case .create, .make: thing.isMade = true
    case .set(let name, let value, let isDefault):
      let old = thing.values[name]
      if !isDefault { thing.values[name] = (value, true) }
      if isDefault, !(old?.isWritten ?? false) {
        // Increments of a default are increments of the next one too.
        thing.values[name] = (Thing.sum(value, thing.added[name] ?? 0), false)
      }
      if !isDefault { thing.added[name] = nil }
    case .add(let name, let delta):
      thing.added[name] = (thing.added[name] ?? 0) &+ delta
      let old = thing.values[name] ?? (.int(0), false)
      thing.values[name] = (Thing.sum(old.value, delta), old.isWritten)
    case .insert(let id, let position, let value):
      let slot = Thing()
      slot.epoch = stamp
      thing.elements[id] = (position, value, slot)
    case .setElement(let id, _, let value):
      thing.elements[id]?.value = value
      thing.elements[id]?.thing.begin(stamp)
    case .move(let id, _, let position): thing.elements[id]?.position = position
    case .erase(let id, _): thing.elements[id] = nil
    case .insertMember(let value): thing.members[value.memberKey] = value
    case .eraseMember(let value): thing.members[value.memberKey] = nil
    case .setEntry(let key, let value): thing.setEntry(key, value, stamp)
    case .eraseEntry(let key): thing.setEntry(key, nil, stamp)
    case .delete, .clear, .remove: break  // done
    }
  }

  func all() -> [ObjectIdentity: Shown] {
    objects.filter(\.value.isMade).mapValues { thing in
      thing.shown { link in
        let target = self.objects[link.object]
        return target?.isMade ?? false && target?.epoch == link.epoch
      }
    }
  }
}
