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
