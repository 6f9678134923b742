import Foundation
import StorageInterface
import StorageLMDB
import StoreValues
import SyncModel
import SyncProtocol
import SyncServer
import SyncServerConformance
import Testing
import VivariumTestSupport

@testable import SyncStoreEmbedded

/// A folder of a test's own, which goes with it.
final class Folder {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "embedded-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { do { try FileManager.default.removeItem(atPath: path) } catch {} }
}

@Suite("The embedded server store")
struct EmbeddedServerStoreTests {
  private static let path = StorePath("/shared/shop")!

  @Test("keeps every rule of server stores", arguments: SyncServerConformance.allChecks)
  func rule(_ check: ServerStoreCheck) async throws {
    let folder = try Folder()
    try await check.run(try EmbeddedServerStore(folder: folder.path))
  }

  @Test("is after each reopening what a store in memory is, whatever happens")
  func differential() async throws {
    var random = SeededGenerator.forTest()
    for _ in 0..<6 {
      let folder = try Folder()
      let memory = MemoryServerStore()
      var embedded: EmbeddedServerStore? = try EmbeddedServerStore(folder: folder.path)
      try await memory.makeStore(EmbeddedServerStoreTests.path)
      try await embedded?.makeStore(EmbeddedServerStoreTests.path)
      var authors = (1...3).map { RandomAuthor(ReplicaID($0)) }
      for step in 0..<60 {
        if random.oneIn(6) {
          try await embedded?.flush()
          embedded = nil
          embedded = try EmbeddedServerStore(folder: folder.path)
        }
        let at = random.below(authors.count)
        let action = authors[at].next(step, &random)
        guard let embedded else { return }
        let (there, here) = (await action.outcome(on: memory), await action.outcome(on: embedded))
        #expect(there == here, "\(action)")
        authors[at].note(there)
      }
      guard let embedded else { return }
      for author in authors {
        let place = EmbeddedServerStoreTests.path
        let objects = try await embedded.objects(place, changedAfter: .zero, behind: nil, limitBytes: .max)
        #expect(objects == (try await memory.objects(place, changedAfter: .zero, behind: nil, limitBytes: .max)))
        guard let start = try? await embedded.bind(place, author.id, secret: [1], user: "u", at: 1_000_000).logStart else { continue }
        let page = try await embedded.changes(place, for: author.id, after: start, limitBytes: .max)
        var expected = try await memory.changes(place, for: author.id, after: start, limitBytes: .max)
        // Each has a history of its own.
        expected.history = page.history
        #expect(page == expected)
      }
    }
  }

  @Test("has after each reopening what was declared, also in a copy")
  func declarations() async throws {
    let (folder, path) = (try Folder(), EmbeddedServerStoreTests.path)
    let schema = SyncSchema(["Note": ["text": "string"]])
    var stores: EmbeddedServerStore? = try EmbeddedServerStore(folder: folder.path)
    try await stores?.makeStore(path)
    _ = try await stores?.declare(path, schema)
    stores = nil
    stores = try EmbeddedServerStore(folder: folder.path)
    #expect(try await stores?.declare(path, SyncSchema()) == schema)
    try await stores?.backUp(to: folder.path + "/copy")
    stores = try EmbeddedServerStore(folder: folder.path + "/copy")
    #expect(try await stores?.declare(path, SyncSchema()) == schema)
  }

