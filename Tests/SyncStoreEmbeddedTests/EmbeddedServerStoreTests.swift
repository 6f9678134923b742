import Foundation
import StorageInterface
import StorageLMDB
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
        #expect(page == (try await memory.changes(place, for: author.id, after: start, limitBytes: .max)))
      }
    }
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
    try write.sideWriting?.setSide([UInt8(ascii: "r"), 0, 0, 0, 0, 0, 0, 0, 1], [9, 9])
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
