import SyncModel
import Testing
import VivariumTestSupport

@Suite struct HybridClockTests {
  private let replica = ReplicaID(7)

  @Test func `a stamp follows the wall clock, and counts where that stands or goes back`() throws {
    var clock = HybridClock(replica: replica)
    #expect(try clock.next(wall: 1000) == Stamp(milliseconds: 1000, counter: 0, replica: replica))
    #expect(try clock.next(wall: 1000) == Stamp(milliseconds: 1000, counter: 1, replica: replica))
    #expect(try clock.next(wall: 400) == Stamp(milliseconds: 1000, counter: 2, replica: replica))
    #expect(try clock.next(wall: 1001) == Stamp(milliseconds: 1001, counter: 0, replica: replica))
  }

  @Test func `a reserved range is given out once, and the counter carries into the milliseconds`() throws {
    var clock = HybridClock(replica: replica)
    let first = try clock.next(65_537, wall: 5)
    #expect(first.advanced(by: 65_536) == Stamp(milliseconds: 6, counter: 0, replica: replica))
    #expect(try clock.next(wall: 5) == Stamp(milliseconds: 6, counter: 1, replica: replica))
    let none = try clock.next(-3, wall: 9)
    #expect(try clock.next(wall: 9) > none)
  }

  @Test func `what is stamped after an operation was seen is later than it`() throws {
    var clock = HybridClock(replica: replica)
    let seen = Stamp(milliseconds: 9_000, counter: 3, replica: ReplicaID(.max))
    clock.receive(seen)
    #expect(try clock.next(wall: 10) > seen)
  }

  @Test func `the server's time corrects a clock that is wrong`() throws {
    var clock = HybridClock(replica: replica, offset: -500)
    #expect(try clock.next(wall: 2_500).milliseconds == 2_000)
    clock.offset = .max
    #expect(try clock.next(wall: .max).milliseconds == 1 << 48 - 1)
    clock.offset = .min
    #expect(throws: Never.self) { try clock.check(.zero, wall: .min) }
  }

  @Test func `stamps far ahead are refused, and those of the past are not`() throws {
    let clock = HybridClock(replica: replica)
    let now: Int64 = 1_000_000_000
    let limit = UInt64(now + HybridClock.aheadMax)
    try clock.check(Stamp(milliseconds: 1, counter: 0, replica: replica), wall: now)
    try clock.check(Stamp(milliseconds: limit, counter: .max, replica: replica), wall: now)
    #expect(throws: ClockError.tooFarAhead(milliseconds: UInt64(HybridClock.aheadMax) + 1)) {
      try clock.check(Stamp(milliseconds: limit + 1, counter: 0, replica: replica), wall: now)
    }
  }

  @Test func `at the end of time a clock says so and stays as it was`() throws {
    var clock = HybridClock(replica: replica)
    clock.receive(Stamp(time: .max - 1, replica: replica))
    let before = clock
    #expect(throws: ClockError.exhausted) { try clock.next(2, wall: 0) }
    #expect(clock == before)
    #expect(try clock.next(wall: 0).time == .max)
    #expect(throws: ClockError.exhausted) { try clock.next(wall: 0) }
  }
}
