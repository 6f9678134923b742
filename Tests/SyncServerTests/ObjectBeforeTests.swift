import StoreValues
import SyncModel
import SyncServer
import Testing

/// What a store keeps, for handlers of events, of how objects were.
@Suite struct ObjectBeforeTests {
  private let thing = ObjectIdentity("Thing", .int(1))

  private func state() throws -> ObjectState {
    var state = MemoryState()
    let changeset = Changeset(
      clientSeq: 1, baseSeq: .zero, first: Stamp(milliseconds: 5, counter: 0, replica: ReplicaID(7)),
      operations: [
        Operation(thing, epoch: .zero, .create), Operation(thing, epoch: .zero, .set("name", .string("tea"), isDefault: false)),
      ])
    Merge.apply(changeset, seq: Seq(1), to: &state)
    return try #require(Merge.objectState(of: thing, in: state))
  }

  @Test func aRowGivesBackWhatItWasMadeOf() throws {
    let all = [ObjectBefore(thing, try state()), ObjectBefore(ObjectIdentity("Thing", .int(2)), nil)]
    let read = try ObjectBefore.decode(ObjectBefore.encoded(all))
    #expect(read == all)
    #expect(try read.map { try $0.state() } == [try state(), nil])
  }

  @Test func aStateThatCannotBeReadIsAnErrorWhereItIsNeeded() throws {
    var row = ByteWriter()
    row.put(1)
    row.put(ObjectIdentity.encode([thing]))
    row.put([0xFF, 0xFF, 0xFF] as [UInt8])
    let read = try ObjectBefore.decode(row.bytes)
    #expect(read.map(\.object) == [thing])
    #expect(throws: CodingError.self) { try read[0].state() }
  }
}
