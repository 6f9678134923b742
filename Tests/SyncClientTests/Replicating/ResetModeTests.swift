import Foundation
import StorageInterface
import StorageMemory
import SyncClient
import SyncModel
import SyncProtocol
import SyncServer
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// When a write fails, and how.
private final class WriteFault: Sendable {
  private let code: StorageError.Code
  private let left = Mutex(0)

  init(_ code: StorageError.Code) { self.code = code }

  func arm(at number: Int) { left.withLock { $0 = number } }

  func pass() throws(StorageError) {
    let isDue = left.withLock { left in
      left -= 1
      return left == 0
    }
    if isDue { throw StorageError(code, .transaction, "It fails for once.") }
  }
}

private final class FailingEngine: EngineInFront {
  let base: any StorageEngine
  private let fault: WriteFault

  init(_ base: any StorageEngine, _ fault: WriteFault) { (self.base, self.fault) = (base, fault) }

  func beginWrite(_ deadline: Deadline) throws(StorageError) -> any WriteTransaction {
    try fault.pass()
    return try base.beginWrite(deadline)
  }
}

/// A server that was restored, and a device with something that the server does not have.
@MainActor @Suite(.timeLimit(.minutes(15))) struct ResetModeTests {
  let server = MemoryServerStore()

  /// Two notes are written without a network, after the server was restored to when it had one.
  func restored(_ options: Replicator.Options, _ configuration: Store.Configuration? = nil) async throws -> Device {
    let host = SyncHost(stores: server, access: OpenAccess())
    let path = try #require(StorePath("/shared/notes"))
    let device = try Device(host, "ann", configuration, options: options)
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

  func notes(_ device: Device) async throws -> [String] {
    try await device.replicator.downloaded()
    device.store.refresh()
    return device.store.objects(Note.self).map(\.id).sorted()
  }

  func options(_ mode: ResetMode) -> Replicator.Options {
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

  /// What is there in the end when one of the first writes after the wire was mended fails, the first or a later one.
  private func notes(failing code: StorageError.Code) async throws -> [[String]] {
    var all: [[String]] = []
    for number in 1...6 {
      let fault = WriteFault(code)
      var configuration = Store.Configuration.memory(UUID().uuidString)
      configuration.backend = ForwardingBackend(configuration.backend) { FailingEngine($0, fault) }
      // A server of its own for each.
      let device = try await ResetModeTests().restored(options(.recoverOrDiscard), configuration)
      fault.arm(at: number)
      device.wire.mend()
      await device.replicator.retry()
      all.append(try await notes(device))
      await device.replicator.stop()
    }
    return all
  }

  @Test(arguments: [StorageError.Code.io, .outOfDiskSpace, .writeTimeout])
  func whatPassesIsNoReasonToGiveUpWhatWaits(code: StorageError.Code) async throws {
    #expect(try await notes(failing: code).allSatisfy { $0 == ["kept", "waits"] })
  }

  @Test func whatCannotBeDoneAgainIsGivenUp() async throws {
    #expect(try await notes(failing: .typeMismatch).contains(["kept"]))
  }

  @Test(arguments: [ResetMode.discard, .manual]) func theAppHasTimeForACopy(mode: ResetMode) async throws {
    let before = Mutex(0)
    var options = options(mode)
    options.beforeReset = { _ in before.withLock { $0 += 1 } }
    let device = try await restored(options)
    let notices = await device.replicator.notices()
    device.wire.mend()
    await device.replicator.retry()
    if mode == .manual {
      await waitFor(notices) { if case .resetNeeded = $0 { true } else { false } }
      #expect(before.withLock { $0 } == 0)
      await device.replicator.reset(.discard)
    }
    #expect(try await notes(device) == ["kept"])
    #expect(before.withLock { $0 } == 1)
  }

  private func replica(_ device: Device) throws -> String? {
    try device.store.file.read { try ReplicaReport($0)?.replica }
  }

  @Test func aCopyThatOutlivesItsSessionChangesNothingAfterwards() async throws {
    let (begun, goesOn) = (AsyncSignal(), AsyncSignal())
    let calls = Mutex(0)
    var options = options(.recover)
    options.beforeReset = { _ in
      let number = calls.withLock { number in
        number += 1
        return number
      }
      if number > 1 { return }
      begun.fire()
      await goesOn.wait()
    }
    let device = try await restored(options)
    device.wire.mend()
    await device.replicator.retry()
    await begun.wait()
    await device.replicator.stop()
    await device.replicator.start()
    #expect(try await notes(device) == ["kept", "waits"])
    let before = try replica(device)
    goesOn.fire()
    // Long enough for the file to begin anew as another replica, if it did.
    for _ in 0..<1_000 { await Task.yield() }
    #expect(try replica(device) == before)
    await device.replicator.stop()
  }
}
