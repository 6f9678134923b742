#if Sync
import SyncModel
import SyncProtocol
import SyncServer
import SyncServerConformance
import Testing
import VivariumTestSupport

@testable import SyncStorePostgres

@Suite("The server store in PostgreSQL", .enabled(if: PostgresCluster.isInstalled, "PostgreSQL is not installed"))
struct PostgresServerStoreTests {
  private static let path = RandomAuthor.path

  @Test("keeps every rule of server stores", arguments: SyncServerConformance.allChecks)
  func rule(_ check: ServerStoreCheck) async throws {
    let (stores, _) = try await PostgresServerStore.forTest()
    try await check.run(stores)
    await stores.close()
  }

  @Test("is what a store in memory is, whichever server is asked, and whatever happens")
  func differential() async throws {
    var random = SeededGenerator.forTest()
    for _ in 0..<4 {
      let memory = MemoryServerStore()
      let (first, address) = try await PostgresServerStore.forTest()
      let servers = [first, try await PostgresServerStore.beside(address)]
      try await memory.makeStore(PostgresServerStoreTests.path)
      try await first.makeStore(PostgresServerStoreTests.path)
      var authors = (1...3).map { RandomAuthor(ReplicaID($0)) }
      for step in 0..<100 {
        let at = random.below(authors.count)
        let action = authors[at].next(step, &random)
        let (there, here) = (await action.outcome(on: memory), await action.outcome(on: servers[random.below(2)]))
        #expect(there == here, "\(action)")
        authors[at].note(there)
      }
      let place = PostgresServerStoreTests.path
      for author in authors {
        let objects = try await first.objects(place, changedAfter: .zero, behind: nil, limitBytes: .max)
        #expect(objects == (try await memory.objects(place, changedAfter: .zero, behind: nil, limitBytes: .max)))
        guard let start = try? await first.bind(place, author.id, secret: [1], user: "u", at: 1_000_000).logStart else { continue }
        let page = try await first.changes(place, for: author.id, after: start, limitBytes: .max)
        var expected = try await memory.changes(place, for: author.id, after: start, limitBytes: .max)
        // Each has a history of its own.
        expected.history = page.history
        #expect(page == expected)
      }
      for server in servers { await server.close() }
    }
  }

  @Test("makes replicas of two servers the same, whatever they do", arguments: 1...environmentNumber("VIVARIUM_HISTORIES", default: 6))
  func histories(round: Int) async throws {
    var random = SeededGenerator.forTest("postgres histories \(round)")
    let (first, address) = try await PostgresServerStore.forTest()
    let second = try await PostgresServerStore.beside(address)
    try await RandomHistory(servers: [first, second]).run(&random)
    for server in [first, second] { await server.close() }
  }

  /// Two servers of one database, that hear of each other only by notices, or only by asking.
  private func pair(usesNotices: Bool) async throws -> (PostgresServerStore, PostgresServerStore) {
    var configuration = PostgresServerStore.Configuration()
    (configuration.usesNotices, configuration.pollMilliseconds) = (usesNotices, usesNotices ? 3_600_000 : 20)
    let (first, address) = try await PostgresServerStore.forTest(configuration)
    return (first, try await PostgresServerStore.beside(address, configuration))
  }

  @Test("tells a server of what another has taken in", arguments: [true, false])
  func wakeups(usesNotices: Bool) async throws {
    let (first, second) = try await pair(usesNotices: usesNotices)
    let place = PostgresServerStoreTests.path
    try await first.makeStore(place)
    await second.follow(place)
    _ = try await second.bind(place, ReplicaID(2), secret: [1], user: "u", at: 1)
    var heard = await second.wakeups().makeAsyncIterator()
    _ = try await first.bind(place, ReplicaID(1), secret: [1], user: "u", at: 1)
    for number in 1...3 {
      let outcomes = try await first.commit(
        place, ReplicaID(1), [.changeset(.creating(UInt64(number), by: ReplicaID(1)))], refusalSeen: .zero, at: 1_000_000) { _ in nil }
      #expect(outcomes == [.accepted(Seq(UInt64(number)))])
      #expect(await heard.next() == place)
      let head = try await second.changes(place, for: ReplicaID(2), after: .zero, limitBytes: 1 << 20).head
      #expect(head >= Seq(UInt64(number)))
    }
    for server in [first, second] { await server.close() }
  }

