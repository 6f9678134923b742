import SyncModel
import Testing

@Suite struct RefusalTests {
  private let author = ReplicaID(1)
  private let base = MixedPrograms.shared

  private func changesets(_ bodies: [(inout Author) -> Void], continued: Set<UInt64> = []) -> (PendingChangesets, MemoryState) {
    var pending = PendingChangesets()
    var state = base.state
    for (index, body) in bodies.enumerated() {
      let first = Stamp(milliseconds: UInt64(10 + index), counter: 0, replica: author)
      var writer = Author(state, first)
      body(&writer)
      state = writer.state
      pending.append(
        Changeset(
          clientSeq: UInt64(index + 1), baseSeq: Seq(UInt64(5 - index)), isContinued: continued.contains(UInt64(index + 1)), first: first,
          operations: writer.operations.map(\.operation)))
    }
    return (pending, state)
  }

  private func voids(_ bodies: [(inout Author) -> Void], continued: Set<UInt64> = [], refused: Set<UInt64> = [1]) -> [UInt64] {
    var (pending, _) = changesets(bodies, continued: continued)
    pending.refuse(refused)
    return pending.all.filter(\.isVoid).map(\.changeset.clientSeq)
  }

  @Test func `what builds on a refused changeset is void, and what only follows it is not`() {
    let x = SyncModel.Operation.Action.set("x", .int(1), isDefault: false)
    #expect(voids([{ $0.act(x) }, { $0.act(x) }, { $0.act(.add("n", 1)) }]) == [])
    // In an incarnation that a refused delete began, and what is built on that.
    #expect(voids([{ $0.act(.delete) }, { $0.act(.create) }, { $0.act(x) }, { $0.act(2, [], .create) }]) == [2, 3])
    // On an object, or with a link to one, whose creation was refused.
    #expect(voids([{ $0.act(2, [], .create) }, { $0.act(2, [], x) }]) == [2])
    #expect(voids([{ $0.act(2, [], .create) }, { $0.act(.set("link", $0.link(2), isDefault: false)) }]) == [2])
    #expect(
      voids([{ $0.act(2, [], .create) }, { $0.act(.set("any", .list([$0.link(2)]), isDefault: false)) }, { $0.act(x) }]) == [2])
    // On an element, or beside it.
    let list: [PathStep.Place] = [.list("L")]
    #expect(
      voids([
        { $0.insert(9, at: 0, .null, in: list) }, { $0.act(1, list, .erase(ElementID(ReplicaID(1), 9), near: .none)) },
        { $0.act(1, list + [.element(ElementID(ReplicaID(1), 9))], .make) }, { $0.insert(10, at: 1, .null, in: list) },
      ]) == [2, 3])
    #expect(voids([{ $0.act(1, list, .clear) }, { $0.insert(9, at: 0, .null, in: list) }]) == [2])
  }

  @Test func `a write in several changesets is void as a whole, and so is what builds on any of them`() {
    let x = SyncModel.Operation.Action.set("x", .int(1), isDefault: false)
    let link: (inout Author) -> Void = { $0.act(.set("link", $0.link(2), isDefault: false)) }
    let linkFirst: [(inout Author) -> Void] = [
      { $0.act(2, [], .create) }, link, { $0.act(3, [], .create) }, { $0.act(3, [], x) }, { $0.act(x) },
    ]
    #expect(voids(linkFirst, continued: [2]) == [2, 3, 4])
    // The part that cannot stand is the last one.
    #expect(voids([{ $0.act(2, [], .create) }, { $0.act(3, [], .create) }, link, { $0.act(x) }], continued: [2]) == [2, 3])
    // The refused changeset is itself a part, and its rest is answered later.
    #expect(voids([{ $0.act(2, [], .create) }, { $0.act(3, [], .create) }, { $0.act(x) }], continued: [1]) == [2])
    #expect(voids([{ $0.act(2, [], .create) }, { $0.act(3, [], .create) }, { $0.act(3, [], x) }], continued: [1], refused: [1, 2]) == [3])
    // What came before stands.
    #expect(voids([{ $0.act(x) }, { $0.act(2, [], .create) }, { $0.act(x) }], continued: [2], refused: [3]) == [2])
  }

  @Test func `what is written between two entries of a refusal is void if it builds on what the second takes away`() {
    let x = SyncModel.Operation.Action.set("x", .int(1), isDefault: false)
    let (all, _) = changesets([{ $0.act(x); $0.act(2, [], .create) }, { $0.act(2, [], x) }, { $0.act(x) }])
    var pending = PendingChangesets()
    pending.append(all.all[0].changeset)
    pending.refuse(1, with: [object(1): nil])
    #expect(pending.all.map(\.isVoid) == [true])
    for later in all.all.dropFirst() { pending.append(later.changeset) }
    pending.refuse(1, with: [object(2): nil])
    #expect(pending.all.map(\.changeset.clientSeq) == [2, 3] && pending.all.map(\.isVoid) == [true, false])
    // The answer to a later one says that the first was answered.
    pending.refuse(3, with: [object(1): nil])
    #expect(pending.isEmpty)
  }

  @Test func `a transaction is refused by the last entry of its last changeset, which repeats no object`() {
    let x = SyncModel.Operation.Action.set("x", .int(1), isDefault: false)
    var (pending, _) = changesets(
      [{ $0.act(1, [], x); $0.act(2, [], x) }, { $0.act(2, [], x); $0.act(3, [], x) }, { $0.act(2, [], x) }], continued: [1, 2])
    pending.refuse(1, with: [object(1): nil, object(2): nil])
    #expect(pending.all.map(\.isVoid) == [true, true, true])
    pending.refuse(2, with: [object(3): nil])
    #expect(pending.all.count == 3)
    pending.refuse(3, with: [:])
    #expect(pending.isEmpty)
  }

  @Test func `after a refusal objects are as the server says, with what waits and stands on top`() {
    var (pending, state) = changesets([
      { $0.act(.set("x", .string("refused"), isDefault: false)) },
      { $0.act(.set("y", .string("stands"), isDefault: false)) },
      { $0.act(.add("n", 5)) },
    ])
    var server = base.state
    let other = Sight(state: server).operation(object(1), .set("x", .string("theirs"), isDefault: false))
    _ = Merge.apply(other, at: Stamp(milliseconds: 5, counter: 0, replica: ReplicaID(2)), seq: Seq(6), to: &server)
    let refusal = Merge.refusal(of: pending.all[0].changeset, at: Seq(7), in: server)
    let effects = Merge.integrate(refusal, pending: &pending, in: &state)
    #expect(effects.first?.change == .replaced)
    let shown = ShownReader(state: state).object(object(1)) ?? .null
    #expect(shown["V.x"] == .value(.string("theirs")))
    #expect(shown["V.y"] == .value(.string("stands")))
    #expect(shown["V.n"] == .value(.int(5)))
    #expect(pending.all.map(\.changeset.clientSeq) == [2, 3])
  }

  @Test func `the base of the oldest changeset that is not acknowledged holds purges back`() {
    var (pending, _) = changesets([{ $0.act(.delete) }, { $0.act(.create) }])
    #expect(pending.baseSeq(integrated: Seq(9)) == Seq(4))
    #expect(pending.acknowledge(2)?.clientSeq == 2)
    #expect(pending.baseSeq(integrated: Seq(9)) == Seq(5))
    #expect(pending.acknowledge(2) == nil)
    #expect(pending.acknowledge(1)?.clientSeq == 1)
    #expect(pending.baseSeq(integrated: Seq(9)) == Seq(9))
  }

  @Test func `a server takes each changeset once and in order, and none uploaded before a refusal was seen`() {
    var gate = UploadGate()
    #expect(gate.admit(1, refusalSeen: .zero) == .next)
    #expect(gate.admit(2, refusalSeen: .zero) == .gap(expected: 1))
    gate.accept(1)
    #expect(gate.admit(1, refusalSeen: .zero) == .duplicate)
    gate.refuse(2, at: Seq(40))
    #expect(gate.admit(2, refusalSeen: .zero) == .duplicate)
    #expect(gate.admit(3, refusalSeen: Seq(39)) == .behindRefusal)
    #expect(gate.admit(3, refusalSeen: Seq(40)) == .next)
    #expect(gate.admit(.max, refusalSeen: Seq(40)) == .gap(expected: 3))
    #expect(gate.admit(0, refusalSeen: .zero) == .duplicate)
  }

  @Test func `an epoch, an element or a link that nobody made is found, and what was seen is not`() {
    let state = base.state
    let forged = Stamp(milliseconds: 3, counter: 0, replica: ReplicaID(3))
    func unknown(_ path: [PathStep], epoch: Stamp = .zero, _ action: SyncModel.Operation.Action) -> UnknownReference? {
      Merge.unknownReference(in: SyncModel.Operation(object(1), epoch: epoch, path: path, action), to: state)
    }
    #expect(unknown([], epoch: forged, .create) == .epoch(forged, of: object(1), path: []))
    let list = PathStep(.list("L"), epoch: forged)
    #expect(unknown([list], .clear) == .epoch(forged, of: object(1), path: [.list("L")]))
    let nobody = ElementID(ReplicaID(3), 3)
    #expect(
      unknown([PathStep(.list("L"), epoch: .zero)], .erase(nobody, near: .none))
        == .element(nobody, of: ListPlace(object: object(1), path: [.list("L")])))
    let link = LinkTarget(object(7), epoch: forged)
    #expect(unknown([], .set("link", .link(link), isDefault: false)) == .link(link))
    for program in base.programs(30, ReplicaID(2)) {
      var known = state
      for (stamp, operation) in program.operations {
        #expect(Merge.unknownReference(in: operation, to: known) == nil, "\(program.name)")
        _ = Merge.apply(operation, at: stamp, seq: Seq(2), to: &known)
      }
    }
  }
}