  @Test("lists its stores without reading the folder each time")
  func listing() async throws {
    let folder = try Folder()
    let paths = try ["/ann/orders", "/bob/orders", "/shared/shop"].map { try #require(StorePath($0)) }
    var stores: EmbeddedServerStore? = try EmbeddedServerStore(folder: folder.path)
    for path in [paths[2], paths[0]] { try await stores?.makeStore(path) }
    #expect(await stores?.stores() == [paths[0], paths[2]])
    // A file that somebody puts there is not seen.
    let files = [paths[0], paths[1]].map { EmbeddedServerStore.file(of: $0, in: folder.path) }
    try FileManager.default.createDirectory(atPath: folder.path + "/bob", withIntermediateDirectories: true)
    #expect(FileManager.default.createFile(atPath: files[1], contents: nil))
    #expect(await stores?.stores() == [paths[0], paths[2]])
    try FileManager.default.removeItem(atPath: files[1])
    try await stores?.makeStore(paths[1])
    #expect(await stores?.stores() == paths)
    try await stores?.removeStore(paths[0])
    #expect(await stores?.stores() == [paths[1], paths[2]])
    #expect(!FileManager.default.fileExists(atPath: files[0]))
    stores = nil
    stores = try EmbeddedServerStore(folder: folder.path)
    #expect(await stores?.stores() == [paths[1], paths[2]])
  }

  @Test("has no rows of what was before entries that every handler has passed")
  func passedEntries() async throws {
    let folder = try Folder()
    let log = try EmbeddedLog(making: folder.path + "/shop.store")
    func rows() throws -> Int {
      let snapshot = try log.engine.beginRead()
      defer { snapshot.end() }
      var count = 0
      try snapshot.powers.sides?.sides(from: [UInt8(ascii: "b")], below: [UInt8(ascii: "c")]) { _, _ in
        count += 1
        return .proceed
      }
      return count
    }
    let (replica, object) = (ReplicaID(1), ObjectIdentity("Thing", .int(1)))
    let lease = try await log.change { log throws(ServerStoreError) in
      _ = try log.bind(replica, secret: [1], user: "u", at: 1)
      return try log.claim("mail", fromStart: true, until: .max, at: 1)
    }
    for number in UInt64(1)...4 {
      let changeset = Changeset(
        clientSeq: number, baseSeq: .zero, first: Stamp(milliseconds: 1_000 + number, counter: 0, replica: replica),
        operations: [SyncModel.Operation(object, epoch: .zero, .create)])
      try await log.change { log throws(ServerStoreError) in
        _ = try log.commit(replica, [.changeset(changeset)], refusalSeen: .zero, at: 1_000_000) { _ in nil }
      }
    }
    #expect(try rows() == 4)
    let mail = try #require(lease)
    try await log.change { log throws(ServerStoreError) in _ = try log.advance(mail, to: Seq(3), writing: [], at: 1) }
    #expect(try rows() == 1)
  }

  @Test("writes what came while it waited for the disk with one flush, and answers each")
  func groups() async throws {
    let folder = try Folder()
    let log = try EmbeddedLog(making: folder.path + "/shop.store")
    let before = try log.engine.latestVersion()
    let change: @Sendable (Int) async throws -> Void = { number in
      try await log.change { log throws(ServerStoreError) in
        _ = try log.bind(ReplicaID(UInt64(number)), secret: [1], user: "u", at: 1)
        if number == 25 { throw ServerStoreError(.unavailable, "No.") }
      }
    }
    log.disk.suspend()
    async let first: Void = change(1)
    // It is on its way to the disk, and all others wait for it.
    while await log.waitingCount != 0 { await Task.yield() }
    let failures = await withThrowingTaskGroup(of: Void.self) { group in
      for number in 2...50 { group.addTask { try await change(number) } }
      while await log.waitingCount != 49 { await Task.yield() }
      log.disk.resume()
      var failures = 0
      while let result = await group.nextResult() { if case .failure = result { failures += 1 } }
      return failures
    }
    try await first
    #expect(failures == 1)
    #expect(try log.engine.latestVersion().rawValue == before.rawValue + 2)
    withExtendedLifetime(folder) {}
  }

  @Test("shows who reads all that was asked before")
  func order() async throws {
    let folder = try Folder()
    let log = try EmbeddedLog(making: folder.path + "/shop.store")
    log.disk.suspend()
    async let first: Void = log.change { log throws(ServerStoreError) in _ = try log.bind(ReplicaID(1), secret: [1], user: "u", at: 1) }
    while await log.waitingCount != 0 { await Task.yield() }
    async let second: Bool = log.change { log throws(ServerStoreError) in
      _ = try log.bind(ReplicaID(2), secret: [1], user: "u", at: 1)
      return true
    }
    while await log.waitingCount != 1 { await Task.yield() }
    async let seen: Bool = log.read { $0.replicas[ReplicaID(2)] != nil }
    while await log.waitingCount != 2 { await Task.yield() }
    log.disk.resume()
    try await first
    #expect(try await second)
    #expect(try await seen)
    withExtendedLifetime(folder) {}
  }

  @Test("does nothing of what could not be written, and goes on when it can")
  func unwritten() async throws {
    let folder = try Folder()
    let path = folder.path + "/shop.store"
    let log = try EmbeddedLog(making: path)
    let write = try log.engine.beginWrite(.never)
    // It goes with the last reference.
    log.engine.close()
    write.end()
    await #expect(throws: ServerStoreError.self) {
      try await log.change { log throws(ServerStoreError) in _ = try log.bind(ReplicaID(1), secret: [1], user: "u", at: 1) }
    }
    await #expect(throws: ServerStoreError.self) { _ = try await log.read { $0.head } }
    let again = try EmbeddedLog(opening: path)
    #expect(try await again.read { $0.head } == .zero)
    withExtendedLifetime(folder) {}
  }

