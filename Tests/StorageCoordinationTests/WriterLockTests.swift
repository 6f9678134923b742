import Dispatch
import Foundation
import StorageCoordination
import StorageInterface
import Synchronization
import Testing

/// What both locks promise, on each of them.
struct WriterLockTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  enum Kind: CaseIterable, Sendable { case local, file }

  private func makeLock(_ kind: Kind) throws -> any WriterLock {
    switch kind {
    case .local: LocalWriterLock()
    case .file: try FileWriterLock(path: scratch.file("a.coord"))
    }
  }

  /// Starts a thread that waits for the lock, and returns when it stands in line.
  private func standInLine(
    _ lock: any WriterLock, _ kind: Kind, number: Int, path: String, _ body: @escaping @Sendable (WriterHold) -> Void
  ) -> DispatchSemaphore {
    let done = DispatchSemaphore(value: 0)
    Thread {
      if let hold = try? lock.acquire(.never) { body(hold) }
      done.signal()
    }.start()
    if let local = lock as? LocalWriterLock {
      while local.waiterCount < number { yieldThread() }
    } else if let file = lock as? FileWriterLock {
      while file.waiterCount < number { yieldThread() }
    }
    return done
  }

  @Test(arguments: Kind.allCases) func firstComeIsFirstServed(_ kind: Kind) throws {
    let lock = try makeLock(kind)
    let order = Diary<Int>()
    let hold = try lock.acquire(.never)
    let finished = (1...6).map { number in
      standInLine(lock, kind, number: number, path: scratch.path) { hold in
        order.write(number)
        hold.release()
      }
    }
    #expect(order.entries.isEmpty)
    hold.release()
    finished.forEach { $0.wait() }
    #expect(order.entries == [1, 2, 3, 4, 5, 6])
  }

  @Test(arguments: Kind.allCases) func aPassedDeadlineThrowsWriteTimeout(_ kind: Kind) throws {
    let lock = try makeLock(kind)
    let hold = try lock.acquire(.never)
    let error = #expect(throws: StorageError.self) { _ = try lock.acquire(.after(.milliseconds(1))) }
    #expect(error?.code == .writeTimeout)
    #expect(error?.scope == .statement)
    hold.release()
  }

  @Test(arguments: Kind.allCases) func aFreeLockIsGivenEvenWhenTheDeadlineHasPassed(_ kind: Kind) throws {
    let lock = try makeLock(kind)
    let hold = try lock.acquire(.after(.zero))
    // It is a hold like any other: the next has to wait.
    #expect(throws: StorageError.self) { _ = try lock.acquire(.after(.zero)) }
    hold.release()
  }

  @Test(arguments: Kind.allCases) func whoGaveUpIsPassedOver(_ kind: Kind) throws {
    let lock = try makeLock(kind)
    let order = Diary<Int>()
    let hold = try lock.acquire(.never)
    let first = standInLine(lock, kind, number: 1, path: "") { hold in
      order.write(1)
      hold.release()
    }
    #expect(throws: StorageError.self) { _ = try lock.acquire(.after(.zero)) }
    let second = standInLine(lock, kind, number: 2, path: "") { hold in
      order.write(2)
      hold.release()
    }
    hold.release()
    first.wait()
    second.wait()
    #expect(order.entries == [1, 2])
  }

  @Test(arguments: Kind.allCases) func anotherThreadMayRelease(_ kind: Kind) async throws {
    let lock = try makeLock(kind)
    let hold = try lock.acquire(.never)
    #expect(throws: StorageError.self) { _ = try lock.acquire(.after(.zero)) }
    await Task.detached { hold.release() }.value
    let next = try lock.acquire(.after(.zero))
    #expect(throws: StorageError.self) { _ = try lock.acquire(.after(.zero)) }
    next.release()
  }

  @Test(arguments: Kind.allCases) func droppingTheHoldReleases(_ kind: Kind) throws {
    let lock = try makeLock(kind)
    _ = try lock.acquire(.never)
    let hold = try lock.acquire(.after(.zero))
    hold.release()
    hold.release()
    #expect(!hold.followsDeath)
  }

  @Test(arguments: Kind.allCases) func aSecondReleaseTakesNothingFromTheNextHolder(_ kind: Kind) throws {
    let lock = try makeLock(kind)
    let first = try lock.acquire(.never)
    first.release()
    let second = try lock.acquire(.never)
    first.release()
    #expect(throws: StorageError.self) { _ = try lock.acquire(.after(.zero)) }
    second.release()
  }

  @Test(arguments: Kind.allCases) func onlyOneHoldsAtATime(_ kind: Kind) async throws {
    let lock = try makeLock(kind)
    // Two locks on one file exclude each other just as two processes do.
    let other = kind == .file ? try makeLock(kind) : lock
    // Atomic, so that two holders are counted and not a race: what the system's locks order, checkers of races do not see.
    let isHeld = Atomic(false)
    let holds = Atomic(0)
    let overlaps = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: 8) { worker in
      let mine = worker.isMultiple(of: 2) ? lock : other
      for _ in 0..<200 {
        guard let hold = try? mine.acquire(.never) else { return }
        if isHeld.exchange(true, ordering: .relaxed) { overlaps.add(1, ordering: .relaxed) }
        holds.add(1, ordering: .relaxed)
        isHeld.store(false, ordering: .relaxed)
        hold.release()
      }
    }
    #expect(holds.load(ordering: .relaxed) == 1600 && overlaps.load(ordering: .relaxed) == 0)
  }
}
