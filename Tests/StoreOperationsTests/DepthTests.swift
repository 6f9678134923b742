import Foundation
import StoreOperations
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// Very many binds, on a thread with a small stack: to run them and to let go of them. A frame for each, of whatever
/// size, would need twenty times the stack. `VIVARIUM_DEPTH` makes them more.
@Suite struct DepthTests {
  private static let count = environmentNumber("VIVARIUM_DEPTH", default: 150_000)

  private func onASmallStack(_ body: @escaping @Sendable () throws -> Int) -> Int? {
    let done = Signal()
    let result = Mutex<Int?>(nil)
    let thread = Thread {
      let value = try? body()
      result.withLock { $0 = value }
      done.fire()
    }
    thread.stackSize = 256 * 1_024
    thread.start()
    guard done.wait() else { return nil }
    return result.withLock { $0 }
  }

  @Test func bindsNestedToTheLeftNeedNoStack() {
    #expect(
      onASmallStack {
        var io = StoreRO(value: 0)
        for _ in 0..<Self.count { io = io.flatMap { x in StoreRO(value: x + 1) } }
        return try makeStore().run(io: io)
      } == Self.count)
  }

  @Test func bindsNestedToTheRightNeedNoStack() {
    #expect(
      onASmallStack {
        var io: StoreRO<Int> = StoreRO(value: Self.count)
        for _ in 0..<Self.count {
          let next = io
          io = StoreRO(value: 0).flatMap { _ in next }
        }
        return try makeStore().run(io: io)
      } == Self.count)
  }

  @Test func recursionThroughBindNeedsNoStack() {
    @Sendable func countdown(_ n: Int) -> StoreRO<Int> {
      n == 0 ? StoreRO(value: 42) : StoreRO(value: n - 1).flatMap { countdown($0) }
    }
    #expect(onASmallStack { try makeStore().run(io: countdown(Self.count)) } == 42)
  }

  @Test func recoveringNeedsNoStack() {
    #expect(
      onASmallStack {
        var io = StoreRO<Int>(error: Refused(number: 0))
        for _ in 0..<100_000 { io = io.recover { _ in throw Refused(number: 1) } }
        return try makeStore().run(io: io.recover { _ in StoreRO(value: 7) })
      } == 7)
  }

  @Test func longSequencesNeedNoStack() {
    #expect(
      onASmallStack {
        let all = Store.IO.traverse(0..<100_000) { n in StoreRO(value: n) }
        return try makeStore().run(io: all).count
      } == 100_000)
  }
}