  @Test("has no more stores in memory than it may, and serves all")
  func many() async throws {
    let folder = try Folder()
    let stores = try EmbeddedServerStore(folder: folder.path, openStores: 4)
    let paths = (1...20).compactMap { StorePath("/shared/shop\($0)") }
    for path in paths {
      try await stores.makeStore(path)
      _ = try await stores.bind(path, ReplicaID(1), secret: [1], user: "u", at: 1)
    }
    for round in 1...3 {
      for path in paths {
        // The same device as before, however long ago that was.
        _ = try await stores.bind(path, ReplicaID(1), secret: [1], user: "u", at: Int64(round))
        let state = Acknowledgement(cursor: .zero, pendingBase: .zero, refusalSeen: .zero)
        try await stores.acknowledge(path, ReplicaID(1), state, at: Int64(round))
        await #expect(throws: ServerStoreError.self) {
          _ = try await stores.bind(path, ReplicaID(1), secret: [2], user: "u", at: Int64(round))
        }
      }
    }
    #expect(await stores.stores().count == 20)
    // Nothing is kept of a path that has no store.
    for number in 1...9 {
      let nowhere = try #require(StorePath("/shared/nothing\(number)"))
      await #expect(throws: ServerStoreError.self) { _ = try await stores.bind(nowhere, ReplicaID(1), secret: [1], user: "u", at: 1) }
    }
    let (used, open) = (await Set(stores.used.keys), await Set(stores.open.keys))
    #expect(used == open)
    // Those that wait for a flush go later.
    #expect(await stores.open.count < 20)
    try await stores.flush()
    for path in paths.prefix(8) { _ = try await stores.bind(path, ReplicaID(2), secret: [1], user: "u", at: 9) }
    #expect(await stores.open.count <= 5)
    withExtendedLifetime(folder) {}
  }

  @Test("belongs to one server at a time")
  func oneServer() async throws {
    let folder = try Folder()
    var first: EmbeddedServerStore? = try EmbeddedServerStore(folder: folder.path)
    #expect(throws: ServerStoreError.self) { try EmbeddedServerStore(folder: folder.path) }
    _ = first
    first = nil
    _ = try EmbeddedServerStore(folder: folder.path)
  }

  @Test("is copied while it is used, with all that it has, and another history")
  func backUp() async throws {
    let (folder, copies) = (try Folder(), try Folder())
    let stores = try EmbeddedServerStore(folder: folder.path)
    let path = EmbeddedServerStoreTests.path
    try await stores.makeStore(path)
    try await stores.makeStore(try #require(StorePath("/Ann/own")))
    var (random, author) = (SeededGenerator.forTest(), RandomAuthor(ReplicaID(1)))
    for step in 0..<40 { author.note(await author.next(step, &random).outcome(on: stores)) }
    let copy = copies.path + "/monday"
    try await stores.backUp(to: copy)
    let (before, standing) = (try await stores.objects(path, changedAfter: .zero, behind: nil, limitBytes: .max), try await bound(stores))
    // What comes later is not in it.
    _ = try await stores.bind(path, ReplicaID(9), secret: [9], user: "late", at: 0)

    let restored = try EmbeddedServerStore(folder: copy)
    #expect(await restored.stores() == stores.stores())
    #expect(try await restored.objects(path, changedAfter: .zero, behind: nil, limitBytes: .max) == before)
    // Its devices begin anew, each as another.
    await #expect { try await bound(restored) } throws: { ($0 as? ServerStoreError)?.code == .replicaExpired }
    let again = try await restored.bind(path, ReplicaID(5), secret: [1], user: "u", at: 1)
    #expect(again.history != standing.history)
    #expect(again.head == standing.head && again.logStart == standing.logStart && again.stable == standing.stable)
    await #expect(throws: ServerStoreError.self) { try await stores.backUp(to: copy) }
  }

  @Test("are copied as of one moment, also those that are closed, whatever is written, made and removed meanwhile")
  func oneMoment() async throws {
    let (folder, copies) = (try Folder(), try Folder())
    let stores = try EmbeddedServerStore(folder: folder.path, openStores: 4)
    let paths = try (0..<12).map { try #require(StorePath("/shared/\($0)")) }
    let passing = try #require(StorePath("/shared/passing"))
    for path in paths {
      try await stores.makeStore(path)
      _ = try await stores.bind(path, ReplicaID(1), secret: [1], user: "u", at: 1)
    }
    // Each store has what the one before has, a little later.
    let writing = Task {
      var number: UInt64 = 0
      while !Task.isCancelled {
        number += 1
        try await stores.makeStore(passing)
        for path in paths { try await EmbeddedServerStoreTests.write(number, stores, path) }
        try await stores.removeStore(passing)
      }
      return number
    }
    var least: UInt64 = 0
    for number in 0..<8 {
      let copy = copies.path + "/\(number)"
      try await stores.backUp(to: copy)
      let restored = try EmbeddedServerStore(folder: copy)
      let heads = try await restored.heads(paths)
      let counts = paths.map { heads[$0]?.rawValue ?? 0 }
      let (first, last) = (try #require(counts.first), try #require(counts.last))
      #expect(counts == counts.sorted(by: >) && first <= last + 1, "\(counts)")
      #expect(last >= least)
      least = last
    }
    writing.cancel()
    let written = try await writing.value
    let heads = try await stores.heads(paths)
    #expect(paths.allSatisfy { heads[$0]?.rawValue == written })
  }

  @Test("go with commits that wait for a back-up", .timeLimit(.minutes(1)))
  func removedWhileHeld() async throws {
    let folder = try Folder()
    let log = try EmbeddedLog(making: folder.path + "/shop.store", isHeld: true)
    let commit = Task { try await log.change { $0.renewHistory() } }
    while await log.waitingCount == nil { await Task.yield() }
    try await log.remove()
    try await commit.value
  }

  private static func write(_ number: UInt64, _ stores: EmbeddedServerStore, _ path: StorePath) async throws {
    let changeset = Changeset(
      clientSeq: number, baseSeq: .zero, first: Stamp(milliseconds: 1_000 + number, counter: 0, replica: ReplicaID(1)),
      operations: [Operation(ObjectIdentity("Thing", .int(Int64(number % 7))), epoch: .zero, .create)])
    _ = try await stores.commit(path, ReplicaID(1), [.changeset(changeset)], refusalSeen: .zero, at: 1_000_000) { _ in nil }
  }

  @Test("with another history has none of the devices from before, and counts none of them")
  func renewal() async throws {
    let folder = try Folder()
    let stores = try EmbeddedServerStore(folder: folder.path)
    let path = EmbeddedServerStoreTests.path
    try await stores.makeStore(path)
    func bind(_ replica: UInt64) async throws -> Standing {
      try await stores.bind(path, ReplicaID(replica), secret: [1], user: "u", limit: 2, at: 1)
    }
    let history = try await bind(1).history
    _ = try await bind(2)
    try await stores.renewHistory(path)
    #expect(try await bind(3).history != history)
    await #expect { try await bind(1) } throws: { ($0 as? ServerStoreError)?.code == .replicaExpired }
  }

  private func bound(_ stores: EmbeddedServerStore) async throws -> Standing {
    try await stores.bind(EmbeddedServerStoreTests.path, ReplicaID(1), secret: [1], user: "u", at: 1)
  }

  @Test("takes a store that was begun and not finished for an empty one", arguments: [false, true])
  func unfinished(hasCatalog: Bool) async throws {
    let folder = try Folder()
    let file = folder.path + "/shared/shop.store"
    try FileManager.default.createDirectory(atPath: folder.path + "/shared", withIntermediateDirectories: true)
    // The process died before anything was written, or before its first commit.
    if hasCatalog {
      try LMDBBackend(path: file).open(OpenOptions()).close()
    } else {
      #expect(FileManager.default.createFile(atPath: file, contents: nil))
    }
    var stores: EmbeddedServerStore? = try EmbeddedServerStore(folder: folder.path)
    await #expect(throws: ServerStoreError.self) { try await stores?.makeStore(EmbeddedServerStoreTests.path) }
    let history = try await stores?.bind(EmbeddedServerStoreTests.path, ReplicaID(1), secret: [1], user: "u", at: 1).history
    stores = nil
    let again = try EmbeddedServerStore(folder: folder.path)
    #expect(try await bound(again).history == history)
  }

  @Test("tells damage, and serves the other stores")
  func damage() async throws {
    let folder = try Folder()
    var stores: EmbeddedServerStore? = try EmbeddedServerStore(folder: folder.path)
    let other = StorePath("/shared/other")!
    try await stores?.makeStore(EmbeddedServerStoreTests.path)
    try await stores?.makeStore(other)
    stores = nil
    let engine = try LMDBBackend(path: folder.path + "/shared/shop.store").open(OpenOptions())
    let write = try engine.beginWrite(.never)
    try write.writePowers.sides?.setSide([UInt8(ascii: "r"), 0, 0, 0, 0, 0, 0, 0, 1], [9, 9])
    _ = try write.commit(CommitRecord(origin: 0), .full)
    engine.close()
    let again = try EmbeddedServerStore(folder: folder.path)
    #expect(await again.stores() == [other, EmbeddedServerStoreTests.path])
    await #expect { try await again.heads([EmbeddedServerStoreTests.path]) } throws: { ($0 as? ServerStoreError)?.code == .unavailable }
    #expect(try await again.heads([other]) == [other: .zero])
  }

  @Test("has a file for each path, whatever capitals it has")
  func names() throws {
    for text in ["/a", "/A", "/a/b", "/Ab/aB.c_d-e", "/a.store/b"] {
      let path = try #require(StorePath(text))
      let name = EmbeddedServerStore.name(of: path)
      #expect(EmbeddedServerStore.path(ofFile: name.dropFirst() + EmbeddedServerStore.suffix) == path)
    }
    let names = ["/a", "/A"].compactMap { StorePath($0) }.map { EmbeddedServerStore.name(of: $0).lowercased() }
    #expect(Set(names).count == 2)
  }
}
