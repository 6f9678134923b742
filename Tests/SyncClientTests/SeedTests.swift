import Foundation
import StorageInterface
import SyncClient
import SyncModel
import SyncProtocol
import SyncServer
import Testing
import Vivarium
import VivariumTestSupport

@testable import SyncSimulation

/// The file of a replica as the seed of others.
@MainActor @Suite struct SeedTests {
  private let directory = TemporaryDirectory("seeds")
  private let time = SimulatedTime()
  private let server = MemoryServerStore(random: SeededGenerator(seed: 1))

  private func path() throws -> StorePath { try #require(StorePath("/ann/things")) }

  private func seeded(_ engine: Engine, _ name: String) -> Store.Configuration {
    var configuration = engine.configuration(directory, name)
    configuration.seed = directory.file("seed").path
    return configuration
  }

  private func standing(_ store: Store) throws -> ReplicaStanding? {
    try store.file.read { snapshot in
      guard let sides = snapshot.powers.sides else { return nil }
      return try ReplicaStanding.read(sides)
    }
  }

  private func thing(_ store: Store) throws -> Thing { try #require(store.object(Thing.self, forPrimaryKey: 1)) }

  /// Makes a store with two objects, and a seed of it.
  private func make(_ engine: Engine, isReplica: Bool) throws -> ReplicaStanding? {
    var configuration = engine.configuration(directory, "made")
    if isReplica { configuration.replicate() }
    let store = try Store(configuration)
    let thing = Thing()
    thing.id = 1
    let plain = Plain()
    plain.name = "seed"
    try store.write {
      try store.add(thing)
      try store.add(plain)
    }
    try store.writeCopy(to: directory.file("seed"))
    return try standing(store)
  }

  @Test(arguments: [Engine.lmdb, .sqlite]) func `each file that begins as the copy of a replica is another replica, with its objects`(
    engine: Engine
  ) throws {
    let seed = try #require(try make(engine, isReplica: true))
    var replicas: Set<ReplicaID> = [seed.replica]
    for name in ["a", "b"] {
      var configuration = seeded(engine, name)
      configuration.replicate()
      let replica: ReplicaID
      do {
        let store = try Store(configuration)
        let own = try #require(try standing(store))
        #expect(own.isAnew && own.secret != seed.secret && !own.secret.isEmpty)
        replica = own.replica
        #expect(store.objects(Plain.self).map(\.name) == ["seed"])
        try store.write { try thing(store).x = name }
      }
      replicas.insert(replica)
      // Once: from then on it is a file like any other.
      #expect(try standing(Store(configuration))?.replica == replica)
    }
    #expect(replicas.count == 3)
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
    #expect(names.allSatisfy { !$0.contains(".new-") }, "\(names)")
  }

  @Test(arguments: [Engine.lmdb, .sqlite]) func `a replica's file is refused as the seed of a store that replicates nothing`(
    engine: Engine
  ) throws {
    _ = try make(engine, isReplica: true)
    let error = #expect(throws: StoreError.self) { try Store(seeded(engine, "a")) }
    #expect(error?.code.rawValue == "syncRequired" && error?.remedy != nil)
    #expect(error?.message.contains(directory.file("seed").path) == true)
    #expect(!FileManager.default.fileExists(atPath: directory.file("a").path))
  }

  @Test(arguments: [Engine.lmdb, .sqlite]) func `a file that was never replicated is what a replica may begin with`(
    engine: Engine
  ) throws {
    #expect(try make(engine, isReplica: false) == nil)
    var configuration = seeded(engine, "a")
    configuration.replicate(SyncConfiguration(existing: .merge))
    let store = try Store(configuration)
    #expect(try standing(store) == nil)
    try store.write { try thing(store).x = "own" }
    #expect(try standing(store)?.isAnew == false)
  }

  // MARK: with a server

  private func download(_ replica: SimulatedReplica) async throws {
    _ = try await replica.download(server, path(), limitBytes: 1 << 20, isLost: false)
  }

  private func sync(_ replica: SimulatedReplica) async throws {
    let (all, refusalSeen) = try await replica.uploads()
    let outcomes = try await server.commit(path(), replica.id, all, refusalSeen: refusalSeen, at: time.now()) { _ in nil }
    for outcome in outcomes { guard case .accepted = outcome else { throw Divergence("\(outcome)") } }
    try await download(replica)
    try await replica.check()
  }

  @Test(arguments: [Engine.lmdb, .sqlite]) func `what waited in the seed is sent once, whoever sends it`(engine: Engine) async throws {
    try await server.makeStore(path())
    let first = try SimulatedReplica(1, engine.configuration(directory, "1"), time: time)
    try await download(first)
    let thing = Thing()
    thing.id = 1
    try first.store.write { try first.store.add(thing) }
    try await sync(first)
    // This waits in the seed too.
    try first.store.write {
      thing.increment(\.n)
      thing.texts.append("both")
    }
    try first.store.writeCopy(to: directory.file("seed"))
    try await sync(first)
    let second = try SimulatedReplica(2, seeded(engine, "2"), time: time)
    try second.store.write {
      try self.thing(second.store).increment(\.n)
      try self.thing(second.store).texts.append("second")
    }
    try await download(second)
    #expect(second.id == ReplicaID(2))
    try await sync(second)
    try await sync(first)
    for replica in [first, second] {
      #expect(try self.thing(replica.store).n == 2)
      #expect(try Array(self.thing(replica.store).texts) == ["both", "second"])
    }
  }
}
