import Dispatch
import Foundation
import StorageCoordination
import StorageInterface
import StoreValues
import Synchronization
import Testing

/// A version that tests move, and the calls that were heard.
private final class Ear: Sendable {
  let version = Mutex(Version(0))
  let heard = DispatchSemaphore(value: 0)
  let count = Mutex(0)

  func listen(_ bell: any Doorbell, unless isTold: @escaping @Sendable () -> Bool = { false }) -> any CommitListener {
    bell.listen(unless: isTold, version: { [self] in version.withLock { $0 } }) { [self] in
      count.withLock { $0 += 1 }
      heard.signal()
    }
  }

  func commit() { version.withLock { $0 = $0.next } }
}

struct DoorbellTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  enum Kind: CaseIterable, Sendable { case local, file }

  private func makeBell(_ kind: Kind) throws -> any Doorbell {
    switch kind {
    case .local: LocalDoorbell()
    case .file: try FileDoorbell(path: scratch.file("a.bell"), isReadOnly: false)
    }
  }

  @Test(arguments: Kind.allCases) func aRingReachesEveryListener(_ kind: Kind) throws {
    let bell = try makeBell(kind)
    let ears = (0..<3).map { _ in Ear() }
    let listeners = ears.map { $0.listen(bell) }
    for ear in ears { ear.commit() }
    bell.ring()
    for ear in ears { ear.heard.wait() }
    for ear in ears { #expect(ear.count.withLock { $0 } == 1) }
    for listener in listeners { listener.stop() }
  }

  @Test(arguments: Kind.allCases) func nobodyIsCalledWhenTheVersionDidNotMove(_ kind: Kind) throws {
    let bell = try makeBell(kind)
    let still = Ear()
    let moving = Ear()
    let listeners = [still.listen(bell), moving.listen(bell)]
    for _ in 0..<3 {
      moving.commit()
      bell.ring()
      moving.heard.wait()
    }
    #expect(still.count.withLock { $0 } == 0)
    for listener in listeners { listener.stop() }
  }

  @Test(arguments: Kind.allCases) func noCallBeginsAfterStopReturned(_ kind: Kind) throws {
    let bell = try makeBell(kind)
    for _ in 0..<20 {
      let ear = Ear()
      let listener = ear.listen(bell)
      ear.commit()
      bell.ring()
      listener.stop()
      let count = ear.count.withLock { $0 }
      let other = Ear()
      let witness = other.listen(bell)
      ear.commit()
      other.commit()
      bell.ring()
      other.heard.wait()
      #expect(ear.count.withLock { $0 } == count)
      witness.stop()
    }
  }

  @Test(arguments: Kind.allCases) func aDroppedListenerHearsNothing(_ kind: Kind) throws {
    let bell = try makeBell(kind)
    let ear = Ear()
    _ = ear.listen(bell)
    let other = Ear()
    let witness = other.listen(bell)
    ear.commit()
    other.commit()
    bell.ring()
    other.heard.wait()
    #expect(ear.count.withLock { $0 } == 0)
    witness.stop()
  }

  @Test(arguments: Kind.allCases) func aListenerMayStopItselfInsideItsCall(_ kind: Kind) throws {
    let bell = try makeBell(kind)
    let own = Mutex<(any CommitListener)?>(nil)
    let stopped = DispatchSemaphore(value: 0)
    let version = Mutex(Version(0))
    let listener = bell.listen(unless: { false }, version: { version.withLock { $0 } }) {
      own.withLock { $0 }?.stop()
      stopped.signal()
    }
    own.withLock { $0 = listener }
    version.withLock { $0 = Version(1) }
    bell.ring()
    #expect(stopped.wait(timeout: .now() + .seconds(900)) == .success)
    // It hears no more.
    let witness = Ear()
    let other = witness.listen(bell)
    version.withLock { $0 = Version(2) }
    witness.commit()
    bell.ring()
    #expect(witness.heard.wait(timeout: .now() + .seconds(900)) == .success)
    #expect(stopped.wait(timeout: .now()) == .timedOut)
    other.stop()
  }

  @Test func aRingInAnotherProcessIsHeard() async throws {
    let path = scratch.file("a.bell")
    let bell = try FileDoorbell(path: path, isReadOnly: false)
    let ear = Ear()
    let listener = ear.listen(bell)
    ear.commit()
    await #expect(processExitsWith: .success) { [path = path as String] in
      try FileDoorbell(path: path, isReadOnly: false).ring()
    }
    #expect(ear.heard.wait(timeout: .now() + .seconds(900)) == .success)
    #expect(ear.count.withLock { $0 } == 1)
    listener.stop()
  }

  @Test func twoPathsOfOneBellAreOneBell() throws {
    let bell = try FileDoorbell(path: scratch.file("a.bell"), isReadOnly: false)
    try FileManager.default.linkItem(atPath: scratch.file("a.bell"), toPath: scratch.file("b.bell"))
    let linked = try FileDoorbell(path: scratch.file("b.bell"), isReadOnly: true)
    let ear = Ear()
    let listener = ear.listen(linked)
    ear.commit()
    bell.ring()
    #expect(ear.heard.wait(timeout: .now() + .seconds(900)) == .success)
    #expect(ear.count.withLock { $0 } == 1)
    listener.stop()
  }

  /// The only bell nobody can hear: the file is missing. The look once a second remains.
  @Test func aLostRingIsMadeUpForByTheRegularLook() throws {
    let silent = try FileDoorbell(path: scratch.file("none.bell"), isReadOnly: true)
    let ear = Ear()
    let listener = ear.listen(silent)
    for _ in 0..<2 {
      ear.commit()
      ear.heard.wait()
    }
    #expect(ear.count.withLock { $0 } == 2)
    listener.stop()
  }

  /// A reader may come to a store before its bell is there.
  @Test func aBellThatIsMadeLaterIsWatchedFromThenOn() throws {
    let ear = Ear()
    let listener = ear.listen(try FileDoorbell(path: scratch.file("a.bell"), isReadOnly: true))
    let other = Ear()
    let gone = other.listen(try FileDoorbell(path: scratch.file("a.bell"), isReadOnly: true))
    let bell = try FileDoorbell(path: scratch.file("a.bell"), isReadOnly: false)
    // By the regular look, which finds the bell.
    ear.commit()
    ear.heard.wait()
    gone.stop()
    let begun = ContinuousClock.now
    for _ in 0..<50 {
      ear.commit()
      bell.ringForCommit()
      ear.heard.wait()
    }
    // Heard by regular looks alone they take a second each.
    #expect(ContinuousClock.now - begun < .seconds(25))
    #expect(ear.count.withLock { $0 } == 51)
    listener.stop()
  }
}
