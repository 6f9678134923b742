import SyncModel
import Testing

/// Effects, shown as a client shows them, come to what the merge state says.
@Suite struct EffectTests {
  private let part: [PathStep.Place] = [.embedded("E")]
  private let kept = SyncModel.Operation.Action.set("f", .string("kept"), isDefault: false)

  /// What one author does who sees a state.
  private func author(_ replica: UInt64, at time: UInt64, seeing state: MemoryState, _ body: (inout Author) -> Void) -> Author {
    var author = Author(state, Stamp(milliseconds: time, counter: 0, replica: ReplicaID(replica)))
    body(&author)
    return author
  }

  private func changeset(_ clientSeq: UInt64, _ author: Author) -> Changeset {
    Changeset(
      clientSeq: clientSeq, baseSeq: .zero, first: author.operations.first?.stamp ?? .zero,
      operations: author.operations.map(\.operation))
  }

  /// Integrates the changesets of a log. Expects the effects, the state and a replay to say the same of the object, and returns it.
  private func integrate(_ log: [Changeset], sourceLocation: SourceLocation = #_sourceLocation) -> Shown {
    var (state, mirror) = (MemoryState(), EffectMirror())
    for (index, changeset) in log.enumerated() { mirror.integrate(changeset, seq: Seq(UInt64(index + 1)), into: &state) }
    let shown = ShownReader(state: state).all()
    let operations = log.flatMap { changeset in
      changeset.operations.enumerated().map { (stamp: changeset.stamp(of: $0.offset), operation: $0.element) }
    }
    #expect(mirror.shown(state) == shown, sourceLocation: sourceLocation)
    #expect(Replay.shown(operations) == shown, sourceLocation: sourceLocation)
    return shown[object(1)] ?? .null
  }

  @Test func `an increment beside the making of an embedded object with earlier contents counts once`() {
    let base = author(1, at: 10, seeing: MemoryState()) { $0.act(.create); $0.act(.add("n", 3)) }
    // The server refuses that the part is made. What its author then wrote inside stands, and waits for somebody to make it.
    let refused = author(1, at: 20, seeing: base.state) { $0.act(1, part, .make) }
    let inside = author(1, at: 30, seeing: refused.state) { $0.act(1, part, kept) }
    var pending = PendingChangesets()
    pending.append(changeset(2, refused))
    pending.append(changeset(3, inside))
    pending.refuse([2])
    #expect(pending.all.map(\.isVoid) == [false])
    let other = author(2, at: 40, seeing: base.state) { $0.act(1, part, .make); $0.act(.add("n", 1)); $0.act(1, part, .add("count", 2)) }
    let shown = integrate([changeset(1, base), changeset(3, inside), changeset(1, other)])
    #expect(shown["V.n"] == .value(.int(4)))
    #expect(shown["E.E"] == .object(["V.f": .value(.string("kept")), "V.count": .value(.int(2))]))
  }

  @Test func `an increment that follows the creation of an object counts once, also where another came before it`() {
    let creator = author(1, at: 20, seeing: MemoryState()) { $0.act(.create); $0.act(.add("n", 1)) }
    let early = author(2, at: 30, seeing: MemoryState()) { $0.act(.add("n", 3)) }
    #expect(integrate([changeset(1, early), changeset(1, creator)])["V.n"] == .value(.int(4)))
    #expect(integrate([changeset(1, creator), changeset(1, early)])["V.n"] == .value(.int(4)))
  }

  @Test func `making an object that has contents tells to read it, and what follows is told by itself`() {
    let base = author(1, at: 10, seeing: MemoryState()) { $0.act(.create); $0.act(1, part, kept) }
    var state = base.state
    let other = author(2, at: 40, seeing: state) { $0.act(1, part, .make); $0.act(.add("n", 1)) }
    let effects = other.operations.map { Merge.apply($0.operation, at: $0.stamp, seq: Seq(2), to: &state).map(\.change) }
    #expect(effects == [[.made, .replaced], [.increment("n", 1)]])
  }

  @Test func `what waits and stands counts once when the server's state is taken`() {
    let base = author(1, at: 10, seeing: MemoryState()) { $0.act(.create); $0.act(.add("n", 3)) }
    var (state, mirror) = (MemoryState(), EffectMirror())
    mirror.integrate(changeset(1, base), seq: Seq(1), into: &state)
    let refused = author(1, at: 20, seeing: state) { $0.act(.add("n", 10)) }
    let stands = author(1, at: 30, seeing: refused.state) { $0.act(.add("n", 100)) }
    var pending = PendingChangesets()
    for (clientSeq, own) in [(UInt64(2), refused), (3, stands)] {
      mirror.integrate(changeset(clientSeq, own), seq: .pending, into: &state)
      pending.append(changeset(clientSeq, own))
    }
    let refusal = Merge.refusal(of: changeset(2, refused), at: Seq(2), in: base.state)
    mirror.take(Merge.integrate(refusal, pending: &pending, in: &state), from: state)
    // It comes back from the log.
    mirror.integrate(changeset(3, stands), seq: Seq(3), into: &state)
    #expect(mirror.shown(state)[object(1)]?["V.n"] == .value(.int(103)))
    #expect(mirror.shown(state) == ShownReader(state: state).all())
  }
}
