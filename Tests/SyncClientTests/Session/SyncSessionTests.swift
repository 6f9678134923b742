import SyncClient
import SyncModel
import SyncProtocol
import Testing
import VivariumTestSupport

/// A session is told what happens, and says what is to be done.
@Suite struct SyncSessionTests {
  private typealias Harness = SessionHarness

  // MARK: getting there

  @Test func `a session asks for a token, connects, greets and binds in one go`() {
    var harness = Harness()
    #expect(harness.handle(.start) == [.getToken(isNew: false), .report(.gettingToken)])
    #expect(harness.handle(.token("t")) == [.readStanding, .connect, .report(.connecting)])
    #expect(harness.handle(.standing(Harness.standing(cursor: 4))) == [])
    harness.handle(.connected)
    #expect(harness.sent.count == 3 && harness.session.state == .greeting)
    guard case .hello(let hello) = harness.sent[0], case .bind(_, let bind) = harness.sent[1] else {
      Issue.record("\(harness.sent)")
      return
    }
    #expect(hello.token == "t" && bind.cursor == Seq(4) && bind.history == Harness.history)
    #expect(harness.receive(Harness.welcome).first == .setServerTime(1_000_000))
    harness.receive(.bound(session: 1, Harness.bound()))
    #expect(harness.session.state == .live && harness.reading?.after == 0)
  }

  @Test func `without network it waits for that, and without a token for somebody who logs in`() {
    var away = Harness(isNetworkThere: false)
    #expect(away.handle(.start) == [.report(.waitingForNetwork)])
    #expect(away.handle(.network(isThere: true)) == [.getToken(isNew: false), .report(.gettingToken)])
    #expect(away.handle(.token(nil)) == [.report(.suspended(.login))])
    #expect(away.handle(.token("t")).last == .report(.connecting))
  }

  @Test func `each failure doubles the time to the next try, up to five minutes`() {
    var harness = Harness()
    harness.greet()
    var delays: [Int64] = []
    for _ in 0..<11 {
      for case .wake(.retry, let time, let generation) in harness.handle(.disconnected) {
        delays.append(time - harness.now)
        harness.now = time
        harness.handle(.timer(.retry, generation: generation))
      }
      harness.handle(.standing(Harness.standing()))
      harness.handle(.connected)
    }
    #expect(delays == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map { $0 * 1000 })
    harness.random = 1
    guard case .wake(_, let time, _) = harness.handle(.disconnected)[1] else { return }
    #expect(time - harness.now == 225_000)
  }

  @Test func `a time that no server's clock can show is ignored`() {
    let times: [UInt64] = [.max, 1 << 63, (1 << 42) + 1]
    for time in times {
      var harness = Harness()
      harness.handle(.start)
      harness.handle(.token("t"))
      harness.handle(.standing(Harness.standing()))
      harness.handle(.connected)
      harness.receive(.welcome(Welcome(version: 1, features: [], serverTime: time, pingSeconds: 30, messageBytes: 1 << 20)))
      #expect(harness.session.state == .binding)
      #expect(!harness.effects.contains { if case .setServerTime = $0 { true } else { false } })
    }
  }

  @Test func `a minute of being live makes the next failure the first`() {
    var harness = Harness()
    harness.goLive()
    harness.handle(.disconnected)
    harness.now += 2_000
    harness.handle(.foreground)
    harness.handle(.standing(Harness.standing()))
    harness.handle(.connected)
    harness.receive(Harness.welcome)
    harness.receive(.bound(session: 1, Harness.bound()))
    harness.now += 60_000
    #expect(harness.handle(.disconnected).contains { $0 == .wake(.retry, at: harness.now + 1_000, generation: harness.session.generation) })
  }

  @Test func `in the foreground a connection that slept is asked at once, and given up soon`() {
    var harness = SessionHarness()
    harness.goLive()
    harness.handle(.foreground)
    #expect(harness.sent == [.ping(number: 1, roundTrip: 0)])
    harness.now += 5_000
    harness.handle(.timer(.pong, generation: harness.session.generation))
    #expect(harness.session.state == .waiting)
  }

