import SyncClient
import SyncModel
import SyncProtocol
import Testing

/// What a session makes of verdicts that come late, or in parts.
@Suite struct SessionVerdictTests {
  private func entry(_ seq: UInt64, _ body: LogEntry.Body) -> ServerMessage { .changes(session: 1, [LogEntry(Seq(seq), body)]) }

  @Test func `a refusal that comes in parts is told once`() {
    var harness = SessionHarness()
    harness.goLive(SessionHarness.standing(clientSeq: 2))
    var told: [SyncSessionEffect] = []
    for seq in 6...8 as ClosedRange<UInt64> {
      harness.receive(entry(seq, .refusal(clientSeq: seq < 8 ? 1 : 2, code: .writeDenied, text: "\(seq)", states: [:])))
      harness.handle(
        .integrated(SessionHarness.standing(cursor: seq, refusalSeen: seq, clientSeq: 2), generation: harness.session.generation))
      told += harness.effects.filter { if case .tell = $0 { true } else { false } }
      #expect(harness.sent.contains { if case .acknowledge(_, let said) = $0 { said.refusalSeen == Seq(seq) } else { false } })
    }
    #expect(told == [.tell(.writeDenied, text: "6"), .tell(.writeDenied, text: "8")])
  }

  private static func verdict(_ number: UInt64, isRefusal: Bool) -> LogEntry.Body {
    isRefusal ? .refusal(clientSeq: number, code: .writeDenied, text: "", states: [:]) : .own(clientSeq: number)
  }

  @Test(arguments: [false, true]) func `an answer to what this file has never sent is a copy's`(isRefusal: Bool) {
    var harness = SessionHarness()
    harness.goLive(SessionHarness.standing(clientSeq: 5), SessionHarness.bound(judged: 4))
    harness.receive(entry(5, SessionVerdictTests.verdict(5, isRefusal: isRefusal)))
    #expect(harness.session.state == .live)
    let standing = SessionHarness.standing(cursor: 5, refusalSeen: isRefusal ? 5 : 0, clientSeq: 5)
    harness.handle(.integrated(standing, generation: harness.session.generation))
    // The file has made a sixth change, which it is about to send.
    harness.handle(.written)
    harness.receive(entry(6, SessionVerdictTests.verdict(6, isRefusal: isRefusal)))
    #expect(harness.effects.contains(.reset(.otherHistory)))
  }

  @Test func `an answer to what was made and sent on this connection is the file's`() {
    var harness = SessionHarness()
    harness.goLive()
    harness.handle(.outbox([SessionHarness.write(1)], reading: harness.reading?.number ?? 0))
    harness.receive(entry(6, .own(clientSeq: 1)))
    #expect(harness.session.state == .live && harness.effects.contains { if case .integrate = $0 { true } else { false } })
  }

  /// As the next test, but the connection is lost in between.
  @Test(arguments: [false, true]) func `what was sent before all was done again is not forgotten with a connection`(isRefusal: Bool) {
    var harness = SessionHarness()
    harness.goLive(SessionHarness.standing(clientSeq: 2), SessionHarness.bound(.snapshot, judged: 0))
    harness.receive(.state(session: 1, SessionHarness.page(isLast: true)))
    var standing = SessionHarness.standing(cursor: 5, clientSeq: 2)
    standing.recovery = RecoveryReport()
    harness.handle(.integrated(standing, generation: harness.session.generation))
    harness.handle(.outbox([SessionHarness.write(1)], reading: harness.reading?.number ?? 0))
    harness.reconnect()
    harness.receive(entry(6, SessionVerdictTests.verdict(1, isRefusal: isRefusal)))
    #expect(harness.session.state == .live)
    harness.handle(.integrated(SessionHarness.standing(cursor: 6, clientSeq: 2), generation: harness.session.generation))
    harness.receive(entry(7, SessionVerdictTests.verdict(2, isRefusal: isRefusal)))
    #expect(harness.effects.contains(.reset(.otherHistory)))
  }

  /// The changes were done again under the numbers that the server had not judged when it answered.
  @Test(arguments: [false, true]) func `what an earlier connection had sent is not taken for what was done again`(isRedone: Bool) {
    var harness = SessionHarness()
    harness.goLive(SessionHarness.standing(clientSeq: 2), SessionHarness.bound(.snapshot, judged: 1))
    harness.receive(.state(session: 1, SessionHarness.page(isLast: true)))
    harness.receive(entry(6, .own(clientSeq: 2)))
    var standing = SessionHarness.standing(cursor: 5, clientSeq: 2)
    standing.recovery = isRedone ? RecoveryReport() : nil
    harness.handle(.integrated(standing, generation: harness.session.generation))
    #expect(harness.effects.contains(.reset(.otherHistory)) == isRedone)
    #expect(harness.session.state == (isRedone ? .resetting : .live))
  }
}
