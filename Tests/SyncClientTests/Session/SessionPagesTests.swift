import SyncClient
import SyncModel
import SyncProtocol
import Testing

/// A session has the file put pages of objects aside, and after a cut asks for those behind them.
@Suite struct SessionPagesTests {
  private typealias Harness = SessionHarness

  private let bound = Harness.bound(.snapshot)

  /// A page behind which a server goes on.
  private func page(_ number: UInt8, isLast: Bool = false) -> StatePage {
    var page = Harness.page(isLast: isLast)
    if !isLast { page.next = [number] }
    return page
  }

  private var none: StagedPages { StagedPages(of: bound, page(1)) }

  /// Loses the connection, and goes on to where the next one waits for `bound`.
  private func reconnect(_ harness: inout Harness, _ staged: StagedPages?, to welcome: ServerMessage = Harness.goingOn) {
    harness.handle(.disconnected)
    harness.now += 10_000
    harness.handle(.timer(.retry, generation: harness.session.generation))
    var standing = Harness.standing()
    standing.staged = staged
    harness.handle(.standing(standing))
    harness.handle(.connected)
    #expect(harness.sent.count == (staged == nil ? 3 : 1))
    harness.receive(welcome)
  }

  @Test func `pages go to the disk as they come, and the server may send as much again once they are there`() {
    var harness = Harness()
    harness.goLive(Harness.standing(), bound)
    let generation = harness.session.generation
    let size = 1 << 20
    #expect(harness.receive(.state(session: 1, page(1)), bytes: size) == [.stage([page(1)], behind: none, generation: generation)])
    // One commit after the other, with what came meanwhile.
    #expect(harness.receive(.state(session: 1, page(2)), bytes: size) == [])
    #expect(harness.receive(.state(session: 1, page(3)), bytes: size) == [])
    let one = none.followed(by: [page(1)])
    #expect(harness.handle(.staged(generation: generation)) == [.stage([page(2), page(3)], behind: one, generation: generation)])
    #expect(harness.handle(.staged(generation: generation)) == [.send(.credit(session: 1, bytes: 3 << 20))])
    let last = page(4, isLast: true)
    #expect(harness.receive(.state(session: 1, last)) == [.take([last], bound, behind: 3, generation: generation)])
    harness.handle(.integrated(Harness.standing(cursor: 5), generation: generation))
    #expect(harness.session.state == .live)
  }

  @Test func `a few pages are taken without a detour`() {
    var harness = Harness()
    harness.goLive(Harness.standing(), bound)
    let pages = [page(1), page(2), page(3, isLast: true)]
    #expect(harness.receive(.state(session: 1, pages[0])) == [])
    #expect(harness.receive(.state(session: 1, pages[1])) == [])
    #expect(harness.receive(.state(session: 1, pages[2])) == [.take(pages, bound, generation: harness.session.generation)])
  }

  @Test func `the last page waits until those before it are on the disk`() {
    var harness = Harness()
    harness.goLive(Harness.standing(), bound)
    let generation = harness.session.generation
    harness.receive(.state(session: 1, page(1)), bytes: 1 << 20)
    let last = page(2, isLast: true)
    #expect(harness.receive(.state(session: 1, last)) == [])
    #expect(harness.handle(.staged(generation: generation)) == [.take([last], bound, behind: 1, generation: generation)])
  }

