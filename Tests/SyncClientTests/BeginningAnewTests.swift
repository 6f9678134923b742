import Foundation
import SyncClient
import SyncModel
import SyncProtocol
import SyncServer
import Testing
import Vivarium
import VivariumTestSupport

@testable import SyncSimulation

/// A file whose server, clock or past is another than it knew keeps what people did, and what they look at.
@MainActor @Suite struct BeginningAnewTests {
  private let directory = TemporaryDirectory("anew")
  private let time = SimulatedTime()
  private let server = MemoryServerStore(random: SeededGenerator(seed: 1))

  private func path() throws -> StorePath { try #require(StorePath("/ann/things")) }

  private func replica(
    _ id: UInt64, _ engine: Engine, skew: Int64 = 0, isJoined: Bool = true
  ) async throws -> SimulatedReplica {
    if try await server.heads([path()]).isEmpty { try await server.makeStore(path()) }
    let replica = try SimulatedReplica(id, engine.configuration(directory, "\(id)"), time: time, skew: skew)
    if isJoined { try await download(replica) }
    return replica
  }

  private func download(_ replica: SimulatedReplica) async throws {
    _ = try await replica.download(server, path(), limitBytes: 1 << 20, isLost: false)
  }

  private func upload(_ replica: SimulatedReplica) async throws -> [UploadOutcome] {
    let (all, refusalSeen) = try await replica.uploads()
    return try await server.commit(path(), replica.id, all, refusalSeen: refusalSeen, at: time.now()) { _ in nil }
  }

  private func sync(_ replica: SimulatedReplica) async throws {
    for outcome in try await upload(replica) { guard case .accepted = outcome else { throw Divergence("\(outcome)") } }
    try await download(replica)
    try await replica.check()
  }

  private func thing(_ replica: SimulatedReplica) throws -> Thing {
    try #require(replica.store.object(Thing.self, forPrimaryKey: 1))
  }

  private func make(_ replica: SimulatedReplica) throws -> Thing {
    let thing = Thing()
    thing.id = 1
    try replica.store.write { try replica.store.add(thing) }
    return thing
  }

  @Test(arguments: Engine.allCases) func `a server that was restored takes back what it forgot, and leaves what waits and who looks`(
    engine: Engine
  ) async throws {
    let (a, b) = (try await replica(1, engine), try await replica(2, engine))
    let mine = try make(a)
    try a.store.write { mine.texts.append("a") }
    try await sync(a)
    try await download(b)
    let backUp = try await server.backUp(path())
    let theirs = try thing(b)
    try b.store.write { theirs.x = "lost" }
    try await sync(b)
    try await sync(a)
    #expect(mine.x == "lost")
    try await server.restore(path(), backUp)
    try a.store.write { mine.texts.append("mine") }
    var modified: [Int] = []
    let token = try a.store.objects(Thing.self).observe { change in
      if case .update(_, let deletions, let insertions, let modifications) = change {
        modified.append(modifications.count)
        #expect(deletions.isEmpty && insertions.isEmpty)
      }
    }
    try a.store.refresh()
    try await download(a)
    try a.store.refresh()
    #expect(!mine.isInvalidated && mine.x == nil && Array(mine.texts) == ["a", "mine"])
    #expect(modified == [1])
    try await sync(a)
    try await sync(b)
    #expect(try Array(thing(b).texts) == ["a", "mine"])
    token.stop()
  }

  @Test func `what was dated nine minutes ahead is dated anew, in its order, and taken`() async throws {
    let file = try await replica(1, .memory, skew: 540_000, isJoined: false)
    let other = try await replica(2, .memory)
    let mine = try make(file)
    for text in ["a", "b", "c"] { try file.store.write { mine.texts.append(text) } }
    _ = try await server.bind(path(), file.id, secret: [1], user: "ann", at: time.now())
    #expect(try await upload(file).first == .skewed)
    try await file.beginAnew(asAnother: false)
    try await download(file)
    try await sync(file)
    #expect(Array(mine.texts) == ["a", "b", "c"])
    try await sync(other)
    let theirs = try thing(other)
    try other.store.write { theirs.texts.append("d") }
    try await sync(other)
    try await sync(file)
    #expect(Array(mine.texts) == ["a", "b", "c", "d"])
  }

  @Test(arguments: [Engine.lmdb, .sqlite]) func `a file that was copied becomes two replicas, and nothing is done twice`(
    engine: Engine
  ) async throws {
    let first = try await replica(1, engine)
    let mine = try make(first)
    try await sync(first)
    // This waits in both files.
    try first.store.write {
      mine.increment(\.n)
      mine.texts.append("both")
      let plain = Plain()
      plain.name = "both"
      try first.store.add(plain)
    }
    var copy = ""
    try await first.reopen {
      copy = try engine.copy(directory, "1", "copy")
      return nil
    }
    let second = try SimulatedReplica(1, engine.configuration(directory, copy), time: time)
    try await sync(first)
    for (replica, text) in [(first, "first"), (second, "second")] {
      let thing = try thing(replica)
      try replica.store.write {
        thing.increment(\.n)
        thing.texts.append(text)
        let plain = Plain()
        plain.name = text
        try replica.store.add(plain)
      }
    }
    try await sync(first)
    try await download(second)
    #expect(second.id != first.id)
    try await sync(second)
    try await sync(first)
    for replica in [first, second] {
      #expect(try thing(replica).n == 3 && Array(thing(replica).texts) == ["both", "first", "second"])
      #expect(try Set(replica.store.objects(Plain.self).map { $0.name ?? "" }) == ["both", "first", "second"])
    }
  }

  @Test(arguments: Engine.allCases) func `what others wrote into a part that never came about does not come to light in a new one`(
    engine: Engine
  ) async throws {
    let (a, b) = (try await replica(1, engine), try await replica(2, engine))
    let mine = try make(a)
    try await sync(a)
    try await sync(b)
    try b.store.write { try thing(b).part = Part() }
    let (refused, _) = try await b.uploads()
    _ = try await server.commit(path(), b.id, refused, refusalSeen: .zero, at: time.now()) { _ in Verdict(.writeDenied) }
    try b.store.write { try thing(b).part?.increment(\.count) }
    try await download(b)
    _ = try await upload(b)
    try await download(a)
    try a.store.write { mine.part = Part() }
    try await a.check()
    #expect(mine.part?.count == 0)
    try await sync(a)
    try await download(b)
    #expect(try thing(b).part?.count == 0)
  }

  @Test func `a file that is another replica and has sent nothing knows that its double has`() async throws {
    let a = try await replica(1, .memory)
    _ = try make(a)
    try a.store.write { try thing(a).n = 1 }
    try await a.beginAnew(asAnother: true)
    let standing = try await a.reading { sides in
      try LocalStanding(sides, try #require(try ReplicaStanding.read(sides)))
    }
    #expect(standing.isForked(judged: 1, stamp: .zero))
    #expect(!standing.isForked(judged: 0, stamp: .zero))
    try await download(a)
    #expect(try await upload(a).count == 2)
  }
}
