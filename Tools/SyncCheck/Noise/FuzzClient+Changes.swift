#if Sync
import StoreValues
import SyncModel

// Random changesets, over so few objects and elements that they meet.

extension FuzzClient {
  mutating func changeset(
    _ clientSeq: UInt64, isContinued: Bool, of session: FuzzLink.Session, _ host: FuzzHost
  ) -> Changeset {
    let author = random.isOne(of: 64) ? ReplicaID(UInt64(random.below(8))) : session.replica
    let state = host.state(session.path)
    var operations: [SyncModel.Operation] = []
    for _ in 0..<random.below(5) { operations.append(operation(of: author, seeing: state)) }
    let base = seq(upTo: host.head(session.path))
    return Changeset(
      clientSeq: clientSeq, baseSeq: base, isContinued: isContinued, schemaHash: random.number(), first: stamp(of: author),
      operations: operations)
  }

  mutating func object() -> ObjectIdentity {
    switch random.below(40) {
    case 0: return ObjectIdentity(Name("Locked"), .int(1))
    case 1...8: return ObjectIdentity(Name("Thing"), .string(Name("a")))
    case 9...16:
      let replica = ReplicaID(UInt64(random.below(4)))
      return ObjectIdentity(Name("Note"), .created(replica, ObjectKey(Int64(random.below(3)))))
    default: return ObjectIdentity(Name("Thing"), .int(Int64(random.below(4))))
    }
  }

  private mutating func stamp(of replica: ReplicaID) -> Stamp {
    let now = UInt64(FuzzHost.now)
    // At the ends of time, or too far ahead.
    let strange: [UInt64] = [1, UInt64.max - 8, (now + 3_600_000) << 16]
    if random.isOne(of: 64) { return Stamp(time: strange[random.below(strange.count)], replica: replica) }
    return Stamp(milliseconds: now - UInt64(random.below(1_000)), counter: UInt16(random.below(1 << 16)), replica: replica)
  }

  private mutating func operation(of author: ReplicaID, seeing state: MemoryState) -> SyncModel.Operation {
    let target = object()
    let (places, action) = change(by: author)
    // As its author sees the store; a few make things up.
    guard random.isOne(of: 16) else { return SyncModel.Operation.made(on: target, places, action, seeing: state) }
    var path: [PathStep] = []
    for place in places {
      let seen = epoch(author)
      path.append(PathStep(place, epoch: seen, near: position(author)))
    }
    return SyncModel.Operation(target, epoch: epoch(author), path: path, action)
  }

  private mutating func epoch(_ author: ReplicaID) -> Stamp { random.isOne(of: 2) ? Stamp.zero : stamp(of: author) }

  // MARK: actions

  private mutating func change(by author: ReplicaID) -> (places: [PathStep.Place], action: SyncModel.Operation.Action) {
    var outer: [PathStep.Place] = random.isOne(of: 4) ? [.embedded(Name("inner"))] : []
    // About as deep as is taken.
    if random.isOne(of: 400) { outer = Array(repeating: .embedded(Name("inner")), count: 60 + random.below(8)) }
    // Nothing that anybody can do.
    if random.isOne(of: 400) { return (outer + [.set(name())], .create) }
    switch random.below(8) {
    case 0, 1: return ([], random.isOne(of: 4) ? .delete : .create)
    case 2, 3: return (node(in: outer), onNode())
    case 4: return (outer + [.embedded(Name("part"))], random.isOne(of: 3) ? .remove : .make)
    case 5, 6: return (outer + [.list(Name("items"))], onList(by: author))
    default:
      if random.isOne(of: 2) { return (outer + [.set(Name("tags"))], onSet()) }
      return (outer + [.map(Name("fields"))], onMap())
    }
  }

  /// A path to what has properties.
  private mutating func node(in outer: [PathStep.Place]) -> [PathStep.Place] {
    switch random.below(8) {
    case 0: return outer + [.list(Name("items")), .element(element())]
    case 1: return outer + [.map(Name("fields")), .entry(name())]
    default: return outer
    }
  }

  private mutating func onNode() -> SyncModel.Operation.Action {
    if random.isOne(of: 4) { return .add(name(), Int64(bitPattern: random.number())) }
    let property = name()
    return .set(property, value(), isDefault: random.isOne(of: 4))
  }

  private mutating func onList(by author: ReplicaID) -> SyncModel.Operation.Action {
    let near = random.isOne(of: 2) ? ListPosition.none : position(author)
    switch random.below(12) {
    case 0, 1: return .setElement(element(), near: near, value())
    case 2, 3: return .move(element(), from: near, to: position(author))
    case 4: return .erase(element(), near: near)
    case 5: return .clear
    default:
      let id = random.isOne(of: 16) ? element() : ElementID(author, UInt64(random.below(6)))
      return .insert(id, at: position(author), value())
    }
  }

  private mutating func onSet() -> SyncModel.Operation.Action {
    switch random.below(6) {
    case 0: return .clear
    case 1, 2: return .eraseMember(value())
    default: return .insertMember(value())
    }
  }

  private mutating func onMap() -> SyncModel.Operation.Action {
    switch random.below(6) {
    case 0: return .clear
    case 1: return .eraseEntry(name())
    default:
      let key = name()
      return .setEntry(key, value())
    }
  }

  // MARK: parts

  private mutating func name() -> Name { Name(["text", "number", "é"][random.below(3)]) }

  private mutating func element() -> ElementID { ElementID(ReplicaID(UInt64(random.below(5))), UInt64(random.below(6))) }

  private mutating func position(_ author: ReplicaID) -> ListPosition {
    if random.isOne(of: 32) { return ListPosition.none }
    var steps: [ListPosition.Step] = []
    for _ in 0...random.below(2) {
      let gap = random.isOne(of: 16) ? Int64(bitPattern: random.number()) : Int64(random.below(9)) - 4
      let bunch = stamp(of: author)
      steps.append(ListPosition.Step(gap: gap, bunch: bunch, offset: Int64(random.below(5)) - 2))
    }
    return ListPosition(steps)
  }

  private mutating func value(_ depth: Int = 0) -> CellValue {
    switch random.below(depth < 3 ? 8 : 5) {
    case 0, 1: return CellValue.int(Int64(bitPattern: random.number()))
    case 2: return CellValue.string("text \(random.below(8))")
    case 3: return CellValue.null
    case 4: return CellValue.link(LinkTarget(object(), epoch: random.isOne(of: 16) ? stamp(of: ReplicaID(1)) : Stamp.zero))
    case 5, 6:
      var elements: [CellValue] = []
      for _ in 0..<random.below(3) { elements.append(value(depth + 1)) }
      return CellValue.list(elements)
    default:
      var table = SortedTable<Name, CellValue>()
      for _ in 0..<random.below(3) {
        let key = name()
        table[key] = value(depth + 1)
      }
      return CellValue.map(table)
    }
  }
}
#endif
