import SyncClient
import SyncModel
import SyncProtocol
import Testing

/// A connection that is slow, and one that is dead.
@Suite struct SessionPingTests {
  private func ring(_ timer: SyncSessionTimer, _ harness: inout SessionHarness, at time: Int64) -> [SyncSessionEffect] {
    harness.now = time
    return harness.handle(.timer(timer, generation: harness.session.generation))
  }

  private func again(at time: Int64, _ harness: SessionHarness) -> [SyncSessionEffect] {
    [.wake(.pong, at: time, generation: harness.session.generation)]
  }

  @Test func `an answer that waits behind something long is waited for as long as parts of that come`() {
    var harness = SessionHarness()
    harness.goLive()
    #expect(ring(.ping, &harness, at: 30_000).first == .send(.ping(number: 1, roundTrip: 0)))
    var due: Int64 = 60_000
    for _ in 0..<10 {
      harness.now = due - 10_000
      #expect(harness.handle(.moved) == [])
      #expect(ring(.pong, &harness, at: due) == again(at: due + 20_000, harness))
      due += 20_000
    }
    harness.receive(.pong(number: 1))
    #expect(harness.session.state == .live && ring(.pong, &harness, at: due + 90_000) == [])
  }

  @Test func `whole messages count as well, and whoever says nothing more is given up`() {
    var harness = SessionHarness()
    harness.goLive()
    _ = ring(.ping, &harness, at: 30_000)
    harness.now = 45_000
    harness.receive(.acknowledged(session: 1, clientSeq: 1))
    #expect(ring(.pong, &harness, at: 60_000) == again(at: 75_000, harness))
    #expect(ring(.pong, &harness, at: 75_000).first == .disconnect)
    #expect(harness.session.state == .waiting)
  }

  @Test func `what came before the ping is no answer`() {
    var harness = SessionHarness()
    harness.goLive()
    harness.now = 29_000
    harness.handle(.moved)
    _ = ring(.ping, &harness, at: 30_000)
    #expect(ring(.pong, &harness, at: 60_000).first == .disconnect)
  }

  @Test func `in the foreground a long message that is coming is not given up soon`() {
    var harness = SessionHarness()
    harness.goLive()
    harness.now = 10_000
    harness.handle(.moved)
    #expect(harness.handle(.foreground).last == again(at: 40_000, harness).last)
    // It is no longer than other answers take.
    #expect(ring(.pong, &harness, at: 40_000).first == .disconnect)
  }

  @Test func `in the foreground an idle connection has five seconds from the last that came`() {
    var harness = SessionHarness()
    harness.goLive()
    harness.now = 10_000
    #expect(harness.handle(.foreground).last == again(at: 15_000, harness).last)
    harness.now = 13_000
    harness.receive(.acknowledged(session: 1, clientSeq: 1))
    #expect(ring(.pong, &harness, at: 15_000) == again(at: 18_000, harness))
    // Something longer has begun to come.
    harness.now = 17_000
    harness.handle(.moved)
    #expect(ring(.pong, &harness, at: 18_000) == again(at: 47_000, harness))
    #expect(ring(.pong, &harness, at: 47_000).first == .disconnect)
  }
}
