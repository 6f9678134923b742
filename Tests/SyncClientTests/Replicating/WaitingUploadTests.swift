import SyncModel
import SyncProtocol
import SyncServer
import Testing
import Vivarium

@testable import SyncClient

@MainActor @Suite("Who waits for an upload", .timeLimit(.minutes(15)))
struct WaitingUploadTests {
  @Test("is told once the server has what was written before, also where the file has numbered that anew meanwhile")
  func numbersBeginAnew() async throws {
    let device = try Device(SyncHost(stores: MemoryServerStore(), access: OpenAccess()), "ann")
    await device.wire.cut()
    await device.replicator.start()
    let file = SessionFile(device.store.file)
    for number in 1...5 { try device.store.write { _ = try device.store.create(Note.self, value: ["id": "\(number)"]) } }
    // The server has the first four.
    _ = try await file.integrate((1...4 as ClosedRange<UInt64>).map { LogEntry(Seq($0), .own(clientSeq: $0)) }, clockOffset: nil)
    #expect(try file.waiting().oldest == 5)
    let replicator = device.replicator
    let uploading = Task { try await replicator.uploaded() }
    while await replicator.uploads.isEmpty { await Task.yield() }

    _ = try await file.beginAnew(as: ReplicaID(77))
    await replicator.checkUploads()
    #expect(await !replicator.uploads.isEmpty)
    let pages = [SessionHarness.page(isLast: true)]
    _ = try await file.answer(.take(pages, SessionHarness.bound(.snapshot), generation: 1), clockOffset: nil)
    #expect(try file.waiting().oldest == 1)
    await replicator.checkUploads()
    #expect(await !replicator.uploads.isEmpty)

    // Somebody writes on: the outbox is never empty.
    try device.store.write { _ = try device.store.create(Note.self, value: ["id": "6"]) }
    _ = try await file.integrate([LogEntry(Seq(10), .own(clientSeq: 1))], clockOffset: nil)
    #expect(try file.waiting().oldest == 2)
    await replicator.checkUploads()
    #expect(await replicator.uploads.isEmpty)
    await replicator.stop()
    try await uploading.value
  }
}