  @Test func `pages of before and after a purge are not taken together`() {
    var harness = SessionHarness()
    harness.goLive(SessionHarness.standing(), SessionHarness.bound(.snapshot))
    harness.receive(.state(session: 1, SessionHarness.page(isLast: false)))
    var later = SessionHarness.page(isLast: true)
    (later.stable, later.floor) = (Seq(4), Stamp(time: 9, replica: ReplicaID(1)))
    harness.receive(.state(session: 1, later))
    #expect(harness.session.state == .waiting && harness.effects.contains(.disconnect))
  }

  @Test func `a connection greets once, however often the file was read for it`() {
    var harness = SessionHarness()
    harness.handle(.start)
    harness.handle(.token("t"))
    harness.handle(.standing(SessionHarness.standing()))
    harness.handle(.connected)
    #expect(harness.sent.count == 3)
    harness.handle(.standing(SessionHarness.standing()))
    #expect(harness.sent.isEmpty)
  }

  @Test func `a file that could not begin anew is tried again`() {
    var harness = SessionHarness()
    harness.goLive()
    harness.receive(.error(session: 1, code: .replicaExpired, retryAfterSeconds: 0, text: ""))
    #expect(harness.session.state == .resetting)
    harness.handle(.failedLocally)
    #expect(harness.session.state == .waiting)
  }

  @Test func `the foreground tries at once, but no earlier than the server wants`() {
    var harness = Harness()
    harness.goLive()
    harness.receive(.error(session: 0, code: .overloaded, retryAfterSeconds: 60, text: ""))
    #expect(harness.session.state == .waiting)
    harness.now += 10_000
    harness.handle(.foreground)
    #expect(harness.session.state == .waiting)
    harness.now += 50_000
    harness.handle(.foreground)
    #expect(harness.session.state == .connecting)
  }

  @Test func `a ping without an answer ends the connection`() {
    var harness = Harness()
    harness.goLive()
    let generation = harness.session.generation
    harness.handle(.timer(.ping, generation: generation))
    #expect(harness.sent == [.ping(number: 1, roundTrip: 0)])
    harness.receive(.pong(number: 1))
    harness.handle(.timer(.pong, generation: generation))
    #expect(harness.session.state == .live)
    harness.handle(.timer(.ping, generation: generation))
    harness.handle(.timer(.pong, generation: generation))
    #expect(harness.session.state == .waiting && harness.effects.first == .disconnect)
  }

  // MARK: going up

  @Test func `writes are gathered, and go as far as there is credit`() {
    var harness = Harness()
    harness.goLive(Harness.standing(clientSeq: 3), Harness.bound(credit: 150))
    harness.handle(.outbox([], reading: harness.reading?.number ?? 0))
    harness.handle(.written)
    #expect(harness.handle(.written) == [])
    harness.handle(.timer(.upload, generation: harness.session.generation))
    let reading = harness.reading
    #expect(reading?.after == 0)
    harness.handle(.outbox([Harness.write(1), Harness.write(2), Harness.write(3)], reading: reading?.number ?? 0))
    // The second is longer than what is left, and takes all.
    #expect(harness.sent == [.upload(session: 1, [Harness.changeset(1), Harness.changeset(2)])])
    #expect(harness.reading == nil)
    harness.receive(.credit(session: 1, bytes: 1000))
    #expect(harness.reading?.after == 2)
  }

  @Test func `what is written while the outbox is read is not forgotten`() {
    var harness = Harness()
    harness.goLive(Harness.standing(clientSeq: 0))
    let reading = harness.reading?.number ?? 0
    harness.handle(.written)
    #expect(harness.handle(.timer(.upload, generation: harness.session.generation)) == [])
    harness.handle(.outbox([], reading: reading))
    #expect(harness.reading?.after == 0)
  }

