import SyncClient
import SyncModel
import SyncProtocol
import Testing

/// A device whose user may not do what it does, and may again later.
@Suite struct SessionDenialTests {
  /// When the session tries again.
  private func due(_ harness: SessionHarness) -> Int64? {
    for case .wake(.retry, let time, harness.session.generation) in harness.effects { return time }
    return nil
  }

  /// Waits until the session tries again, and lets it ask for its store.
  private func tryAgain(_ harness: inout SessionHarness) {
    knock(&harness)
    harness.receive(SessionHarness.welcome)
  }

  /// The same up to where it has shown its token.
  private func knock(_ harness: inout SessionHarness) {
    guard let time = due(harness) else { return }
    harness.now = time
    harness.handle(.timer(.retry, generation: harness.session.generation))
    connect(&harness)
  }

  private func connect(_ harness: inout SessionHarness) {
    harness.handle(.standing(SessionHarness.standing()))
    harness.handle(.connected)
  }

  private func deny(_ code: SyncErrorCode, _ harness: inout SessionHarness) {
    harness.receive(.error(session: 1, code: code, retryAfterSeconds: 0, text: ""))
  }

  @Test(arguments: [SyncErrorCode.unknownStore, .readDenied, .quotaExceeded, .userSuspended])
  func `who was denied tries again by itself, ever later, and goes on once it may`(code: SyncErrorCode) {
    var harness = SessionHarness()
    harness.goLive()
    for minutes in [5, 10, 20, 40, 60, 60] as [Int64] {
      deny(code, &harness)
      #expect(harness.session.state == .suspended(.denied(code)) && due(harness) == harness.now + minutes * 60_000)
      tryAgain(&harness)
      #expect(harness.session.state == .binding)
    }
    harness.receive(.bound(session: 1, SessionHarness.bound()))
    #expect(harness.session.state == .live)
    // It was right for a while: the next time counts as the first.
    harness.now += 60_000
    harness.random = 1
    deny(code, &harness)
    #expect(due(harness) == harness.now + 225_000)
  }

  @Test func `what was planned ends with the app's own try, which begins to count anew`() {
    var harness = SessionHarness()
    harness.goLive()
    for _ in 0..<3 {
      deny(.readDenied, &harness)
      tryAgain(&harness)
    }
    deny(.readDenied, &harness)
    let generation = harness.session.generation
    harness.handle(.stop)
    #expect(harness.handle(.timer(.retry, generation: generation)) == [])
    harness.handle(.start)
    harness.handle(.standing(SessionHarness.standing()))
    harness.handle(.connected)
    harness.receive(SessionHarness.welcome)
    deny(.readDenied, &harness)
    #expect(due(harness) == harness.now + 300_000)
  }

  @Test func `without a network it waits for that`() {
    var harness = SessionHarness()
    harness.goLive()
    deny(.unknownStore, &harness)
    let time = due(harness) ?? 0
    harness.handle(.network(isThere: false))
    #expect(harness.session.state == .suspended(.denied(.unknownStore)))
    harness.now = time
    harness.handle(.timer(.retry, generation: harness.session.generation))
    #expect(harness.session.state == .waitingForNetwork)
    harness.handle(.network(isThere: true))
    #expect(harness.session.state == .connecting)
  }

  @Test func `a suspended user whose token has ended meanwhile is asked for again, and is no one who has to log in`() {
    var harness = SessionHarness()
    harness.goLive()
    deny(.userSuspended, &harness)
    tryAgain(&harness)
    harness.receive(.error(session: 0, code: .tokenExpired, retryAfterSeconds: 0, text: ""))
    #expect(harness.session.state == .gettingToken)
    harness.handle(.token(nil))
    #expect(harness.session.state == .suspended(.denied(.userSuspended)) && due(harness) == harness.now + 600_000)
    harness.now += 600_000
    let asked = harness.handle(.timer(.retry, generation: harness.session.generation))
    #expect(asked == [.getToken(isNew: true), .report(.gettingToken)])
    #expect(harness.handle(.token("new")).last == .report(.connecting))
  }

  @Test(arguments: [SyncErrorCode.unknownStore, .readDenied, .quotaExceeded, .userSuspended])
  func `each token that ends while its user is denied is replaced, not only the first`(code: SyncErrorCode) {
    var harness = SessionHarness()
    harness.goLive()
    for number in 1...3 {
      deny(code, &harness)
      knock(&harness)
      harness.receive(.error(session: 0, code: .tokenExpired, retryAfterSeconds: 0, text: ""))
      #expect(harness.session.state == .gettingToken && harness.effects.contains(.getToken(isNew: true)))
      harness.handle(.token("new \(number)"))
      connect(&harness)
      // Who is suspended is turned away before he is welcomed.
      if code != .userSuspended { harness.receive(SessionHarness.welcome) }
    }
    deny(code, &harness)
    #expect(harness.session.state == .suspended(.denied(code)))
  }
}
