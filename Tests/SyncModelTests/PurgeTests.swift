import SyncModel
import Testing

@Suite struct PurgeTests {
  private let base = MixedPrograms.shared
  private func stamp(_ time: UInt64, _ replica: UInt64 = 1) -> Stamp { Stamp(milliseconds: time, counter: 0, replica: ReplicaID(replica)) }

  private func after(_ body: (inout Author) -> Void, seq: Seq = Seq(2)) -> (state: MemoryState, operations: [Stamped]) {
    var author = Author(base.state, stamp(10))
    body(&author)
    var state = base.state
    state.merge(author.operations, seq: seq)
    return (state, author.operations)
  }

  @Test func `a dead object is forgotten whole, and one that nobody touches costs no stamp`() {
    var (state, _) = after { $0.act(.delete) }
    Merge.purge(Purge(stable: Seq(2), floor: stamp(10)), in: &state)
    #expect(state.records.isEmpty)
    var quiet = base.state
    Merge.purge(Purge(stable: Seq(2), floor: stamp(10)), in: &quiet)
    let shown = ShownReader(state: quiet).all()
    #expect(shown == ShownReader(state: base.state).all())
    #expect(quiet.record(of: object(1))!.node.contents.values.allSatisfy { $0.value.key == .written(.zero) })
    #expect(quiet.record(of: object(1))!.encoded(values: false).count < base.state.record(of: object(1))!.encoded(values: false).count)
  }

  @Test func `a tombstone that somebody may not have seen stays, however old its stamp`() {
    var (state, _) = after({ $0.act(.delete) }, seq: Seq(3))
    Merge.purge(Purge(stable: Seq(2), floor: stamp(10)), in: &state)
    let unseen = Sight(state: base.state).operation(object(1), .create)
    #expect(Merge.apply(unseen, at: stamp(20, 2), seq: Seq(5), to: &state).isEmpty)
    #expect(state.record(of: object(1))?.isAlive == false)
  }

  @Test func `an own delete that has no place in the log outlives a purge, and gets its place when it comes back`() {
    var (state, operations) = after({ $0.act(.delete) }, seq: .pending)
    Merge.purge(Purge(stable: Seq(9), floor: stamp(10)), in: &state)
    #expect(state.record(of: object(1))?.node.guarding.seq == .pending)
    state.merge(operations, seq: Seq(12))
    #expect(state.record(of: object(1))?.node.guarding.seq == Seq(12))
    Merge.purge(Purge(stable: Seq(12), floor: stamp(10)), in: &state)
    #expect(state.records.isEmpty)
  }

  @Test func `an author who has not seen the purge names the epoch that was forgotten, and is understood`() {
    var (state, _) = after { $0.act(.delete); $0.act(.create) }
    let late = Sight(state: state).operation(object(1), .set("x", .int(5), isDefault: false))
    Merge.purge(Purge(stable: Seq(2), floor: stamp(10).advanced(by: 1)), in: &state)
    #expect(state.record(of: object(1))?.node.guarding.epoch == .zero)
    #expect(Merge.apply(late, at: stamp(20, 2), seq: Seq(5), to: &state).count == 1)
  }

  @Test func `links that led nowhere lead nowhere when the epoch that said so is forgotten`() {
    var author = Author(base.state, stamp(10))
    author.act(2, [], .create)
    author.act(.set("link", author.link(2), isDefault: false))
    author.insert(7, at: 0, author.link(2), in: [.list("L")])
    author.act(1, [.set("S")], .insertMember(author.link(2)))
    author.act(1, [.map("M")], .setEntry("l", author.link(2)))
    author.act(2, [], .delete)
    var state = base.state
    state.merge(author.operations, seq: Seq(2))
    let before = ShownReader(state: state).object(object(1))
    let forgotten = Merge.purge(Purge(stable: Seq(2), floor: stamp(11)), in: &state)
    #expect(Array(forgotten.keys) == [object(2)])
    let again = Sight(state: state).operation(object(2), .create)
    #expect(again.epoch == .zero)
    #expect(Merge.apply(again, at: stamp(20), seq: Seq(4), to: &state).map(\.change) == [.created])
    #expect(ShownReader(state: state).object(object(1)) == before)
  }

  @Test func `increments are folded into what they were added to, and a later write replaces both`() {
    var (state, _) = after { $0.act(.add("n", 4)); $0.act(.add("fresh", 2)) }
    Merge.purge(Purge(stable: Seq(2), floor: stamp(11)), in: &state)
    let contents = state.record(of: object(1))!.node.contents
    #expect(contents.values["n"]?.increments.isEmpty ?? false)
    #expect(contents.values["n"]?.visible == .int(4) && contents.values["fresh"]?.visible == .int(2))
    let write = Sight(state: state).operation(object(1), .set("n", .int(1), isDefault: false))
    _ = Merge.apply(write, at: stamp(20), seq: Seq(4), to: &state)
    #expect(state.record(of: object(1))?.node.contents.values["n"]?.visible == .int(1))
  }
}
