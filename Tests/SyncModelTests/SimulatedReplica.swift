import StoreValues
import SyncModel
import VivariumTestSupport

struct SimulatedReplica {
  let id: ReplicaID
  var state = MemoryState()
  /// The state without any purge, to know epochs that are never forgotten. For the oracle alone.
  var shadow = MemoryState()
  var mirror = EffectMirror()
  var pending = PendingChangesets()
  var cursor = Seq.zero
  var refusalSeen = Seq.zero
  var clock: HybridClock
  var skew: Int64 = 0
  var isCut = false
  private var clientSeq: UInt64 = 0
  private var elements: UInt64 = 0

  init(_ id: ReplicaID) {
    self.id = id
    clock = HybridClock(replica: id)
  }

  var reportedBase: Seq { pending.baseSeq(integrated: cursor) }

  /// One transaction of a few changes, and the same with true epochs.
  mutating func edit(
    _ time: Int64, _ random: inout SeededGenerator, deletesOneIn: Int
  ) -> (Changeset, [Stamped])? {
    var operations: [SyncModel.Operation] = []
    var truth: [Stamped] = []
    var source = PositionSource()
    let wall = time + skew
    // One stamp for each that may come; those that are not used are lost, as the clock allows.
    guard let first = try? clock.next(6, wall: wall) else { return nil }
    for _ in 0..<(1 + random.below(4)) {
      let stamp = first.advanced(by: operations.count)
      let object = object(Int64(1 + random.below(3)))
      let sight = Sight(state: state)
      guard let (places, action) = change(of: object, stamp, &source, &random, deletesOneIn) else { continue }
      let operation = sight.operation(object, places, action)
      let shadowSight = Sight(state: shadow)
      var trueAction = action
      if case .set(let name, .link(let target), let isDefault) = action {
        trueAction = .set(name, shadowSight.link(target.object), isDefault: isDefault)
      }
      let trueOperation = shadowSight.operation(object, places, trueAction)
      mirror.take(Merge.apply(operation, at: stamp, seq: .pending, to: &state), from: state)
      shadow.merge([(stamp, trueOperation)], seq: .pending)
      operations.append(operation)
      truth.append((stamp, trueOperation))
    }
    if operations.isEmpty { return nil }
    clientSeq += 1
    let changeset = Changeset(clientSeq: clientSeq, baseSeq: cursor, first: first, operations: operations)
    pending.append(changeset)
    return (changeset, truth)
  }

  private mutating func change(
    of object: ObjectIdentity, _ stamp: Stamp, _ source: inout PositionSource, _ random: inout SeededGenerator, _ deletesOneIn: Int
  ) -> ([PathStep.Place], SyncModel.Operation.Action)? {
    guard let record = state.record(of: object), record.isAlive else { return ([], .create) }
    if random.oneIn(deletesOneIn) { return ([], .delete) }
    let text = CellValue.string("\(id).\(stamp.time & 0xFFFFFF)")
    let contents = record.node.contents
    let isEmbedded = contents.embedded["E"]?.isMade ?? false
    switch random.below(19) {
    case 0, 1: return ([], .set(random.oneIn(2) ? "x" : "y", text, isDefault: random.oneIn(8)))
    case 2: return ([], .set("link", Sight(state: state).link(SyncModelTests.object(Int64(1 + random.below(3)))), isDefault: false))
    case 3: return ([], .set("n", random.oneIn(4) ? .null : .int(Int64(random.below(50))), isDefault: false))
    case 4, 5: return ([], .add("n", Int64(random.below(5))))
    case 6: return ([.set("S")], .insertMember(random.oneIn(2) ? .int(Int64(random.below(3))) : .plain(PlainValue(.double(1)) ?? .null)))
    case 7: return ([.set("S")], .eraseMember(.int(Int64(random.below(3)))))
    case 8: return (entry(&random, contents), .make)
    case 9: return ([.map("M")], .setEntry(random.oneIn(2) ? "a" : "b", random.oneIn(2) ? .null : text))
    case 10: return ([.map("M")], .eraseEntry(random.oneIn(2) ? "a" : "b"))
    case 11: return ([.embedded("E")], isEmbedded && random.oneIn(2) ? .remove : .make)
    case 12 where isEmbedded: return ([.embedded("E")], .set("f", text, isDefault: false))
    case 13 where random.oneIn(3): return ([[.list("L")], [.set("S")], [.map("M")]][random.below(3)], .clear)
    case 14 where isEmbedded: return listChange([.embedded("E"), .list("inner")], of: object, text, stamp, &source, &random)
    case 15:
      // Inside what is embedded in an element.
      let made = Sight(state: state).elements(object, [.list("L")]).filter(\.slot.node.isMade)
      guard let element = made.randomElement(using: &random) else { return nil }
      return ([.list("L"), .element(element.id)], .add("f", 1))
    default: return listChange([.list("L")], of: object, text, stamp, &source, &random)
    }
  }

