import SyncClient
import SyncModel
import SyncProtocol
import Testing

/// A token that ends while a connection lasts.
@Suite struct SessionTokenTests {
  /// When a session asks for a token again: what the timer says that it sets.
  private func due(_ harness: SessionHarness) -> Int64? {
    for case .wake(.renewal, let time, _) in harness.effects { return time }
    return nil
  }

  private func ring(_ harness: inout SessionHarness, at time: Int64) {
    harness.now = time
    harness.handle(.timer(.renewal, generation: harness.session.generation))
  }

  @Test func `a token that the server has already is not sent to it again, and another one is asked for ever later`() {
    var harness = SessionHarness()
    harness.goLive()
    harness.now = 5_000
    #expect(harness.receive(.expiring(seconds: 60)) == [.getToken(isNew: true)])
    for delay in [1_000, 2_000, 4_000, 8_000, 15_000, 15_000] as [Int64] {
      harness.handle(.token("t"))
      #expect(harness.sent.isEmpty && due(harness) == harness.now + delay)
      // Whatever the server says meanwhile changes nothing.
      #expect(harness.receive(.expiring(seconds: 50)) == [])
      ring(&harness, at: harness.now + delay)
      #expect(harness.effects == [.getToken(isNew: true)])
    }
    #expect(harness.handle(.token("new")) == [.send(.authenticate(token: "new"))])
    #expect(harness.session.state == .live)
  }

  @Test func `devices that got no new token do not all ask again at once`() {
    var harness = SessionHarness()
    harness.random = 1
    harness.goLive()
    harness.receive(.expiring(seconds: 60))
    harness.handle(.token("t"))
    #expect(due(harness) == 750)
  }

  @Test func `new tokens that end as soon are not fetched as fast as they come`() {
    var harness = SessionHarness()
    harness.goLive()
    #expect(harness.receive(.expiring(seconds: 30)) == [.getToken(isNew: true)])
    for (number, delay) in ([1_000, 2_000, 4_000] as [Int64]).enumerated() {
      #expect(harness.handle(.token("t\(number)")) == [.send(.authenticate(token: "t\(number)"))])
      harness.receive(.authenticated)
      harness.receive(.expiring(seconds: 30))
      #expect(due(harness) == harness.now + delay)
      ring(&harness, at: harness.now + delay)
      #expect(harness.effects == [.getToken(isNew: true)])
    }
    // Much later it is no row any more.
    harness.handle(.token("long"))
    harness.receive(.authenticated)
    harness.now += 60_000
    #expect(harness.receive(.expiring(seconds: 60)) == [.getToken(isNew: true)])
  }

  @Test func `a token that comes late is that of the greeting, and not sent ahead of it`() {
    var harness = SessionHarness()
    harness.handle(.start)
    harness.handle(.token("t"))
    harness.handle(.connected)
    #expect(harness.handle(.token("new")) == [])
    harness.handle(.standing(SessionHarness.standing()))
    guard case .hello(let hello)? = harness.sent.first else {
      Issue.record("\(harness.sent)")
      return
    }
    #expect(hello.token == "new" && harness.sent.count == 3)
    #expect(harness.handle(.token("new")) == [])
  }

  @Test func `what was planned for a connection ends with it`() {
    var harness = SessionHarness()
    harness.goLive()
    harness.receive(.expiring(seconds: 60))
    harness.handle(.token("t"))
    let generation = harness.session.generation
    harness.reconnect()
    #expect(harness.handle(.timer(.renewal, generation: generation)) == [])
    #expect(harness.handle(.timer(.renewal, generation: harness.session.generation)) == [])
    #expect(harness.receive(.expiring(seconds: 40)) == [.getToken(isNew: true)])
  }

  @Test func `a new token that was welcomed is replaced when it ends, though no store was bound with it`() {
    var harness = SessionHarness()
    harness.goLive()
    harness.connect(withNew: "new")
    harness.receive(SessionHarness.welcome)
    harness.handle(.disconnected)
    harness.now += 10_000
    harness.handle(.timer(.retry, generation: harness.session.generation))
    harness.handle(.standing(SessionHarness.standing()))
    harness.handle(.connected)
    harness.receive(.error(session: 0, code: .tokenExpired, retryAfterSeconds: 0, text: ""))
    #expect(harness.session.state == .gettingToken && harness.effects.contains(.getToken(isNew: true)))
  }
}