  @Test func `a transaction that comes in several messages is taken in as a whole`() {
    var harness = Harness()
    harness.goLive()
    func entry(_ seq: UInt64, isContinued: Bool) -> LogEntry {
      LogEntry(
        Seq(seq),
        .changeset(
          author: "bob",
          Changeset(
            clientSeq: seq, baseSeq: .zero, isContinued: isContinued, first: Stamp(time: seq << 16, replica: ReplicaID(8)),
            operations: [])))
    }
    #expect(harness.receive(.changes(session: 1, [entry(10, isContinued: true)])) == [])
    let effects = harness.receive(.changes(session: 1, [entry(11, isContinued: false)]))
    #expect(
      effects == [.integrate([entry(10, isContinued: true), entry(11, isContinued: false)], generation: harness.session.generation)])
  }

  @Test func `after a refusal all that was sent behind it goes again, what is void as void`() {
    var harness = Harness()
    harness.goLive(Harness.standing(clientSeq: 4))
    let all = (1...4).map { Harness.write(UInt64($0)) }
    harness.handle(.outbox(all, reading: harness.reading?.number ?? 0))
    let stale = harness.reading?.number ?? 0
    let refusal = LogEntry(Seq(6), .refusal(clientSeq: 2, code: .writeDenied, text: "no", states: [:]))
    harness.receive(.changes(session: 1, [refusal]))
    harness.handle(.integrated(Harness.standing(cursor: 6, refusalSeen: 6, clientSeq: 4), generation: harness.session.generation))
    #expect(harness.effects.contains(.tell(.writeDenied, text: "no")) && harness.reading?.after == 2)
    #expect(harness.sent.contains { if case .acknowledge(_, let said) = $0 { said.refusalSeen == Seq(6) } else { false } })
    let reading = harness.reading?.number ?? 0
    #expect(harness.handle(.outbox([Harness.write(5)], reading: stale)) == [])
    harness.handle(.outbox([.void(clientSeq: 3, objects: []), Harness.write(4)], reading: reading))
    #expect(harness.sent == [.void(session: 1, clientSeq: 3, objects: []), .upload(session: 1, [Harness.changeset(4)])])
  }

  @Test func `what is dated too late is done again on top of what the server has`() {
    var harness = Harness()
    harness.goLive(Harness.standing(clientSeq: 2))
    harness.handle(.outbox([Harness.write(1), Harness.write(2)], reading: harness.reading?.number ?? 0))
    harness.receive(.acknowledged(session: 1, clientSeq: 1))
    harness.receive(.error(session: 1, code: .clockSkew, retryAfterSeconds: 0, text: ""))
    #expect(harness.effects.contains(.reset(.clock)) && harness.session.state == .resetting)
    #expect(harness.handle(.written) == [])
    harness.handle(.begunAnew(Harness.standing(clientSeq: 2)))
    #expect(harness.session.state == .connecting)
  }

  @Test func `objects that differ are the server's from then on, and the replica stays the same`() {
    var harness = Harness()
    harness.goLive()
    harness.receive(.error(session: 1, code: .stateDiffers, retryAfterSeconds: 0, text: ""))
    #expect(harness.effects.contains(.reset(.objectsDiffer)) && harness.session.state == .resetting)
    harness.handle(.begunAnew(Harness.standing()))
    #expect(harness.session.state == .connecting)
  }

  @Test func `what is dated too late again and again is told, and done again ever later`() {
    var harness = Harness()
    let standing = Harness.standing(clientSeq: 1)
    harness.goLive(standing)
    for round in 1...3 {
      harness.handle(.outbox([Harness.write(1)], reading: harness.reading?.number ?? 0))
      harness.receive(.error(session: 1, code: .clockSkew, retryAfterSeconds: 0, text: "ahead"))
      #expect(harness.effects.contains(.tell(.clockSkew, text: "ahead")) == (round > 1))
      #expect(harness.session.state == .resetting)
      harness.handle(.begunAnew(standing))
      #expect(harness.session.state == (round > 1 ? .waiting : .connecting))
      if round > 1 {
        harness.now += 60_000
        harness.handle(.timer(.retry, generation: harness.session.generation))
      }
      harness.handle(.standing(standing))
      harness.handle(.connected)
      harness.receive(Harness.welcome)
      harness.receive(.bound(session: 1, Harness.bound()))
    }
    harness.handle(.outbox([Harness.write(1)], reading: harness.reading?.number ?? 0))
    harness.receive(.acknowledged(session: 1, clientSeq: 1))
    harness.receive(.error(session: 1, code: .clockSkew, retryAfterSeconds: 0, text: "ahead"))
    harness.handle(.begunAnew(standing))
    #expect(harness.session.state == .connecting)
  }

  // MARK: coming down

  @Test func `entries are integrated one message after the other, and acknowledged once they are durable`() {
    var harness = Harness()
    harness.goLive(Harness.standing(clientSeq: 2))
    let entries = (1...2).map { [LogEntry(Seq(UInt64($0)), .own(clientSeq: UInt64($0)))] }
    let generation = harness.session.generation
    #expect(harness.receive(.changes(session: 1, entries[0])) == [.integrate(entries[0], generation: generation)])
    #expect(harness.receive(.changes(session: 1, entries[1]), bytes: 3 << 20) == [])
    harness.handle(.integrated(Harness.standing(cursor: 1), generation: generation))
    #expect(harness.effects.contains(.integrate(entries[1], generation: generation)))
    #expect(harness.sent.contains { if case .acknowledge(_, let said) = $0 { said.cursor == Seq(1) } else { false } })
    harness.handle(.integrated(Harness.standing(cursor: 2), generation: generation))
    #expect(harness.sent.contains { if case .credit(_, let bytes) = $0 { bytes >= 3 << 20 } else { false } })
  }

  @Test func `a stream of entries is acknowledged once a second, with what has come by then`() {
    var harness = Harness()
    harness.goLive(Harness.standing(clientSeq: 51))
    let generation = harness.session.generation
    var (said, wakes): ([UInt64], [Int64]) = ([], [])
    func note() {
      for case .acknowledge(_, let state) in harness.sent { said.append(state.cursor.rawValue) }
      for case .wake(.acknowledge, let time, _) in harness.effects { wakes.append(time) }
    }
    let start = harness.now
    for number: UInt64 in 1...50 {
      harness.now = start + Int64(number) * 10
      harness.receive(.changes(session: 1, [LogEntry(Seq(number), .own(clientSeq: number))]))
      harness.handle(.integrated(Harness.standing(cursor: number), generation: generation))
      note()
    }
    #expect(said == [1] && wakes == [start + 1_010])
    harness.now = start + 1_010
    harness.handle(.timer(.acknowledge, generation: generation))
    note()
    #expect(said == [1, 50] && wakes.count == 1)
    // Others wait a little longer.
    harness.random = 0.5
    harness.receive(.changes(session: 1, [LogEntry(Seq(51), .own(clientSeq: 51))]))
    harness.handle(.integrated(Harness.standing(cursor: 51), generation: generation))
    note()
    #expect(wakes.last == start + 2_510)
    harness.handle(.stop)
    note()
    #expect(said == [1, 50, 51])
  }

  @Test func `pages are taken together, entries after them`() {
    var harness = Harness()
    harness.goLive(Harness.standing(clientSeq: 1), Harness.bound(.snapshot))
    #expect(harness.session.state == .fetching(.snapshot))
    let generation = harness.session.generation
    let pages = [Harness.page(isLast: false), Harness.page(isLast: true)]
    harness.receive(.state(session: 1, pages[0]))
    let entries = [LogEntry(Seq(6), .own(clientSeq: 1))]
    #expect(harness.receive(.changes(session: 1, entries)) == [])
    #expect(harness.receive(.state(session: 1, pages[1])) == [.take(pages, Harness.bound(.snapshot), generation: generation)])
    harness.handle(.integrated(Harness.standing(cursor: 5), generation: generation))
    #expect(harness.session.state == .live && harness.effects.contains(.integrate(entries, generation: generation)))
  }

  // MARK: what is wrong

  @Test(arguments: SyncErrorCode.allCases) func `each error has its way`(code: SyncErrorCode) {
    var harness = Harness()
    harness.goLive()
    harness.receive(.error(session: 1, code: code, retryAfterSeconds: 0, text: ""))
    let expected: SyncSession.State =
      switch code.reaction {
      case .reconnect, .wait: .waiting
      case .renewToken: .gettingToken
      case .stop: .suspended(.denied(code))
      case .compensate: .live
      case .stopForSchema: .suspended(.schema(code))
      case .reset, .restamp: .resetting
      }
    #expect(harness.session.state == expected)
  }

  @Test func `a new token that is refused too needs a login`() {
    var harness = Harness()
    harness.goLive()
    harness.connect(withNew: "new")
    harness.receive(.error(session: 0, code: .tokenInvalid, retryAfterSeconds: 0, text: ""))
    #expect(harness.session.state == .suspended(.login))
  }

  @Test func `the refused token again means that there is no new one yet, which is asked for later`() {
    var harness = Harness()
    harness.goLive()
    harness.receive(.error(session: 0, code: .tokenExpired, retryAfterSeconds: 0, text: ""))
    #expect(harness.effects.contains(.getToken(isNew: true)))
    for delay in [1_000, 2_000, 4_000] as [Int64] {
      let effects = harness.handle(.token("t"))
      let generation = harness.session.generation
      #expect(effects == [.wake(.retry, at: harness.now + delay, generation: generation), .report(.waiting)])
      // Another request, from before, may be answered late.
      #expect(harness.handle(.token("t")) == [])
      harness.now += delay
      #expect(harness.handle(.timer(.retry, generation: generation)) == [.getToken(isNew: true), .report(.gettingToken)])
    }
    #expect(harness.handle(.token("new")).last == .report(.connecting))
  }

  @Test func `who starts again begins with the token that there is, and has a refused one renewed again`() {
    var harness = Harness()
    harness.goLive()
    harness.receive(.error(session: 0, code: .tokenExpired, retryAfterSeconds: 0, text: ""))
    harness.handle(.token("t"))
    harness.handle(.stop)
    #expect(harness.handle(.start) == [.getToken(isNew: false), .report(.gettingToken)])
    harness.handle(.token("t"))
    harness.handle(.standing(Harness.standing()))
    harness.handle(.connected)
    harness.receive(.error(session: 0, code: .tokenExpired, retryAfterSeconds: 0, text: ""))
    #expect(harness.session.state == .gettingToken && harness.effects.contains(.getToken(isNew: true)))
  }

  @Test func `a file that the server knows more of than it does itself was restored, and begins anew`() {
    var harness = Harness()
    harness.goLive(Harness.standing(clientSeq: 3), Harness.bound(judged: 5))
    #expect(harness.effects.contains(.reset(.otherHistory)) && harness.session.state == .resetting)
    #expect(harness.handle(.begunAnew(Harness.standing())).last == .report(.connecting))
  }

  @Test func `while it begins anew, what an ended connection had asked for changes nothing`() {
    var harness = Harness()
    harness.goLive(Harness.standing(clientSeq: 3), Harness.bound(judged: 5))
    #expect(harness.session.state == .resetting)
    #expect(harness.handle(.standing(Harness.standing(clientSeq: 3))) == [] && harness.session.state == .resetting)
    harness.handle(.begunAnew(Harness.standing()))
    #expect(harness.session.state == .connecting)
  }

  @Test(arguments: [(7, false), (8, true)])
  func `one that made as many since it was restored is told by what it made last`(stamp: UInt64, isForked: Bool) {
    var harness = Harness()
    var (standing, bound) = (Harness.standing(clientSeq: 5), Harness.bound(judged: 5))
    standing.stamps = [5: Stamp(time: 7, replica: standing.replica)]
    bound.judgedStamp = Stamp(time: stamp, replica: standing.replica)
    harness.goLive(standing, bound)
    #expect(harness.effects.contains(.reset(.otherHistory)) == isForked)
  }

  @Test func `a message that does not belong ends the connection`() {
    var harness = Harness()
    harness.goLive()
    harness.receive(Harness.welcome)
    #expect(harness.effects.contains { if case .tell(.outOfOrder, _) = $0 { true } else { false } })
    #expect(harness.session.state == .waiting)
  }

  // MARK: anything

  @Test func `whatever comes in whatever order, it sends nothing without a connection, and never more than it may`() {
    var random = SeededGenerator.forTest()
    for _ in 0..<environmentNumber("VIVARIUM_SESSIONS", default: 300) {
      var harness = Harness()
      var (granted, uploaded, cursor) = (0, 0, Seq.zero)
      var isThere = false
      for _ in 0..<120 {
        harness.now += Int64(random.below(5_000))
        harness.random = Double(random.below(100)) / 100
        let event = self.event(harness, &random)
        if case .received(.bound(_, let bound), _) = event, harness.session.state == .binding {
          (granted, uploaded) = (Int(bound.credit), 0)
        }
        if case .received(.credit(_, let bytes), _) = event, harness.session.isConnected { granted += Int(bytes) }
        for effect in harness.handle(event) {
          switch effect {
          case .connect:
            isThere = true
            cursor = .zero
          case .disconnect: isThere = false
          case .send(let message):
            #expect(isThere)
            if case .upload(_, let changesets) = message {
              // The last may be longer than what was left.
              #expect(uploaded < granted)
              uploaded += changesets.count * 100
            }
            if case .acknowledge(_, let said) = message {
              #expect(said.cursor >= cursor)
              cursor = said.cursor
            }
          default: break
          }
        }
      }
    }
  }

  private func event(_ harness: Harness, _ random: inout SeededGenerator) -> SyncSessionEvent {
    var standing = Harness.standing(cursor: UInt64(random.below(9)), clientSeq: UInt64(random.below(9)))
    var page = Harness.page(isLast: random.oneIn(2))
    if !page.isLast { page.next = [1] }
    if random.oneIn(3) { standing.staged = StagedPages(of: Harness.bound(.snapshot), page).followed(by: [page]) }
    let generation = harness.session.generation &- UInt64(random.below(2))
    switch random.below(27) {
    case 0: return random.oneIn(5) ? .stop : .start
    case 1: return .start
    case 2: return .network(isThere: !random.oneIn(4))
    case 3: return .foreground
    case 4: return .token(random.oneIn(4) ? nil : "t")
    case 5, 6: return .connected
    case 7: return random.oneIn(3) ? .disconnected : .written
    case 8, 9: return random.oneIn(2) ? .standing(standing) : .begunAnew(standing)
    case 10: return .timer([.retry, .upload, .acknowledge, .ping, .pong, .renewal][random.below(6)], generation: generation)
    case 11, 12: return .outbox((1...3).map { Harness.write(UInt64($0 + random.below(4))) }, reading: harness.session.reading)
    case 13, 14: return .integrated(standing, generation: generation)
    case 15, 16: return random.oneIn(4) ? .failedLocally : .written
    case 17, 18: return .received(random.oneIn(2) ? Harness.welcome : Harness.goingOn, bytes: 10)
    case 19, 20:
      let mode = Bound.Mode.allCases[random.below(5)]
      let bound = Harness.bound(mode, judged: UInt64(random.below(3)), credit: UInt64(random.below(400)))
      return .received(.bound(session: 1, bound), bytes: 10)
    case 21: return .received(.state(session: 1, page), bytes: random.below(1 << 22))
    case 22: return .received(.changes(session: 1, [LogEntry(Seq(3), .own(clientSeq: 1))]), bytes: random.below(1 << 22))
    case 23: return .received(.credit(session: UInt32(1), bytes: UInt64(random.below(300))), bytes: 10)
    case 24:
      let code = SyncErrorCode.allCases[random.below(SyncErrorCode.allCases.count)]
      return .received(.error(session: 1, code: code, retryAfterSeconds: UInt64(random.below(9)), text: ""), bytes: 10)
    case 25: return random.oneIn(2) ? .moved : .staged(generation: generation)
    default:
      let messages: [ServerMessage] = [.pong(number: 1), .goAway(seconds: 1), .unbound(session: 1), .authenticated, .expiring(seconds: 9)]
      return .received(messages[random.below(messages.count)], bytes: 10)
    }
  }
}