  @Test("tells a server that another has removed a store, and finds the one that is made anew", arguments: [true, false])
  func removal(usesNotices: Bool) async throws {
    let (first, second) = try await pair(usesNotices: usesNotices)
    let place = PostgresServerStoreTests.path
    try await first.makeStore(place)
    await second.follow(place)
    let before = try await second.bind(place, ReplicaID(2), secret: [1], user: "u", at: 1).history
    let wakeups = await second.wakeups()
    try await first.removeStore(place)
    for await path in wakeups where path == place { break }
    await #expect { _ = try await second.changes(place, for: ReplicaID(2), after: .zero, limitBytes: 1) } throws: {
      ($0 as? ServerStoreError)?.code == .unknownStore
    }
    // The second knows the number of the one before, and the first that of none.
    try await first.makeStore(place)
    _ = try await second.bind(place, ReplicaID(2), secret: [1], user: "u", at: 1)
    try await first.removeStore(place)
    try await first.makeStore(place)
    let after = try await second.bind(place, ReplicaID(2), secret: [1], user: "u", at: 1).history
    #expect(after != before)
    #expect(try await second.changes(place, for: ReplicaID(2), after: .zero, limitBytes: 1).history == after)
    for server in [first, second] { await server.close() }
  }

  @Test("waits for news of what is followed, also where one store came in another's place")
  func followed() async throws {
    let news = StoreNews(address: "", usesNotices: false, pollMilliseconds: 20)
    let paths = try ["/shared/a", "/shared/b"].map { try #require(StorePath($0)) }
    for path in paths { await news.follow(path) }
    for (number, path) in [(1, paths[0]), (2, paths[0]), (3, paths[1])] as [(Int64, StorePath)] { await news.watch(path, number, .zero) }
    await news.tellRemoval(of: paths[0], 1)
    #expect(await news.watched == Set(paths))
    #expect(await news.unfollow(paths[0]))
    #expect(await news.watched == [paths[1]])
    // A handler waits until its store is gone.
    await news.watch(paths[0], 2, .zero, isClaimed: true)
    await news.follow(paths[0])
    #expect(await !news.unfollow(paths[0]))
    #expect(await news.watched == Set(paths))
    await news.tellRemoval(of: paths[0], 2)
    #expect(await news.watched == [paths[1]])
    await news.follow(paths[0])
    #expect(await news.unfollow(paths[0]))
    await news.end()
  }

  @Test("polls what somebody here waits for, and has nothing in memory of what is only looked after")
  func watched() async throws {
    let (first, second) = try await pair(usesNotices: false)
    let paths = try (1...5).map { try #require(StorePath("/shared/s\($0)")) }
    let place = paths[0]
    for path in paths {
      try await first.makeStore(path)
      _ = try await first.bind(path, ReplicaID(1), secret: [1], user: "u", at: 1)
      let outcomes = try await first.commit(
        path, ReplicaID(1), [.changeset(.creating(1, by: ReplicaID(1)))], refusalSeen: .zero, at: 1_000_000) { _ in nil }
      #expect(outcomes == [.accepted(Seq(1))])
    }
    // Whoever looks after all stores has each forget, and commits a purge there.
    #expect(try await second.forget(expiry: 2_000_000).isEmpty)
    #expect(try await second.heads(paths) == Dictionary(uniqueKeysWithValues: paths.map { ($0, Seq(2)) }))
    for path in paths { #expect(try await second.size(of: path) > 0) }
    #expect(await second.used.isEmpty)
    #expect(await second.news.watched.isEmpty)
    // Two sessions, of which one ends.
    for _ in 0..<2 { await second.follow(place) }
    for path in paths.prefix(2) { _ = try await second.bind(path, ReplicaID(2), secret: [1], user: "u", at: 1) }
    await second.unfollow(place)
    #expect(await second.news.watched == [place])
    var heard = await second.wakeups().makeAsyncIterator()
    _ = try await first.bind(place, ReplicaID(3), secret: [1], user: "u", at: 1)
    // Dated after what was purged.
    let outcomes = try await first.commit(
      place, ReplicaID(3), [.changeset(.creating(1, by: ReplicaID(3), milliseconds: 2_000))], refusalSeen: .zero, at: 1_000_000
    ) { _ in nil }
    try #require(outcomes == [.accepted(Seq(3))])
    #expect(await heard.next() == place)
    await second.unfollow(place)
    #expect(await second.news.watched.isEmpty)
    #expect(await second.used == [paths[1]])
    // What they had asked for comes after them.
    let seen = Acknowledgement(cursor: Seq(3), pendingBase: Seq(3), refusalSeen: .zero)
    try await second.acknowledge(place, ReplicaID(2), seen, at: 1)
    #expect(try await second.changes(place, for: ReplicaID(2), after: Seq(3), limitBytes: 1).head == Seq(3))
    _ = try await second.objects(place, changedAfter: .zero, behind: nil, limitBytes: 1 << 20)
    #expect(await second.used == [paths[1]])
    // Where another one waits, it stays.
    await second.follow(place)
    try await second.acknowledge(place, ReplicaID(2), seen, at: 1)
    #expect(await second.used == [place, paths[1]])
    await second.unfollow(place)
    #expect(await second.used == [paths[1]])
    // One that comes back, before it has bound, and a handler.
    await second.follow(paths[1])
    #expect(await second.news.watched == [paths[1]])
    await second.unfollow(paths[1])
    _ = try await second.claim(place, handler: "mail", fromStart: true, until: 1, at: 0)
    await second.follow(place)
    await second.unfollow(place)
    #expect(await second.news.watched == [place])
    // A handler that finds nothing to do claims nothing, and waits for news.
    await second.follow(paths[2])
    #expect(try await second.handlers(paths[2]).isEmpty)
    #expect(await second.news.watched == [place, paths[2]])
    #expect(await !second.used.contains(paths[2]))
    await second.unfollow(paths[2])
    #expect(await second.news.watched == [place])
    for server in [first, second] { await server.close() }
  }

  @Test("with another history has none of the devices from before, and counts none of them")
  func renewal() async throws {
    let (stores, _) = try await PostgresServerStore.forTest()
    let place = PostgresServerStoreTests.path
    try await stores.makeStore(place)
    func bind(_ replica: UInt64) async throws -> Standing {
      try await stores.bind(place, ReplicaID(replica), secret: [1], user: "u", limit: 2, at: 1)
    }
    let history = try await bind(1).history
    _ = try await bind(2)
    try await stores.renewHistory(place)
    #expect(try await bind(3).history != history)
    await #expect { try await bind(1) } throws: { ($0 as? ServerStoreError)?.code == .replicaExpired }
    await stores.close()
  }

  @Test("takes many changes of one store in one transaction, each with its own answer")
  func batches() async throws {
    let (stores, _) = try await PostgresServerStore.forTest()
    let place = PostgresServerStoreTests.path
    try await stores.makeStore(place)
    let accepted = try await withThrowingTaskGroup(of: [UploadOutcome].self) { group in
      for replica in 1...40 {
        group.addTask {
          let id = ReplicaID(UInt64(replica))
          _ = try await stores.bind(place, id, secret: [1], user: "u", at: 1)
          let uploads = (1...5).map { Upload.changeset(.creating(UInt64($0), by: id)) }
          // Each tenth belongs to nobody.
          let author = replica.isMultiple(of: 10) ? ReplicaID(99) : id
          return (try? await stores.commit(place, author, uploads, refusalSeen: .zero, at: 1_000_000) { _ in nil }) ?? []
        }
      }
      return try await group.reduce(into: [Seq]()) { seqs, outcomes in
        for case .accepted(let seq) in outcomes { seqs.append(seq) }
      }
    }
    #expect(accepted.sorted() == (1...180).map { Seq($0) })
    #expect(try await stores.heads([place]) == [place: Seq(180)])
    await stores.close()
  }
}

extension Changeset {
  /// One that creates an object and names it.
  static func creating(_ clientSeq: UInt64, by replica: ReplicaID, milliseconds: UInt64? = nil) -> Changeset {
    let object = ObjectIdentity("Thing", .int(Int64(replica.rawValue * 1_000 + clientSeq)))
    return Changeset(
      clientSeq: clientSeq, baseSeq: .zero, first: Stamp(milliseconds: milliseconds ?? 1_000 + clientSeq, counter: 0, replica: replica),
      operations: [
        SyncModel.Operation(object, epoch: .zero, .create),
        SyncModel.Operation(object, epoch: .zero, .set("name", .string("\(replica).\(clientSeq)"), isDefault: false)),
      ])
  }
}
#endif
