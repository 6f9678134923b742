import SyncModel
import SyncProtocol
import SyncServer
import Testing

/// A client that was cut off between pages gets the rest on its next connection, if that belongs to them.
@Suite("The rest of pages")
struct RestOfPagesTests {
  private let stores = MemoryServerStore()

  /// A host whose pages have one object each.
  private func host() -> SyncHost {
    var configuration = ServerConnectionConfiguration()
    configuration.pageBytes = 1
    return SyncHost(stores: stores, access: OpenAccess(), configuration: configuration, clock: { 1_000_000 })
  }

  /// Ann makes four objects.
  private func ann(_ host: SyncHost) async throws -> RawClient {
    let (ann, _) = try await RawClient.bound(host, as: "ann", 1)
    try await ann.send(.upload(session: 1, (1...4).map { changeset(1, UInt64($0), of: Int64($0)) }))
    _ = try await ann.messages { $0 == .acknowledged(session: 1, clientSeq: 4) }
    return ann
  }

  /// Bob gets the first page, and no more.
  private func firstPage(_ host: SyncHost) async throws -> (BegunPages, StatePage) {
    let bob = RawClient(host)
    try await bob.hello("bob", features: .rest)
    try await bob.bind(2, credit: 1)
    guard case .welcome(let welcome)? = try await bob.next(), case .bound(1, let bound)? = try await bob.next(),
      case .state(1, let page)? = try await bob.next()
    else { throw ServerStoreError(.unavailable, "No page came.") }
    #expect(welcome.features == .rest && bound.mode == .snapshot && !page.isLast && page.objects.count == 1)
    await bob.close()
    let begun = BegunPages(
      mode: .snapshot, history: bound.history, asOf: page.asOf, stable: page.stable, judged: bound.judged, refusal: bound.refusal,
      next: page.next)
    return (begun, page)
  }

  /// What Bob gets on the next connection: the mode, the objects, and the numbers of the entries behind them.
  private func rest(_ host: SyncHost, _ begun: BegunPages) async throws -> (mode: Bound.Mode?, objects: [ObjectIdentity], entries: [Seq]) {
    let bob = RawClient(host)
    try await bob.hello("bob", features: .rest)
    try await bob.send(.rest(session: 1, begun))
    try await bob.bind(2)
    try await bob.send(.mark(session: 1, number: 7))
    var (mode, objects, entries): (Bound.Mode?, [ObjectIdentity], [Seq]) = (nil, [], [])
    for message in try await bob.messages(until: { $0 == .marked(session: 1, number: 7) }) {
      switch message {
      case .bound(_, let bound): mode = bound.mode
      case .state(_, let page): objects += page.objects.map(\.identity)
      case .changes(_, let some): entries += some.map(\.seq)
      default: break
      }
    }
    await bob.close()
    return (mode, objects, entries)
  }

  private func things(_ ids: ClosedRange<Int64>) -> [ObjectIdentity] { ids.map { ObjectIdentity("Thing", .int($0)) } }

  @Test("comes behind the pages that were sent, with all entries since the first of them")
  func goesOn() async throws {
    let host = host()
    let ann = try await ann(host)
    let (begun, page) = try await firstPage(host)
    #expect(page.objects.map(\.identity) == things(1...1) && begun.asOf == Seq(4))
    // In between, what was sent is changed, and so is what was not.
    try await ann.send(
      .upload(session: 1, [changeset(1, 5, of: 1, creates: false, base: 4), changeset(1, 6, of: 3, creates: false, base: 4)]))
    _ = try await ann.messages { $0 == .acknowledged(session: 1, clientSeq: 6) }
    let (mode, objects, entries) = try await rest(host, begun)
    #expect(mode == .rest && objects == things(2...4) && entries == [Seq(5), Seq(6)])
  }

  @Test("is not sent where entries are missing, or what was begun is of another server: then all comes")
  func beginsAgain() async throws {
    let host = host()
    _ = try await ann(host)
    let (begun, _) = try await firstPage(host)
    var others = [begun, begun, begun]
    others[0].history = [UInt8](repeating: 3, count: 16)
    others[1].next = [1, 2, 3]
    others[2].mode = .delta
    for other in others {
      let (mode, objects, _) = try await rest(host, other)
      #expect(mode == .snapshot && objects == things(1...4))
    }
    #expect(try await rest(host, begun).mode == .rest)
    try await stores.truncateLog(try #require(StorePath("/shared/shop")), through: Seq(4))
    #expect(try await rest(host, begun).mode == .rest)
    var earlier = begun
    earlier.asOf = Seq(3)
    #expect(try await rest(host, earlier).mode == .snapshot)
  }

  @Test("is asked for once, where it was agreed, and before the store is bound")
  func outOfOrder() async throws {
    let host = host()
    _ = try await ann(host)
    let (begun, _) = try await firstPage(host)
    let ask = ClientMessage.rest(session: 1, begun)
    for (features, times, binds) in [(SyncFeatures(), 1, false), (.rest, 2, false), (.rest, 1, true)] {
      let bob = RawClient(host)
      try await bob.hello("bob", features: features)
      if binds { try await bob.bind(2) }
      for _ in 0..<times { try await bob.send(ask) }
      let last = try await bob.messages { if case .error = $0 { true } else { false } }.last
      guard case .error(0, .outOfOrder, _, _)? = last else {
        Issue.record("\(String(describing: last))")
        continue
      }
    }
  }

  @Test("belongs to those that were begun only while nothing was purged or judged, and the log goes back that far")
  func standing() {
    let history = [UInt8](repeating: 1, count: 16)
    let standing = Standing(
      judged: 5, judgedStamp: .zero, refusal: Seq(6), refused: [], history: history, head: Seq(20), logStart: Seq(8), stable: Seq(7),
      pendingBase: Seq(9))
    let begun = BegunPages(mode: .snapshot, history: history, asOf: Seq(9), stable: Seq(7), judged: 5, refusal: Seq(6), next: [1])
    func goesOn(_ change: (inout BegunPages) -> Void) -> Bool {
      var other = begun
      change(&other)
      return standing.goesOn(other, in: .snapshot)
    }
    #expect(goesOn { _ in } && goesOn { $0.asOf = Seq(20) })
    #expect(!standing.goesOn(begun, in: .delta) && !standing.goesOn(begun, in: .resume))
    #expect(!goesOn { $0.history[0] = 2 } && !goesOn { $0.stable = Seq(6) } && !goesOn { $0.stable = Seq(8) })
    #expect(!goesOn { $0.judged = 4 } && !goesOn { $0.refusal = .zero })
    // The replica has acknowledged more, or the server knows less.
    #expect(!goesOn { $0.asOf = Seq(8) } && !goesOn { $0.asOf = Seq(21) })
  }
}
