import Foundation
import StorageLMDB
import StorageMemory
import SyncClient
import SyncProtocol
import SyncServer
import Testing
import Vivarium
import VivariumTestSupport

/// The same type in programs that disagree about it.
private enum Retyped {
  @Model final class Note {
    @PrimaryKey var id = ""
    var text = 0
    var count = 0
    var tags: LiveList<String>
  }
}

private enum Shorter {
  @Model final class Note {
    @PrimaryKey var id = ""
    var text = ""
    var tags: LiveList<String>
  }
}

private enum Moved {
  @Model final class Note {
    @PrimaryKey var id = ""
    var text = ""
    @Renamed(from: "count") var number = 0
    var tags: LiveList<String>
  }
}

private enum Marked {
  @Model final class Note {
    @PrimaryKey var id = ""
    var text = ""
    var count = 0
    var tags: LiveList<String>
    var marks: LiveSet<String> = ["new"]
  }
}

@MainActor @Suite("Programs that disagree about a replicated type", .timeLimit(.minutes(15)))
struct SchemaClashTests {
  private let host = SyncHost(stores: MemoryServerStore(), access: OpenAccess())
  private let directory = TemporaryDirectory("clash")

  private func open(_ name: String, _ model: any SchemaDescribing.Type, version: UInt64 = 0) throws -> Store {
    var configuration = Store.Configuration.lmdb(directory.file(name))
    configuration.models = [model]
    configuration.schemaVersion = version
    configuration.replicate()
    return try Store(configuration)
  }

  private func replicator(of store: Store, _ user: String) -> Replicator {
    store.replicator(path: "/shared/notes", connector: TestConnector(host), credentials: FixedToken(user))
  }

  /// A device that has sent a note.
  private func ann() async throws -> Device {
    let ann = try Device(host, "ann")
    try ann.store.write { _ = try ann.store.create(Note.self, value: ["id": "a", "text": "tea"]) }
    await ann.replicator.start()
    try await ann.replicator.uploaded()
    return ann
  }

  /// Starts, and waits until somebody has to act.
  private func suspension(of replicator: Replicator, _ begin: () async -> Void) async -> SyncError? {
    let notices = await replicator.notices()
    await begin()
    for await notice in notices { if case .state(.suspended(let error)) = notice { return error } }
    return nil
  }

  @Test("suspend the one that cannot hold what the server has, which keeps what it wrote")
  func clash() async throws {
    let ann = try await ann()

    let store = try open("bob", Retyped.Note.self)
    try store.write { _ = try store.create(Retyped.Note.self, value: ["id": "b", "text": 5]) }
    let bob = replicator(of: store, "bob")
    let error = await suspension(of: bob) { await bob.start() }
    #expect(error?.code == .schemaConflict && error?.message.contains("'text'") == true, "\(error.debugDescription)")
    #expect(error?.remedy.contains("models") == true)
    // Local work goes on, and a new attempt ends in the same way.
    try store.write { store.objects(Retyped.Note.self).first?.text = 6 }
    let again = await suspension(of: bob) { await bob.retry() }
    #expect(again?.code == .schemaConflict)
    store.refresh()
    #expect(store.objects(Retyped.Note.self).map(\.text) == [6])
    await bob.stop()
    // None of it has reached the others.
    try await ann.replicator.downloaded()
    ann.store.refresh()
    #expect(ann.store.objects(Note.self).map(\.id) == ["a"])
    await ann.replicator.stop()
  }

  /// There is nothing that could tell the second device how the others see the property: only what they have declared.
  @Test("cannot both write what they disagree about: the second is suspended before it sends anything")
  func declarations() async throws {
    let ann = try await ann()
    try ann.store.write { try ann.store.deleteAll() }
    try await ann.replicator.uploaded()
    let store = try open("bob", Retyped.Note.self)
    let bob = replicator(of: store, "bob")
    await bob.start()
    try await bob.downloaded()
    let error = await suspension(of: bob) {
      do { try store.write { _ = try store.create(Retyped.Note.self, value: ["id": "b", "text": 5]) } } catch { Issue.record(error) }
    }
    #expect(error?.code == .schemaConflict && error?.message.contains("'Note.text'") == true, "\(error.debugDescription)")
    #expect(store.objects(Retyped.Note.self).map(\.text) == [5])
    // The others go on with each other.
    try ann.store.write { _ = try ann.store.create(Note.self, value: ["id": "c", "text": "coffee"]) }
    try await ann.replicator.uploaded()
    try await ann.replicator.downloaded()
    ann.store.refresh()
    #expect(ann.store.objects(Note.self).map(\.id) == ["c"])
    for replicator in [ann.replicator, bob] { await replicator.stop() }
  }

  @Test("go on where they were once the models fit")
  func remedy() async throws {
    let ann = try await ann()
    do {
      let store = try open("bob", Retyped.Note.self)
      let bob = replicator(of: store, "bob")
      #expect(await suspension(of: bob) { await bob.start() }?.code == .schemaConflict)
      await bob.stop()
    }
    let store = try open("bob", Note.self, version: 1)
    let bob = replicator(of: store, "bob")
    await bob.start()
    try await bob.downloaded()
    store.refresh()
    #expect(store.objects(Note.self).map(\.text) == ["tea"])
    for replicator in [ann.replicator, bob] { await replicator.stop() }
  }

  @Test("refuse to take a property from the others, with the reason", arguments: ["be removed", "get another type", "be renamed"])
  func removal(fate: String) throws {
    do {
      let store = try open("bob", Note.self)
      try store.write { _ = try store.create(Note.self, value: ["id": "a", "text": "tea", "count": 3]) }
    }
    let models: [String: any SchemaDescribing.Type] = [
      "be removed": Shorter.Note.self, "get another type": Retyped.Note.self, "be renamed": Moved.Note.self,
    ]
    let model = try #require(models[fate])
    let error = try #require(throws: StoreError.self) { _ = try open("bob", model, version: 1) }
    #expect(error.code == .schemaMismatch && "\(error)".contains(fate) && "\(error)".contains("other replicas"), "\(error)")
    // The file is as it was.
    let store = try open("bob", Note.self)
    #expect(store.objects(Note.self).map(\.count) == [3] && store.objects(Note.self).map(\.text) == ["tea"])
  }

  /// Each replica would insert them once more.
  @Test("refuse elements that all objects were to have by default", arguments: [0, 1] as [UInt64])
  func elements(version: UInt64) throws {
    do {
      let store = try open("bob", Note.self)
      try store.write { _ = try store.create(Note.self, value: ["id": "a", "text": "tea"]) }
    }
    let error = try #require(throws: StoreError.self) { _ = try open("bob", Marked.Note.self, version: version) }
    #expect(error.code == .schemaMismatch && "\(error)".contains("Note.marks") && "\(error)".contains("each replica"), "\(error)")
    #expect(try open("bob", Note.self).objects(Note.self).map(\.text) == ["tea"])
  }
}
