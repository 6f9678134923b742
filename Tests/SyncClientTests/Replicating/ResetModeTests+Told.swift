import SyncClient
import SyncProtocol
import SyncServer
import Testing
import Vivarium
import VivariumTestSupport

private func ids(_ store: FrozenStore) -> [String] {
  (try? store.read { $0.objects(Note.self).map(\.id).sorted() }) ?? ["unread"]
}

/// What an app is told before and after.
extension ResetModeTests {
  /// Options of an app that notes what it is told, with what the file was then.
  private func noting(
    _ mode: ResetMode, whileBefore: @escaping @Sendable () async -> Void = {}
  ) -> (options: Replicator.Options, said: AsyncStream<String>) {
    let (said, notes) = AsyncStream.makeStream(of: String.self)
    var options = options(mode)
    options.beforeReset = { before in
      notes.yield("before: \(ids(before))")
      await whileBefore()
    }
    options.afterReset = { before, outcome in
      let dropped = try? before.read { store in outcome.droppedObjects(Note.self, in: store).map(\.id) }
      notes.yield("after: \(ids(before)) \(outcome.cause) \(outcome.recovered) \(outcome.dropped) \(dropped ?? [])")
    }
    return (options, said)
  }

  @Test(arguments: [
    (ResetMode.recover, ["kept", "waits"], #"1 1 ["lost"]"#), (.recoverOrDiscard, ["kept", "waits"], #"1 1 ["lost"]"#),
    (.discard, ["kept"], #"0 2 ["lost", "waits"]"#),
  ])
  func theAppIsToldWhatWasDoneAgainAndWhatIsLost(mode: ResetMode, result: [String], told: String) async throws {
    let (options, said) = noting(mode)
    let device = try await restored(options)
    // The server does not have this one any more.
    try device.store.write { device.store.object(Note.self, forPrimaryKey: "lost")?.text = "changed" }
    device.wire.mend()
    await device.replicator.retry()
    #expect(try await notes(device) == result)
    var lines = said.makeAsyncIterator()
    #expect(await lines.next() == #"before: ["kept", "lost", "waits"]"#)
    #expect(await lines.next() == #"after: ["kept", "lost", "waits"] otherHistory "# + told)
    await device.replicator.stop()
  }

  @Test func theAppIsToldAlsoIfTheObjectsDifferAndTheHistoryDoesNot() async throws {
    let (begun, goesOn) = (AsyncSignal(), AsyncSignal())
    // It is not asked: what waits is done again in each mode.
    let (options, said) = noting(.manual) {
      begun.fire()
      await goesOn.wait()
    }
    let device = try Device(SyncHost(stores: server, access: OpenAccess()), "ann", options: options)
    await device.replicator.start()
    try device.store.write { _ = try device.store.create(Note.self, value: ["id": "kept"]) }
    try await device.replicator.uploaded()
    try await device.wire.say(.error(session: 1, code: .stateDiffers, retryAfterSeconds: 0, text: ""))
    await begun.wait()
    try device.store.write { _ = try device.store.create(Note.self, value: ["id": "waits"]) }
    goesOn.fire()
    #expect(try await notes(device) == ["kept", "waits"])
    var lines = said.makeAsyncIterator()
    #expect(await lines.next() == #"before: ["kept"]"#)
    #expect(await lines.next() == #"after: ["kept", "waits"] objectsDiffer 1 0 []"#)
    await device.replicator.stop()
  }
}