  @Test func `after a cut the pages that came are kept, and those behind them are asked for`() {
    var harness = Harness()
    harness.goLive(Harness.standing(), bound)
    let generation = harness.session.generation
    let three = [page(1), page(2), page(3)]
    for page in three { #expect(harness.receive(.state(session: 1, page)) == []) }
    #expect(harness.handle(.disconnected).contains(.stage(three, behind: none, generation: generation)))
    let kept = none.followed(by: three)
    reconnect(&harness, kept)
    #expect(harness.sent.count == 3 && harness.sent.first == .rest(session: 1, kept.begun))
    #expect(kept.begun.next == [3] && kept.begun.asOf == Seq(5) && kept.begun.history == Harness.history && kept.count == 3)
    harness.receive(.bound(session: 1, Harness.bound(.rest)))
    #expect(harness.session.state == .fetching(.snapshot))
    let last = page(4, isLast: true)
    let expected = SyncSessionEffect.take([last], bound, behind: 3, generation: harness.session.generation)
    #expect(harness.receive(.state(session: 1, last)) == [expected])
  }

  @Test func `what the file is being given when the connection is cut is not given again`() {
    var harness = Harness()
    harness.goLive(Harness.standing(), bound)
    let generation = harness.session.generation
    harness.receive(.state(session: 1, page(1)), bytes: 1 << 20)
    harness.receive(.state(session: 1, page(2)))
    harness.receive(.state(session: 1, page(3, isLast: true)))
    let one = none.followed(by: [page(1)])
    let stages = harness.handle(.disconnected).filter { if case .stage = $0 { true } else { false } }
    #expect(stages == [.stage([page(2)], behind: one, generation: generation)])
    // The answer of before is of no meaning to the next connection.
    #expect(harness.handle(.staged(generation: generation)) == [])
  }

  @Test func `a server that cannot go on, or does not want to, begins with the first page`() {
    let kept = none.followed(by: [page(1)])
    for welcome in [Harness.welcome, Harness.goingOn] {
      var harness = Harness()
      harness.goLive()
      reconnect(&harness, kept, to: welcome)
      let isAsked = welcome == Harness.goingOn
      #expect(harness.sent.contains(.rest(session: 1, kept.begun)) == isAsked && harness.sent.count == (isAsked ? 3 : 2))
      harness.receive(.bound(session: 1, bound))
      let last = page(1, isLast: true)
      #expect(harness.receive(.state(session: 1, last)) == [.take([last], bound, generation: harness.session.generation)])
    }
    // Nor is one asked that has not said where the next page begins.
    var harness = Harness()
    harness.goLive()
    reconnect(&harness, none.followed(by: [Harness.page(isLast: false)]))
    #expect(harness.sent.count == 2)
  }

  @Test func `pages of before a purge are dropped where one comes of after it`() {
    var harness = Harness()
    harness.goLive()
    reconnect(&harness, none.followed(by: [page(1)]))
    harness.receive(.bound(session: 1, Harness.bound(.rest)))
    var later = page(2)
    later.floor = Stamp(time: 9, replica: ReplicaID(1))
    let effects = harness.receive(.state(session: 1, later))
    #expect(effects.contains(.dropPages) && harness.session.state == .waiting)
    #expect(!effects.contains { if case .stage = $0 { true } else { false } })
  }

  @Test func `the rest is an answer to who asked for it, and no page comes behind the last`() {
    var harness = Harness()
    harness.goLive(Harness.standing(), Harness.bound(.rest))
    #expect(harness.session.state == .waiting)
    harness = Harness()
    harness.goLive(Harness.standing(), bound)
    harness.receive(.state(session: 1, page(1, isLast: true)))
    harness.receive(.state(session: 1, page(2)))
    #expect(harness.session.state == .waiting)
  }

  @Test func `what the disk did not take is asked for again, and not put there again`() {
    var harness = Harness()
    harness.goLive(Harness.standing(), bound)
    harness.receive(.state(session: 1, page(1)), bytes: 1 << 20)
    harness.receive(.state(session: 1, page(2)))
    let effects = harness.handle(.failedLocally)
    #expect(harness.session.state == .waiting && !effects.contains { if case .stage = $0 { true } else { false } })
  }

  @Test func `a first page from after a purge does not fit what follows the answer to the bind`() {
    var harness = SessionHarness()
    harness.goLive(SessionHarness.standing(), SessionHarness.bound(.snapshot))
    var page = SessionHarness.page(isLast: true)
    (page.stable, page.floor) = (Seq(4), Stamp(time: 9, replica: ReplicaID(1)))
    harness.receive(.state(session: 1, page))
    #expect(harness.session.state == .waiting && harness.effects.contains(.disconnect))
  }
}
