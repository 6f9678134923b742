import Foundation
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// A thread with a run loop, and writes that nobody wants any more.
@Suite struct ContextTests {
  @Test(arguments: Engine.allCases) func aRunLoopsStoreRefusesOtherThreads(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let loop = Mutex<SendableLoop?>(nil)
    let (ready, done) = (Signal(), Signal())
    Thread {
      loop.withLock { $0 = SendableLoop(loop: .current) }
      ready.fire()
      _ = done.wait()
    }.start()
    defer { done.fire() }
    #expect(ready.wait())
    let theirs = try #require(loop.withLock { $0 })
    let store = try Store(configuration, runLoop: theirs.loop)
    #expect { try store.write {} } throws: { StoreError.Code.wrongContext ~= $0 }
    #expect { try store.add(Book()) } throws: { StoreError.Code.wrongContext ~= $0 }
  }

  @Test(arguments: Engine.allCases) func aLoopThatSleepsOnATimerHearsACommit(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let (ready, heard, done) = (Signal(), Signal(), Signal())
    let thread = Thread {
      // Far longer than the test waits: nothing but the commit wakes the loop.
      let timer = Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }
      RunLoop.current.add(timer, forMode: .default)
      let store = try? Store(configuration, runLoop: .current)
      let token = store?.observe { _, _ in
        heard.fire()
        // Without it the loop has nothing to run for.
        timer.invalidate()
      }
      RunLoop.current.perform { ready.fire() }
      _ = RunLoop.current.run(mode: .default, before: .distantFuture)
      token?.stop()
      done.fire()
    }
    thread.start()
    #expect(ready.wait())
    let writer = try Store(configuration)
    try writer.write { try writer.add(Book()) }
    #expect(done.wait() && heard.count == 1)
  }

  // MARK: A thread that ends

  /// What a thread left behind.
  private final class Left: @unchecked Sendable {
    // Sound because the thread has ended when the test looks.
    weak var store: Store?
    var token: NotificationToken?
  }

  /// Is there as long as the block that captures it.
  private final class Witness {
    private let gone: Signal
    init(_ gone: Signal) { self.gone = gone }
    deinit { gone.fire() }
  }

  /// A store of a thread that has ended, with an observer that was stopped there, or was not.
  private static func leave(_ configuration: Store.Configuration, isStopped: Bool = false) -> Left {
    let left = Left()
    onEndedThread {
      guard let store = try? Store(configuration, runLoop: .current) else { return }
      let books = store.objects(Book.self)
      left.store = store
      left.token = books.observe { _ in _ = books.count }
      if isStopped { left.token?.stop() }
    }
    return left
  }

  /// Its run loop takes turns that never come: what waits for one, a stopped observer, is let go without.
  @Test(arguments: Engine.allCases) func theStoreOfAThreadThatEndedGoesWithItsLastToken(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let writer = try Store(configuration)
    try writer.write { try writer.add(Book()) }
    let version = writer.version
    let left = ContextTests.leave(configuration)
    try writer.write { try writer.add(Book()) }
    #expect(try left.store != nil && writer.heldVersions().contains { $0.version == version })
    left.token?.stop()
    #expect(left.store == nil)
    // The notifier gives its version back there.
    writer.notifierQueue.sync {}
    #expect(try !writer.heldVersions().contains { $0.version == version })
  }

  /// The turn in which the store would let go what the token kept was asked for, and never comes.
  @Test(arguments: Engine.allCases) func theStoreOfAThreadThatEndsAfterItsLastTokenGoesWithIt(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let writer = try Store(configuration)
    try writer.write { try writer.add(Book()) }
    let version = writer.version
    let left = ContextTests.leave(configuration, isStopped: true)
    #expect(left.token?.isActive == false && left.store == nil)
    try writer.write { try writer.add(Book()) }
    // The notifier gives its version back there.
    writer.notifierQueue.sync {}
    #expect(try !writer.heldVersions().contains { $0.version == version })
  }

  /// A thread that ends before its run loop took the turn gives the right to write back.
  @Test(arguments: Engine.allCases) func aRightThatCameToAThreadThatEndedHoldsUpNobody(engine: Engine) throws {
    var (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    // Met only by a failure.
    configuration.writeTimeout = .seconds(60)
    let writer = try Store(configuration)
    let gone = Signal()
    let refusal = Mutex<StoreError.Code?>(nil)
    onEndedThread { [configuration] in
      let witness = Witness(gone)
      guard let store = try? Store(configuration, runLoop: .current) else { return }
      _ = try? store.beginAsyncWrite { _ = (try store.add(Book()), witness) }
      // Until the right has come.
      let isRefused = onThread {
        let code = ContextTests.refusal(configuration)
        refusal.withLock { $0 = code }
      }
      _ = isRefused.wait()
    }
    #expect(refusal.withLock { $0 } == .writeTimeout)
    try writer.write { try writer.add(Book()) }
    #expect(writer.objects(Book.self).count == 1)
    // What it was to write is let go with the right.
    #expect(gone.wait())
  }

  /// Writes until somebody else has the right to, and returns why it was refused.
  private static func refusal(_ configuration: Store.Configuration) -> StoreError.Code? {
    guard let store = try? Store(configuration) else { return nil }
    while true {
      do throws(StoreError) {
        try store.beginWrite(timeout: .zero)
        store.cancelWrite()
      } catch {
        return error.code
      }
    }
  }

  /// The right to write does not wait for a thread that has ended.
  @Test(arguments: Engine.allCases) func anAsynchronousWriteOfAThreadThatEndedHoldsUpNobody(engine: Engine) throws {
    var (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    // Met only by a failure.
    configuration.writeTimeout = .seconds(60)
    let writer = try Store(configuration)
    try writer.beginWrite()
    let gone = Signal()
    onEndedThread { [configuration] in
      let witness = Witness(gone)
      guard let store = try? Store(configuration, runLoop: .current) else { return }
      _ = try? store.beginAsyncWrite { _ = (try store.add(Book()), witness) }
    }
    #expect(gone.count == 0)
    try writer.commitWrite()
    try writer.write { try writer.add(Book()) }
    #expect(writer.objects(Book.self).count == 1)
    // What it was to write is let go with the right, on whatever thread gave it.
    #expect(gone.wait())
  }

  @Test(arguments: Engine.allCases) func aWriteThatIsCancelledInTheQueueNeverBegins(engine: Engine) async throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let desk = Desk()
    let (code, titles) = try await desk.cancelBehindAnother(configuration)
    #expect(code == .cancelled && titles == ["first", "third"])
  }

  @Test func aCancelledTaskBeginsNoWrite() async throws {
    let (configuration, directory) = Engine.memory.place()
    defer { withExtendedLifetime(directory) {} }
    let task = Task { () -> StoreError.Code? in
      withUnsafeCurrentTask { $0?.cancel() }
      let store = try Store(configuration)
      do {
        try await store.write { store in try store.add(Book()) }
        return nil
      } catch {
        return (error as? StoreError)?.code
      }
    }
    #expect(try await task.value == .cancelled)
  }
}

/// Carries a run loop to be compared, never run.
private struct SendableLoop: @unchecked Sendable {
  // Sound because the loop is given to a store that asks nothing but whether it is the current one.
  let loop: RunLoop
}

private actor Desk {
  private var started = 0

  /// Three writes; the second is cancelled while the first runs.
  func cancelBehindAnother(_ configuration: Store.Configuration) async throws -> (StoreError.Code?, [String]) {
    let store = try await Store.open(configuration)
    let gate = Signal()
    // Each task runs to its suspension inside `write` before this function sees that it began.
    let first = Task {
      started += 1
      try await store.write { store in
        _ = gate.wait()
        try store.add(Book(title: "first"))
      }
    }
    while started < 1 { await Task.yield() }
    let second = Task {
      started += 1
      try await store.write { store in try store.add(Book(title: "second")) }
    }
    while started < 2 { await Task.yield() }
    second.cancel()
    gate.fire()
    try await first.value
    var code: StoreError.Code?
    do { try await second.value } catch { code = (error as? StoreError)?.code }
    try await store.write { store in try store.add(Book(title: "third")) }
    return (code, store.objects(Book.self).map(\.title))
  }
}
