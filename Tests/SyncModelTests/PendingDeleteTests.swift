import StoreValues
import SyncModel
import Testing

/// A purge that comes while an own delete waits forgets what is beneath it.
@Suite struct PendingDeleteTests {
  private let target = ObjectIdentity("Thing", .int(1))
  private let linker = ObjectIdentity("Thing", .int(2))

  private func stamp(_ time: UInt64, _ replica: UInt64 = 1) -> Stamp { Stamp(time: time, replica: ReplicaID(replica)) }

  private func apply(
    _ object: ObjectIdentity, _ epoch: Stamp, _ action: SyncModel.Operation.Action, _ stamp: Stamp, _ seq: Seq, _ state: inout MemoryState
  ) { _ = Merge.apply(SyncModel.Operation(object, epoch: epoch, action), at: stamp, seq: seq, to: &state) }

  /// A link to the first incarnation of an object that was deleted and created again, as everybody knows.
  private func shared() -> MemoryState {
    var state = MemoryState()
    apply(target, .zero, .create, stamp(10), Seq(1), &state)
    apply(linker, .zero, .create, stamp(11), Seq(2), &state)
    apply(linker, .zero, .set("link", .link(LinkTarget(target)), isDefault: false), stamp(12), Seq(3), &state)
    return state
  }

  private func link(_ state: MemoryState) -> LinkTarget? {
    guard case .link(let link) = state.record(of: linker)?.node.contents.values["link"]?.visible else { return nil }
    return link
  }

  @Test(arguments: [false, true]) func `a link to an earlier incarnation stays dead when the delete is refused`(isLate: Bool) throws {
    var server = shared()
    var replica = shared()
    // The delete of the log comes before the own one, or after it.
    if !isLate { apply(target, .zero, .delete, stamp(20), Seq(4), &replica) }
    let seen = replica.record(of: target)?.node.guarding.epoch ?? .zero
    apply(target, seen, .delete, stamp(50, 2), .pending, &replica)
    if isLate { apply(target, .zero, .delete, stamp(20), Seq(4), &replica) }
    apply(target, stamp(20), .create, stamp(21), Seq(5), &replica)
    apply(target, .zero, .delete, stamp(20), Seq(4), &server)
    apply(target, stamp(20), .create, stamp(21), Seq(5), &server)
    let purge = Purge(stable: Seq(5), floor: stamp(30))
    Merge.purge(purge, in: &server)
    // What a file keeps meanwhile.
    for object in [target, linker] {
      let record = try #require(replica.record(of: object))
      replica.setRecord(try ObjectRecord(decoding: record.encoded()), of: object)
    }
    Merge.purge(purge, in: &replica)
    let refused = Merge.objectState(of: target, in: server)
    _ = Merge.take([target: refused], under: PendingChangesets(), in: &replica)
    #expect(replica.record(of: target)?.isAlive == true)
    let (there, here) = (try #require(link(server)), try #require(link(replica)))
    #expect(!Merge.resolves(there, in: server) && !Merge.resolves(here, in: replica))
  }
}
