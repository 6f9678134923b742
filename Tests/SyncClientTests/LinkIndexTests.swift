import StorageInterface
import StoreValues
import SyncClient
import SyncModel
import SyncProtocol
import Testing
import Vivarium
import VivariumTestSupport

@testable import SyncSimulation

/// What a file remembers of who links to whom is what there is, and not what there ever was.
@MainActor @Suite struct LinkIndexTests {
  /// The entries by target, and those by linker.
  private func entries(_ replica: SimulatedReplica) async throws -> [Int] {
    try await replica.reading { sides in
      var counts: [Int] = []
      for space in "gh".utf8 {
        var count = 0
        try sides.sides(from: [space], below: [space + 1]) { _, _ in
          count += 1
          return .proceed
        }
        counts.append(count)
      }
      return counts
    }
  }

  /// The server's log has the replica's writes of these numbers, and then a purge.
  private func purge(_ replica: SimulatedReplica, _ writes: ClosedRange<UInt64>, from seq: UInt64) async throws {
    replica.time.pass(200_000)
    let floor = Stamp(milliseconds: UInt64(replica.time.now()), counter: 0, replica: ReplicaID(0))
    replica.time.pass(200_000)
    let own = writes.map { LogEntry.Body.own(clientSeq: $0) }
    try await replica.take(own + [.purge(Purge(stable: Seq(seq + UInt64(own.count) - 1), floor: floor))], from: seq)
  }

  @Test(arguments: Engine.allCases) func `a purge keeps the entries of links that there are`(engine: Engine) async throws {
    let directory = TemporaryDirectory("links")
    let replica = try SimulatedReplica(1, engine.configuration(directory, "a"), time: SimulatedTime())
    let store = try replica.store
    let things = (0...6).map { id in
      let thing = Thing()
      thing.id = id
      return thing
    }
    try store.write {
      for thing in things { try store.add(thing) }
      for linker in [things[1], things[2], things[5]] { linker.link = things[0] }
      for linker in [things[3], things[3], things[4], things[6]] { linker.friends.append(things[0]) }
      things[5].circle.insert(things[0])
    }
    #expect(try await entries(replica) == [6, 6])
    try store.write {
      things[2].link = nil
      things[3].friends.remove(at: 0)
      things[4].friends.removeAll()
      things[5].link = nil
      try store.delete(things[1])
      try store.delete(things[6])
    }
    try await purge(replica, 1...2, from: 1)
    #expect(try await entries(replica) == [2, 2])
    let look = try await replica.check()
    #expect(look.file.objects.count == 5)
  }

  @Test func `objects that come, link to one that stays, and go leave nothing`() async throws {
    let directory = TemporaryDirectory("links")
    let replica = try SimulatedReplica(1, Engine.memory.configuration(directory, "a"), time: SimulatedTime())
    let store = try replica.store
    let one = Thing()
    try store.write { try store.add(one) }
    for id in 1...20 {
      try store.write {
        let thing = Thing()
        (thing.id, thing.link) = (id, one)
        try store.add(thing)
        if let last = store.object(Thing.self, forPrimaryKey: id - 1), id > 1 { try store.delete(last) }
      }
      let number = UInt64(id + 1)
      // The first two writes come together, then there is a purge behind each.
      try await purge(replica, id == 1 ? 1...2 : number...number, from: id == 1 ? 1 : 2 * number - 2)
    }
    #expect(try await entries(replica) == [1, 1])
  }
}
