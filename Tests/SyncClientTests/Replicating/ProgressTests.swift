import Foundation
import StorageMemory
import SyncModel
import SyncProtocol
import SyncServer
import Testing
import Vivarium
import VivariumTestSupport

@testable import SyncClient

@MainActor @Suite("Progress of a replicator")
struct ProgressTests {
  private let host = SyncHost(stores: MemoryServerStore(), access: OpenAccess())

  private func write(_ device: Device, _ ids: Range<Int>) throws {
    for id in ids { try device.store.write { _ = try device.store.create(Note.self, value: ["id": "\(id)", "text": "x"]) } }
  }

  @Test("of an outstanding upload begins at nothing, and ends when the server has what there was")
  func upload() async throws {
    let ann = try Device(host, "ann")
    try write(ann, 0..<30)
    let progress = try await ann.replicator.progress(.upload, of: .outstanding)
    // What comes later does not count.
    try write(ann, 30..<40)
    var all: [SyncProgress] = []
    for await value in progress {
      if all.isEmpty { await ann.replicator.start() }
      all.append(value)
    }
    #expect(all.first?.transferred == 0)
    #expect(all.first.map { $0.transferable > 1_000 } == true)
    #expect(Set(all.map(\.transferable)).count == 1)
    #expect(all.map(\.transferred) == all.map(\.transferred).sorted())
    #expect(all.last?.isDone == true && all.last?.transferred == all.last?.transferable)
    try await ann.replicator.uploaded()
  }

  @Test("of an upload ends at once where nothing waits")
  func nothing() async throws {
    let ann = try Device(host, "ann")
    var all: [SyncProgress] = []
    for await value in try await ann.replicator.progress(.upload, of: .outstanding) { all.append(value) }
    #expect(all == [SyncProgress(transferred: 0, transferable: 0)])
  }

  @Test("of everything goes on with what is written later, and ends with the replicator")
  func everything() async throws {
    let ann = try Device(host, "ann")
    await ann.replicator.start()
    let progress = try await ann.replicator.progress(.upload)
    try write(ann, 0..<5)
    try await ann.replicator.uploaded()
    var iterator = progress.makeAsyncIterator()
    var last = await iterator.next()
    while let value = last, !(value.isDone && value.transferred > 0) { last = await iterator.next() }
    let before = try #require(last?.transferred)
    try write(ann, 5..<10)
    try await ann.replicator.uploaded()
    while let value = last, !(value.isDone && value.transferred > before) { last = await iterator.next() }
    #expect(last?.isDone == true)
    await ann.replicator.stop()
    while let value = await iterator.next() { last = value }
    #expect(last?.isDone == true)
  }

  @Test("of an outstanding download says how much is about to come, and ends when it is here")
  func download() async throws {
    let (ann, bob) = (try Device(host, "ann"), try Device(host, "bob"))
    await bob.replicator.start()
    try await bob.replicator.downloaded()
    await bob.wire.cut()
    try write(ann, 0..<200)
    await ann.replicator.start()
    try await ann.replicator.uploaded()
    let progress = try await bob.replicator.progress(.download, of: .outstanding)
    bob.wire.mend()
    await bob.replicator.retry()
    var all: [SyncProgress] = []
    for await value in progress { all.append(value) }
    #expect(all.last?.isDone == true)
    #expect(all.last.map { $0.transferred > 10_000 } == true)
    bob.store.refresh()
    #expect(bob.store.objects(Note.self).count == 200)
  }

  @Test("survives a server that says that more is left than can be counted")
  func boundless() async {
    var transfers = Transfers()
    let (stream, continuation) = AsyncStream.makeStream(of: SyncProgress.self)
    transfers.observe(1, .download, .everything, end: 1, outstanding: 0, continuation)
    transfers.received(.changes(session: 1, []), 10)
    transfers.received(.progress(session: 1, head: Seq(9), bytesLeft: .max), 10)
    transfers.finish()
    var last: SyncProgress?
    for await progress in stream { last = progress }
    #expect(last == SyncProgress(transferred: 10, transferable: .max))
  }

  @Test("says why the server let nobody in, in the state itself")
  func refusedText() async throws {
    let host = SyncHost(stores: MemoryServerStore(), access: ChangingAccess())
    let ann = try Device(host, "ann")
    let notices = await ann.replicator.notices()
    await ann.replicator.start()
    await waitFor(notices) {
      guard case .state(.suspended(let error)) = $0 else { return false }
      return error.code == .unknownStore && error.text.contains("/shared/notes") && !error.remedy.isEmpty
    }
  }
}
