import Foundation
import StorageLMDB
import SyncClient
import SyncModel
import SyncProtocol
import SyncServer
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

@testable import SyncSimulation

/// What `inspect sync` says of a client's file, while the client has it open.
@MainActor @Suite(.timeLimit(.minutes(15))) struct InspectSyncTests {
  private let directory = TemporaryDirectory("inspect")
  private var path: String { directory.file("file").path }

  /// What it prints for programs.
  private struct Report: Decodable {
    struct Change: Decodable {
      let number: String
      let written: String
      let state: String
      let operations: String
      let bytes: String
      let objects: String
    }

    let server: String
    let waiting: String
    let why: String
    let refused: String?
    let changes: [Change]

    /// What `waiting` has to say of the changes.
    var sum: String { "\(changes.count) changes, \(changes.reduce(0) { $0 + (Int($1.bytes) ?? 0) }) bytes" }
  }

  private func inspected() throws -> Report {
    let run = try InspectProcess(["sync", path, "--format", "json"])
    #expect(run.isExit && run.status == 0 && run.errors.isEmpty, "\(run)")
    return try JSONDecoder().decode(Report.self, from: Data(run.output.utf8))
  }

  private func addThings(_ ids: ClosedRange<Int>, to store: Store) throws {
    for id in ids {
      let thing = Thing()
      thing.id = id
      try store.add(thing)
    }
  }

  @Test(arguments: [Engine.lmdb, .sqlite])
  func `writes that wait are told with their number, since when, their objects and the reason`(engine: Engine) throws {
    let clock = Mutex<Int64>(1_700_000_000_000)
    var sync = SyncConfiguration()
    sync.wallClock = { clock.withLock { $0 } }
    var configuration = engine.configuration(directory, "file")
    configuration.replicate(sync)
    let store = try Store(configuration)
    try store.write { try addThings(1...2, to: store) }
    clock.withLock { $0 += 90_500 }
    try store.write {
      store.object(Thing.self, forPrimaryKey: 1)?.x = "later"
      try addThings(3...6, to: store)
    }

    let report = try inspected()
    #expect(report.server == "it has not joined yet" && report.why == "the file has never been connected")
    #expect(report.changes.map(\.number) == ["1", "2"] && report.waiting == report.sum)
    #expect(report.changes.map(\.written) == ["2023-11-14T22:13:20Z", "2023-11-14T22:14:50.5Z"])
    #expect(report.changes.map(\.state) == ["waits", "waits"])
    #expect(report.changes.map(\.objects) == ["Thing(1), Thing(2)", "Thing(1), Thing(3), Thing(4), and 2 more"])
    #expect(report.changes.allSatisfy { Int($0.bytes) ?? 0 > 0 && Int($0.operations) ?? 0 > 0 })

    let table = try InspectProcess(["sync", path])
    #expect(table.status == 0 && table.errors.isEmpty)
    for text in ["2 changes, ", "the file has never been connected\n", "2023-11-14T22:14:50.5Z", "Thing(1), Thing(2)\n"] {
      #expect(table.output.contains(text), "\(text): \(table.output)")
    }
  }

  @Test func `of a file that was connected it tells what the server has not answered, and that nothing waits where it has`() async throws {
    let host = SyncHost(stores: MemoryServerStore(), access: OpenAccess())
    let device = try Device(host, "ann", .lmdb(directory.file("file")))
    try device.store.write { _ = try device.store.create(Note.self, value: ["id": "a"]) }
    await device.replicator.start()
    try await device.replicator.uploaded()
    let answered = try inspected()
    #expect(answered.server.hasPrefix("history ") && answered.why == "nothing waits")
    #expect(answered.changes.isEmpty && answered.waiting == "0 changes, 0 bytes")

    await device.replicator.stop()
    for id in ["b", "c"] { try device.store.write { _ = try device.store.create(Note.self, value: ["id": id]) } }
    let waiting = try inspected()
    #expect(waiting.server == answered.server && waiting.why == "the server has not answered since it was written")
    #expect(waiting.changes.map(\.number) == ["2", "3"] && waiting.waiting == waiting.sum)
    #expect(waiting.changes.map(\.objects) == ["Note(b)", "Note(c)"])
  }

  @Test(arguments: [Engine.lmdb, .sqlite])
  func `what builds on a refused change is void, and not merely late`(engine: Engine) async throws {
    var configuration = engine.configuration(directory, "file")
    configuration.replicate()
    let store = try Store(configuration)
    try store.write { try addThings(1...1, to: store) }
    try store.write { store.object(Thing.self, forPrimaryKey: 1)?.x = "more" }
    let refusal = LogEntry.Body.refusal(
      clientSeq: 1, code: .writeDenied, text: "", states: [ObjectIdentity("Thing", .int(1)): nil])
    try await store.integrate { write in
      var changes = try RemoteChanges(write)
      changes.standing.history = [UInt8](repeating: 10, count: 16)
      try changes.take(LogEntry(Seq(1), refusal))
      try changes.finish()
    }
    let report = try inspected()
    #expect(report.server == "history " + String(repeating: "0a", count: 16) && report.refused == "last at entry 1")
    #expect(report.changes.map(\.number) == ["2"] && report.changes.map(\.state) == ["void"])
    #expect(report.why == "what is void built on a refused change: the server is asked for its objects")
  }
}