  private func entry(_ random: inout SeededGenerator, _ contents: Contents) -> [PathStep.Place] {
    let entries = contents.maps["M"]?.entries.filter { $0.value.presence == .present }.map(\.key) ?? []
    guard let key = entries.randomElement(using: &random) else { return [.embedded("E")] }
    return [.map("M"), .entry(key)]
  }

  private mutating func listChange(
    _ places: [PathStep.Place], of object: ObjectIdentity, _ text: CellValue, _ stamp: Stamp, _ source: inout PositionSource,
    _ random: inout SeededGenerator
  ) -> ([PathStep.Place], SyncModel.Operation.Action) {
    let all = Sight(state: state).elements(object, places)
    func position(_ index: Int, _ list: [ListElement]) -> ListPosition {
      source.position(
        after: index > 0 ? list[index - 1].position : nil, before: index < list.count ? list[index].position : nil, stamp: stamp)
    }
    guard let chosen = all.randomElement(using: &random), !random.oneIn(3) else {
      elements += 1
      let index = [0, all.count, random.below(all.count + 1)][random.below(3)]
      return (places, .insert(ElementID(id, elements), at: position(index, all), random.oneIn(3) ? .null : text))
    }
    switch random.below(4) {
    case 0: return (places, .erase(chosen.id, near: chosen.position))
    case 1: return (places, .setElement(chosen.id, near: chosen.position, random.oneIn(2) ? .null : text))
    case 2: return (places + [.element(chosen.id)], .make)
    default:
      let rest = all.filter { $0.id != chosen.id }
      return (places, .move(chosen.id, from: chosen.position, to: position(random.below(rest.count + 1), rest)))
    }
  }

  // MARK: from the server

  mutating func integrate(_ entry: SimulatedServer.Entry, _ seq: Seq, truth: (Changeset) -> [Stamped]) throws {
    cursor = seq
    switch entry {
    case .changes(let changeset):
      // The own one too: nothing of it changes but its place in the log.
      _ = changeset.author == id ? pending.acknowledge(changeset.clientSeq) : nil
      for index in changeset.operations.indices { clock.receive(changeset.stamp(of: index)) }
      mirror.integrate(changeset, seq: seq, into: &state)
      shadow.merge(truth(changeset), seq: seq)
    case .purge(let purge): mirror.sever(Merge.purge(purge, in: &state))
    case .refusal(let author, let refusal):
      guard author == id else { return }
      refusalSeen = seq
      var states: [ObjectIdentity: ObjectState?] = [:]
      for (object, state) in refusal.states {
        let copy = try state.map { try ObjectState(decoding: $0.encoded()) }
        guard copy == state else { throw Simulation.Fault(description: "a state is another after its bytes") }
        states[object] = .some(copy)
      }
      let decoded = Refusal(clientSeq: refusal.clientSeq, seq: refusal.seq, states: states)
      mirror.take(Merge.integrate(decoded, pending: &pending, in: &state), from: state)
    }
  }

  /// Takes the whole state of a server whose log no longer reaches back to the own cursor.
  mutating func takeSnapshot(_ server: SimulatedServer) throws {
    var states: [ObjectIdentity: ObjectState?] = [:]
    let own = pending.all.reduce(into: Set(state.records.keys)) { $0.formUnion($1.changeset.objects) }
    for object in own.union(server.state.records.keys) {
      states[object] = .some(try Merge.objectState(of: object, in: server.state).map { try ObjectState(decoding: $0.encoded()) })
    }
    state.setFloor(server.state.floor)
    cursor = server.head
    clock.receive(server.lastStamp)
    pending.refuse(server.refusedSeqs(of: id))
    refusalSeen = server.gates[id]!.refused
    pending.settle(upTo: server.gates[id]!.answered)
    mirror.take(Merge.take(states, under: pending, in: &state), from: state)
  }
}
