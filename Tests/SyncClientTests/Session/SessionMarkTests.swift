import SyncClient
import SyncModel
import SyncProtocol
import Testing

/// What an app waits for: that everything which a server had at a moment is in the file.
@Suite struct SessionMarkTests {
  private typealias Harness = SessionHarness

  @Test func `a mark is reached once what came before it is in the file, and is asked again after a lost connection`() {
    var harness = Harness()
    harness.goLive()
    #expect(harness.handle(.mark(4)) == [.send(.mark(session: 1, number: 4))])
    harness.reconnect()
    #expect(harness.sent.contains(.mark(session: 1, number: 4)))
    harness.receive(.changes(session: 1, [LogEntry(Seq(1), .purge(Purge(stable: .zero, floor: .zero)))]))
    #expect(harness.receive(.marked(session: 1, number: 4)) == [])
    let effects = harness.handle(.integrated(Harness.standing(cursor: 1), generation: harness.session.generation))
    #expect(effects.contains(.reached(mark: 4)))
  }

  @Test func `one mark at a time is under way, and answers all that waited when it was sent`() {
    var harness = Harness()
    harness.goLive()
    #expect(harness.handle(.mark(1)) == [.send(.mark(session: 1, number: 1))])
    for number in UInt64(2)...100 { #expect(harness.handle(.mark(number)) == []) }
    #expect(harness.receive(.marked(session: 1, number: 1)) == [.reached(mark: 1), .send(.mark(session: 1, number: 100))])
    let rest = (UInt64(2)...100).map { SyncSessionEffect.reached(mark: $0) }
    #expect(harness.receive(.marked(session: 1, number: 100)) == rest)
    // The same after a lost connection.
    harness.handle(.mark(101))
    harness.handle(.mark(102))
    harness.reconnect()
    #expect(harness.sent.contains(.mark(session: 1, number: 102)) && !harness.sent.contains(.mark(session: 1, number: 101)))
    #expect(harness.receive(.marked(session: 1, number: 102)) == [.reached(mark: 101), .reached(mark: 102)])
  }

  @Test func `a mark that nobody waits for any more is not asked for`() {
    var harness = Harness()
    harness.goLive()
    harness.handle(.mark(1))
    harness.handle(.mark(2))
    #expect(harness.handle(.unmark(2)) == [])
    harness.handle(.unmark(1))
    #expect(harness.receive(.marked(session: 1, number: 1)) == [])
    harness.handle(.mark(3))
    harness.handle(.unmark(3))
    harness.reconnect()
    #expect(harness.session.state == .live)
    #expect(!harness.sent.contains { if case .mark = $0 { true } else { false } })
  }
}
