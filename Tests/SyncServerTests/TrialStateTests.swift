import SyncModel
import Testing

@testable import SyncServer

/// A transaction that is tried touches its own objects, and leaves the store's state alone.
@Suite struct TrialStateTests {
  private func thing(_ id: Int64) -> ObjectIdentity { ObjectIdentity("Thing", .int(id)) }
  private func stamp(_ time: UInt64) -> Stamp { Stamp(milliseconds: time, counter: 0, replica: ReplicaID(1)) }

  @Test func `what is tried is seen in the trial alone, until it is taken over`() {
    var base = MemoryState()
    for id in 0..<100 {
      _ = Merge.apply(SyncModel.Operation(thing(Int64(id)), epoch: .zero, .create), at: stamp(1), seq: Seq(1), to: &base)
    }
    var trial = TrialState(base)
    let element = ElementID(ReplicaID(1), 1)
    let position = ListPosition([ListPosition.Step(gap: 0, bunch: stamp(2))])
    let operation = SyncModel.Operation(
      thing(7), epoch: .zero, path: [PathStep(.list("texts"), epoch: .zero)], .insert(element, at: position, .string("a")))
    _ = Merge.apply(operation, at: stamp(2), seq: Seq(2), to: &trial)
    _ = Merge.apply(SyncModel.Operation(thing(8), epoch: .zero, .delete), at: stamp(3), seq: Seq(3), to: &trial)
    let list = ListPlace(object: thing(7), path: [.list("texts")])
    #expect(trial.touched == [thing(7), thing(8)])
    #expect(trial.elements(of: list).count == 1 && base.elements(of: list).isEmpty)
    #expect(trial.record(of: thing(8))?.isAlive == false && base.record(of: thing(8))?.isAlive == true)
    #expect(trial.record(of: thing(9))?.isAlive == true)
    for object in trial.touched { base.adopt(object, from: trial.own) }
    #expect(base.elements(of: list).count == 1 && base.record(of: thing(8))?.isAlive == false && base.records.count == 100)
  }
}
