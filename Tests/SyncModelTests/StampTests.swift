import SyncModel
import Testing

@Suite struct StampTests {
  @Test func zero() { #expect(Stamp.zero < Stamp(time: 1, replica: ReplicaID(0))) }
}
