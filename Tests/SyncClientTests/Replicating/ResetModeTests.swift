import SyncClient
import SyncModel
import SyncProtocol
import SyncServer
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// A server that was restored, and a device with something that the server does not have.
@MainActor @Suite(.timeLimit(.minutes(2))) struct ResetModeTests {
  private let server = MemoryServerStore()

  /// Two notes are written without a network, after the server was restored to when it had one.
  private func restored(_ options: Replicator.Options) async throws -> Device {
    let host = SyncHost(stores: server, access: OpenAccess())
    let path = try #require(StorePath("/shared/notes"))
    let device = try Device(host, "ann", options: options)
    await device.replicator.start()
    try device.store.write { _ = try device.store.create(Note.self, value: ["id": "kept"]) }
    try await device.replicator.uploaded()
    let backUp = try await server.backUp(path)
    try device.store.write { _ = try device.store.create(Note.self, value: ["id": "lost"]) }
    try await device.replicator.uploaded()
    await device.wire.cut()
    try device.store.write { _ = try device.store.create(Note.self, value: ["id": "waits"]) }
    try await server.restore(path, backUp)
    return device
  }

  private func notes(_ device: Device) async throws -> [String] {
    try await device.replicator.downloaded()
    device.store.refresh()
    return device.store.objects(Note.self).map(\.id).sorted()
  }

  private func options(_ mode: ResetMode) -> Replicator.Options {
    var options = Replicator.Options()
    (options.firstDelay, options.longestDelay, options.resetMode) = (.milliseconds(5), .milliseconds(20), mode)
    return options
  }

  @Test(arguments: [ResetMode.recover, .recoverOrDiscard]) func whatWaitsIsDoneAgain(mode: ResetMode) async throws {
    let device = try await restored(options(mode))
    device.wire.mend()
    await device.replicator.retry()
    #expect(try await notes(device) == ["kept", "waits"])
  }

  @Test func whatWaitsIsGivenUpWhereTheAppWantsThat() async throws {
    let device = try await restored(options(.discard))
    device.wire.mend()
    await device.replicator.retry()
    #expect(try await notes(device) == ["kept"])
    // And the file goes on as a replica like any other.
    try device.store.write { _ = try device.store.create(Note.self, value: ["id": "later"]) }
    try await device.replicator.uploaded()
    #expect(try await notes(device) == ["kept", "later"])
  }

  @Test(arguments: [(ResetMode.recover, ["kept", "waits"]), (.discard, ["kept"])])
  func theAppIsAskedAndNothingIsDoneBefore(mode: ResetMode, result: [String]) async throws {
    let device = try await restored(options(.manual))
    let notices = await device.replicator.notices()
    device.wire.mend()
    await device.replicator.retry()
    for await notice in notices { if case .resetNeeded = notice { break } }
    device.store.refresh()
    #expect(device.store.objects(Note.self).map(\.id).sorted() == ["kept", "lost", "waits"])
    await device.replicator.reset(.manual)
    await device.replicator.reset(mode)
    #expect(try await notes(device) == result)
  }

  @Test func theAppHasTimeForACopy() async throws {
    let before = Mutex(0)
    var options = options(.discard)
    options.beforeReset = { before.withLock { $0 += 1 } }
    let device = try await restored(options)
    device.wire.mend()
    await device.replicator.retry()
    #expect(try await notes(device) == ["kept"])
    #expect(before.withLock { $0 } == 1)
  }
}
