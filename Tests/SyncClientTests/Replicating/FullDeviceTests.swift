import Foundation
import StorageInterface
import StorageLMDB
import StorageMemory
import SyncClient
import SyncServer
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// A disk that a test fills and frees.
private final class Disk: Sendable {
  private let isFull = Mutex(false)

  func fill() { isFull.withLock { $0 = true } }
  func free() { isFull.withLock { $0 = false } }

  func check() throws(StorageError) {
    guard isFull.withLock({ $0 }) else { return }
    throw StorageError(.outOfDiskSpace, .transaction, "The disk is full.", remedy: "Free space on the volume and try again.")
  }
}

private final class DiskEngine: EngineInFront {
  let base: any StorageEngine
  private let disk: Disk
  private let moment: FullDeviceTests.Moment

  init(_ base: any StorageEngine, _ disk: Disk, _ moment: FullDeviceTests.Moment) {
    (self.base, self.disk, self.moment) = (base, disk, moment)
  }

  func beginWrite(_ deadline: Deadline) throws(StorageError) -> any WriteTransaction {
    if moment == .begin { try disk.check() }
    if moment == .begin { return try base.beginWrite(deadline) }
    return DiskWrite(base: try base.beginWrite(deadline), disk)
  }
}

private final class DiskWrite: ForwardingWrite {
  let base: any WriteTransaction
  private let disk: Disk

  init(base: any WriteTransaction, _ disk: Disk) { (self.base, self.disk) = (base, disk) }

  func commit(_ record: CommitRecord, _ durability: Durability) throws(StorageError) -> Version {
    try disk.check()
    return try base.commit(record, durability)
  }
}

@MainActor @Suite("A device whose disk is full", .timeLimit(.minutes(15)))
struct FullDeviceTests {
  /// Where a write finds that the disk is full.
  enum Moment: CaseIterable, Sendable { case begin, commit }

  private let host = SyncHost(stores: MemoryServerStore(), access: OpenAccess())

  private func device(_ user: String, on disk: Disk, _ moment: Moment) throws -> Device {
    var configuration = Store.Configuration.memory(UUID().uuidString)
    configuration.backend = ForwardingBackend(configuration.backend) { DiskEngine($0, disk, moment) }
    return try Device(host, user, configuration)
  }

  /// What the next state with an error of the file says.
  private static func fault(in notices: AsyncStream<SyncNotice>) async -> SyncFileError? {
    for await notice in notices { if case .state(.fileUnavailable(let error)) = notice { return error } }
    return nil
  }

  @Test("says so with what helps, loses nothing, and goes on by itself when there is room", arguments: Moment.allCases)
  func live(moment: Moment) async throws {
    let disk = Disk()
    let (ann, bob) = (try device("ann", on: disk, moment), try Device(host, "bob"))
    for device in [ann, bob] { await device.replicator.start() }
    try await ann.replicator.downloaded()
    await ann.wire.cut()
    try ann.store.write { _ = try ann.store.create(Note.self, value: ["id": "mine"]) }
    disk.fill()
    let notices = await ann.replicator.notices()
    try bob.store.write { _ = try bob.store.create(Note.self, value: ["id": "a", "text": "one"]) }
    try await bob.replicator.uploaded()
    ann.wire.mend()
    await ann.replicator.retry()
    // Again and again, while there is no room.
    for _ in 0..<3 {
      let error = try #require(await FullDeviceTests.fault(in: notices))
      #expect(error.code == .outOfDiskSpace && error.remedy.contains("Free space"))
    }
    #expect(try ann.note("a") == nil && ann.note("mine") != nil)
    #expect(throws: StoreError.self) { try ann.store.write { _ = try ann.store.create(Note.self, value: ["id": "b"]) } }
    let note = try #require(try bob.note("a"))
    try bob.store.write { note.text = "two" }
    try await bob.replicator.uploaded()
    disk.free()
    try await ann.replicator.downloaded()
    #expect(try ann.note("a")?.text == "two")
    try await ann.replicator.uploaded()
    try await bob.replicator.downloaded()
    #expect(try bob.note("mine") != nil)
    for device in [ann, bob] { #expect(await device.replicator.state == .live) }
  }

  @Test("says so before it has anything, and takes all when there is room", arguments: Moment.allCases)
  func fresh(moment: Moment) async throws {
    let bob = try Device(host, "bob")
    try bob.store.write { for number in 0..<20 { _ = try bob.store.create(Note.self, value: ["id": "\(number)"]) } }
    await bob.replicator.start()
    try await bob.replicator.uploaded()
    let disk = Disk()
    let ann = try device("ann", on: disk, moment)
    disk.fill()
    let notices = await ann.replicator.notices()
    await ann.replicator.start()
    #expect(await FullDeviceTests.fault(in: notices)?.code == .outOfDiskSpace)
    disk.free()
    try await ann.replicator.downloaded()
    ann.store.refresh()
    #expect(ann.store.objects(Note.self).count == 20)
  }

  #if os(Linux)
  @Test("goes on with a file, too, that may grow again") func file() async throws {
    let directory = TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = directory.file("ann").path as String] in
      try await FullDeviceTests.limited(URL(fileURLWithPath: path))
    }
  }

  /// For a process of its own, whose files may not grow for a while.
  private static func limited(_ url: URL) async throws {
    signal(SIGXFSZ, SIG_IGN)
    let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
    let host = SyncHost(stores: MemoryServerStore(), access: OpenAccess())
    let (ann, bob) = (try Device(host, "ann", Store.Configuration.lmdb(url)), try Device(host, "bob"))
    for device in [ann, bob] { await device.replicator.start() }
    try await ann.replicator.downloaded()
    let notices = await ann.replicator.notices()
    var limit = rlimit()
    getrlimit(resource, &limit)
    let usual = limit.rlim_cur
    let length = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? NSNumber
    limit.rlim_cur = rlim_t(try #require(length?.intValue) + 256 << 10)
    #expect(setrlimit(resource, &limit) == 0)
    try bob.store.write { _ = try bob.store.create(Note.self, value: ["id": "a", "text": String(repeating: "long", count: 1 << 20)]) }
    try await bob.replicator.uploaded()
    #expect(await fault(in: notices)?.code == .outOfDiskSpace)
    #expect(try ann.note("a") == nil)
    limit.rlim_cur = usual
    #expect(setrlimit(resource, &limit) == 0)
    try await ann.replicator.downloaded()
    #expect(try ann.note("a")?.text.utf8.count == 4 << 20)
    for device in [ann, bob] { await device.replicator.stop() }
  }
  #endif
}
