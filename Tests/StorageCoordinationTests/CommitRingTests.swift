import Dispatch
import Foundation
import StorageCoordination
import StorageInterface
import StoreValues
import Synchronization
import Testing

/// For whom a commit rings a bell: a thread that is woken for nothing costs each commit as much as the work itself.
struct CommitRingTests {
  private let scratch: Scratch
  private let path: String

  init() throws {
    scratch = try Scratch()
    path = scratch.file("a.bell")
  }

  /// Whether a ring is written to the bell's file: a write gives it a new date.
  private func rings(_ body: () -> Void) throws -> Bool {
    try makeOld()
    body()
    return try !isOld
  }

  private static let old = Date(timeIntervalSince1970: 1_000_000_000)

  private func makeOld() throws {
    try FileManager.default.setAttributes([.modificationDate: CommitRingTests.old], ofItemAtPath: path)
  }

  private var isOld: Bool {
    get throws { try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date == CommitRingTests.old }
  }

  private func listen(_ bell: any Doorbell, isTold: Bool) -> any CommitListener {
    bell.listen(unless: { isTold }, version: { nil }) {}
  }

  @Test func aCommitRingsForNobodyWhereNobodyListens() throws {
    let bell = try FileDoorbell(path: path, isReadOnly: false)
    #expect(try !rings { bell.ringForCommit() })
    #expect(try rings { bell.ring() })
  }

  @Test func aCommitRingsOnlyForThoseWhoAreNotTold() throws {
    let bell = try FileDoorbell(path: path, isReadOnly: false)
    let told = listen(bell, isTold: true)
    #expect(try !rings { bell.ringForCommit() })
    let untold = listen(bell, isTold: false)
    #expect(try rings { bell.ringForCommit() })
    untold.stop()
    #expect(try !rings { bell.ringForCommit() })
    told.stop()
  }

  @Test(arguments: [true, false]) func aCommitRingsForThoseWhoListenElsewhere(isReadOnly: Bool) throws {
    let bell = try FileDoorbell(path: path, isReadOnly: false)
    let own = listen(bell, isTold: true)
    let elsewhere = try FileDoorbell(path: path, isReadOnly: isReadOnly)
    #expect(try !rings { bell.ringForCommit() })
    // What they are told there says nothing of commits here.
    let first = listen(elsewhere, isTold: true)
    #expect(try rings { bell.ringForCommit() })
    let second = listen(elsewhere, isTold: true)
    first.stop()
    #expect(try rings { bell.ringForCommit() })
    second.stop()
    #expect(try !rings { bell.ringForCommit() })
    // Who has listened may listen again.
    let again = listen(elsewhere, isTold: true)
    #expect(try rings { bell.ringForCommit() })
    withExtendedLifetime((bell, own, elsewhere, again)) {}
  }

  @Test func aListenerThatIsDroppedIsNotRungFor() throws {
    let bell = try FileDoorbell(path: path, isReadOnly: false)
    let elsewhere = try FileDoorbell(path: path, isReadOnly: true)
    do {
      let listener = listen(elsewhere, isTold: false)
      #expect(try rings { bell.ringForCommit() })
      withExtendedLifetime(listener) {}
    }
    #expect(try !rings { bell.ringForCommit() })
    withExtendedLifetime((bell, elsewhere)) {}
  }

  /// As a killed process leaves it: the system takes the lock back with the last descriptor.
  @Test func whoWasKilledWhileItListenedIsNotRungFor() async throws {
    let bell = try FileDoorbell(path: path, isReadOnly: false)
    await #expect(processExitsWith: .success) { [path = path as String] in
      let elsewhere = try FileDoorbell(path: path, isReadOnly: false)
      let listener = elsewhere.listen(unless: { true }, version: { nil }) {}
      withExtendedLifetime(listener) { exit(EXIT_SUCCESS) }
    }
    #expect(try !rings { bell.ringForCommit() })
  }

  /// Who gives away the bell and keeps the listener hears.
  @Test func aListenerKeepsItsBell() throws {
    let bell = try FileDoorbell(path: path, isReadOnly: false)
    let listener = listen(try FileDoorbell(path: path, isReadOnly: true), isTold: false)
    #expect(try rings { bell.ringForCommit() })
    withExtendedLifetime((bell, listener)) {}
  }

  @Test func aCommitInAnotherProcessRingsForThisOne() async throws {
    let heard = DispatchSemaphore(value: 0)
    let version = Mutex(Version(0))
    let bell = try FileDoorbell(path: path, isReadOnly: false)
    let listener = bell.listen(unless: { true }, version: { version.withLock { $0 } }) { heard.signal() }
    version.withLock { $0 = $0.next }
    try makeOld()
    await #expect(processExitsWith: .success) { [path = path as String] in
      try FileDoorbell(path: path, isReadOnly: false).ringForCommit()
    }
    #expect(try !isOld)
    heard.wait()
    listener.stop()
  }

  @Test func inMemoryACommitCallsWhoIsNotTold() {
    let bell = LocalDoorbell()
    let version = Mutex(Version(0))
    let asked = Atomic(0)
    let heard = DispatchSemaphore(value: 0)
    let told = bell.listen(
      unless: {
        asked.add(1, ordering: .relaxed)
        return true
      }, version: { nil }) {}
    bell.ringForCommit()
    #expect(asked.load(ordering: .relaxed) == 1)
    let untold = bell.listen(unless: { false }, version: { version.withLock { $0 } }) { heard.signal() }
    version.withLock { $0 = $0.next }
    bell.ringForCommit()
    heard.wait()
    told.stop()
    untold.stop()
  }
}
