import SyncModel
import SyncProtocol
import SyncServer
import Synchronization
import Testing

@Suite("A host")
struct SyncHostTests {
  private func host(_ access: any SyncAccess = OpenAccess()) -> SyncHost {
    SyncHost(stores: MemoryServerStore(), access: access, clock: { 1_000_000 })
  }

  private func isPage(_ message: ServerMessage) -> Bool { if case .state(1, let page) = message { page.isLast } else { false } }

  @Test("lets a new replica in at its first word, sends what there is and takes what it did")
  func firstContact() async throws {
    let host = host()
    let (ann, bound) = try await RawClient.bound(host, as: "ann", 1)
    #expect(bound?.mode == .snapshot)
    #expect(bound?.rights == [.read, .write, .manage])
    _ = try await ann.messages(until: isPage)
    try await ann.send(.upload(session: 1, [changeset(1, 1), changeset(1, 2, creates: false)]))
    let answers = try await ann.messages { if case .changes = $0 { true } else { false } }
    #expect(answers.contains(.acknowledged(session: 1, clientSeq: 2)))
    #expect(answers.last == .changes(session: 1, [LogEntry(Seq(1), .own(clientSeq: 1)), LogEntry(Seq(2), .own(clientSeq: 2))]))
  }

  @Test("sends an entry to everybody who is bound to its store, and to nobody else")
  func fanOut() async throws {
    let host = host()
    var others: [RawClient] = []
    for replica in UInt64(2)...5 {
      let (client, _) = try await RawClient.bound(host, as: "user\(replica)", replica)
      _ = try await client.messages(until: isPage)
      others.append(client)
    }
    let (elsewhere, _) = try await RawClient.bound(host, as: "ann", 9, path: "/shared/other")
    _ = try await elsewhere.messages(until: isPage)
    let (ann, _) = try await RawClient.bound(host, as: "ann", 1)
    try await ann.send(.upload(session: 1, [changeset(1, 1)]))
    for other in others {
      #expect(try await other.next() == .changes(session: 1, [LogEntry(Seq(1), .changeset(author: "ann", changeset(1, 1)))]))
    }
    try await elsewhere.send(.mark(session: 1, number: 7))
    #expect(try await elsewhere.next() == .marked(session: 1, number: 7))
  }

  @Test("compresses once what it sends to many")
  func compressedOnce() async throws {
    let host = host()
    let (ann, _) = try await RawClient.bound(host, as: "ann", 1)
    _ = try await ann.messages(until: isPage)
    // Long enough to be compressed.
    let text = String(repeating: "again ", count: 200)
    let short = changeset(1, 1)
    let long = Changeset(
      clientSeq: 1, baseSeq: .zero, first: short.first,
      operations: short.operations
        + [SyncModel.Operation(short.operations[0].object, epoch: .zero, .set("text", .string(text), isDefault: false))])
    try await ann.send(.upload(session: 1, [long]))
    _ = try await ann.messages { if case .changes = $0 { true } else { false } }
    // One after the other: two that are sent the same at the same moment may both compress it.
    for replica in UInt64(2)...9 {
      let client = RawClient(host)
      try await client.hello("user\(replica)", features: [.compression])
      try await client.bind(replica)
      let pages = try await client.messages(until: isPage)
      #expect(pages.contains { if case .state(1, let page) = $0 { page.objects.count == 1 } else { false } })
    }
    #expect(host.bodies.madeCount == 1)
  }

  @Test("follows a store as long as sessions are bound to it, from before they bind", .timeLimit(.minutes(5)))
  func following() async throws {
    let (follows, follow) = AsyncStream.makeStream(of: Int.self)
    var stores = WrongServerStore(fault: nil)
    stores.follows = { _, count in follow.yield(count) }
    let access = TestAccess(rights: ["ann": [.read, .write], "bob": [.read], "eve": []])
    let host = SyncHost(stores: stores, access: access, clock: { 1_000_000 })
    var counts = follows.makeAsyncIterator()
    let (ann, _) = try await RawClient.bound(host, as: "ann", 1)
    #expect(await counts.next() == 1)
    // One who may not is no session.
    _ = try await RawClient.bound(host, as: "eve", 3)
    for count in [1, -1] { #expect(await counts.next() == count) }
    let (bob, _) = try await RawClient.bound(host, as: "bob", 2)
    #expect(await counts.next() == 1)
    for client in [ann, bob] {
      await client.close()
      #expect(await counts.next() == -1)
    }
  }

  @Test("tells the others while a read for one hangs, and him when it ends")
  func hungRead() async throws {
    let isHanging = Mutex(false)
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    var stores = WrongServerStore(fault: nil)
    stores.beforeChanges = { replica in
      if replica == ReplicaID(2), isHanging.withLock({ $0 }) { for await _ in ends {} }
    }
    let host = SyncHost(stores: stores, access: OpenAccess(), clock: { 1_000_000 })
    let (bob, _) = try await RawClient.bound(host, as: "bob", 2)
    _ = try await bob.messages(until: isPage)
    try await bob.send(.mark(session: 1, number: 1))
    _ = try await bob.messages { $0 == .marked(session: 1, number: 1) }
    let (carol, _) = try await RawClient.bound(host, as: "carol", 3)
    _ = try await carol.messages(until: isPage)
    let (ann, _) = try await RawClient.bound(host, as: "ann", 1)
    isHanging.withLock { $0 = true }
    for number in 1...2 {
      let changeset = changeset(1, UInt64(number), creates: number == 1)
      try await ann.send(.upload(session: 1, [changeset]))
      let entry = LogEntry(Seq(UInt64(number)), .changeset(author: "ann", changeset))
      #expect(try await carol.next() == .changes(session: 1, [entry]))
    }
    end.finish()
    try await bob.send(.mark(session: 1, number: 2))
    let messages = try await bob.messages { $0 == .marked(session: 1, number: 2) }
    let entries = messages.reduce(0) { count, message in if case .changes(_, let some) = message { count + some.count } else { count } }
    #expect(entries == 2)
  }

  @Test("answers a mark after everything that was there when it came")
  func marks() async throws {
    let host = host()
    let (ann, _) = try await RawClient.bound(host, as: "ann", 1)
    try await ann.send(.upload(session: 1, [changeset(1, 1)]))
    _ = try await ann.messages { if case .changes = $0 { true } else { false } }
    let (bob, bound) = try await RawClient.bound(host, as: "bob", 2)
    try await bob.send(.mark(session: 1, number: 3))
    let messages = try await bob.messages { $0 == .marked(session: 1, number: 3) }
    #expect(bound?.mode == .snapshot)
    #expect(messages.contains { if case .state(_, let page) = $0 { page.objects.count == 1 } else { false } })
  }

  @Test("goes on behind a cursor, and tells one with another history to begin anew")
  func cursors() async throws {
    let host = host()
    let (ann, first) = try await RawClient.bound(host, as: "ann", 1)
    try await ann.send(.upload(session: 1, [changeset(1, 1), changeset(1, 2, creates: false)]))
    _ = try await ann.messages { if case .changes = $0 { true } else { false } }
    let history = try #require(first?.history)
    let (bob, resumed) = try await RawClient.bound(host, as: "bob", 2, cursor: Seq(1), history: history)
    #expect(resumed?.mode == .resume)
    #expect(try await bob.next() == .changes(session: 1, [LogEntry(Seq(2), .changeset(author: "ann", changeset(1, 2, creates: false)))]))
    let (_, other) = try await RawClient.bound(host, as: "cem", 3, cursor: Seq(1), history: [UInt8](repeating: 1, count: 16))
    #expect(other?.mode == .reset)
  }

  @Test("sends nothing that the client has not granted bytes for")
  func credit() async throws {
    let host = host()
    let (ann, _) = try await RawClient.bound(host, as: "ann", 1)
    try await ann.send(.upload(session: 1, [changeset(1, 1)]))
    _ = try await ann.messages { if case .changes = $0 { true } else { false } }
    let bob = RawClient(host)
    try await bob.hello("bob")
    try await bob.bind(2, credit: 0)
    try await bob.send(.ping(number: 4, roundTrip: 0))
    var messages = try await bob.messages { if case .bound = $0 { true } else { false } }
    try await bob.send(.ping(number: 5, roundTrip: 0))
    messages += try await bob.messages { $0 == .pong(number: 5) }
    #expect(!messages.contains { if case .state = $0 { true } else { false } })
    try await bob.send(.credit(session: 1, bytes: 1000))
    #expect(try await bob.messages(until: isPage).count == 1)
  }

  @Test("holds the declarations of writers against each other, and takes nothing behind one that differs")
  func declarations() async throws {
    let host = host(TestAccess(rights: ["ann": [.read, .write], "bob": [.read, .write], "cem": [.read]]))
    let (ann, _) = try await RawClient.bound(host, as: "ann", 1)
    _ = try await ann.messages(until: isPage)
    let note = SyncSchema(["Note": ["text": "string"]])
    // Who may only read fixes nothing.
    let (cem, _) = try await RawClient.bound(host, as: "cem", 3)
    _ = try await cem.messages(until: isPage)
    try await cem.send(.schema(session: 1, SyncSchema(["Note": ["text": "int"]]).encoded))
    #expect(try await cem.next() == .schema(session: 1, SyncSchema().encoded))
    try await ann.send(.schema(session: 1, note.encoded))
    #expect(try await ann.next() == .schema(session: 1, note.encoded))
    let (bob, _) = try await RawClient.bound(host, as: "bob", 2)
    _ = try await bob.messages(until: isPage)
    try await bob.send(.schema(session: 1, SyncSchema(["Note": ["text": "int"]]).encoded))
    try await bob.send(.upload(session: 1, [changeset(2, 1)]))
    let answers = try await bob.messages { if case .error = $0 { true } else { false } }
    guard answers.count == 1, case .error(1, .schemaConflict, _, let text)? = answers.last else {
      Issue.record("\(answers)")
      return
    }
    #expect(text.contains("'Note.text' is declared as 'string', and here as 'int'"))
    try await bob.send(.ping(number: 1, roundTrip: 0))
    #expect(try await bob.next() == .pong(number: 1))
    try await ann.send(.mark(session: 1, number: 1))
    #expect(try await ann.next() == .marked(session: 1, number: 1))
  }

  @Test("ends a connection on which a declaration is none, or comes within a transaction")
  func wrongDeclarations() async throws {
    let host = host()
    for (message, code) in [([1, 2, 3] as [UInt8], SyncErrorCode.badFrame), ([0], .outOfOrder)] {
      let (ann, _) = try await RawClient.bound(host, as: "ann", 1)
      _ = try await ann.messages(until: isPage)
      let whole = changeset(1, 1)
      let half = Changeset(clientSeq: 1, baseSeq: .zero, isContinued: true, first: whole.first, operations: whole.operations)
      if code == .outOfOrder { try await ann.send(.upload(session: 1, [half])) }
      try await ann.send(.schema(session: 1, message))
      let last = try await ann.messages { if case .error = $0 { true } else { false } }.last
      guard case .error(_, code, _, _)? = last else {
        Issue.record("\(String(describing: last))")
        continue
      }
    }
  }

  @Test("refuses what a reader writes, and goes on with the session")
  func readers() async throws {
    let host = host(TestAccess(rights: ["ann": [.read]]))
    let (ann, _) = try await RawClient.bound(host, as: "ann", 1)
    _ = try await ann.messages(until: isPage)
    try await ann.send(.upload(session: 1, [changeset(1, 1)]))
    guard case .changes(1, let entries) = try await ann.next(), case .refusal(1, .writeDenied, _, _)? = entries.first?.body else {
      Issue.record("no refusal came")
      return
    }
    try await ann.send(.mark(session: 1, number: 1))
    #expect(try await ann.next() == .marked(session: 1, number: 1))
  }

  @Test("does not let what was said before a refusal was seen pass because of what was said after it")
  func refusalOrder() async throws {
    let host = host()
    let (ann, _) = try await RawClient.bound(host, as: "ann", 1)
    _ = try await ann.messages(until: isPage)
    // The first sets a name in an object of an incarnation that nobody knows; the second was made on top of it.
    let object = ObjectIdentity("Thing", .int(1))
    let unknown = Stamp(milliseconds: 5, counter: 0, replica: ReplicaID(77))
    let bad = Changeset(
      clientSeq: 1, baseSeq: .zero, first: Stamp(milliseconds: 1_000, counter: 0, replica: ReplicaID(1)),
      operations: [SyncModel.Operation(object, epoch: unknown, .set("name", .string("x"), isDefault: false))])
    try await ann.send(.upload(session: 1, [bad]))
    try await ann.send(.upload(session: 1, [changeset(1, 2)]))
    try await ann.send(.acknowledge(session: 1, Acknowledgement(cursor: Seq(1), pendingBase: .zero, refusalSeen: Seq(1))))
    try await ann.send(.mark(session: 1, number: 1))
    let messages = try await ann.messages { $0 == .marked(session: 1, number: 1) }
    #expect(!messages.contains { if case .acknowledged = $0 { true } else { false } })
    // Said again, after it has seen the refusal, it passes.
    try await ann.send(.upload(session: 1, [changeset(1, 2)]))
    let again = try await ann.messages { if case .acknowledged = $0 { true } else { false } }
    #expect(again.last == .acknowledged(session: 1, clientSeq: 2))
  }

  @Test("opens a user's own store at its first binding, and shows nobody another's")
  func ownStores() async throws {
    let host = host(TestAccess(rights: ["ann": [], "bob": []]))
    let (_, own) = try await RawClient.bound(host, as: "ann", 1, path: "/~/tasks")
    #expect(own?.mode == .snapshot)
    let bob = RawClient(host)
    try await bob.hello("bob")
    try await bob.bind(2, path: "/ann/tasks")
    _ = try await bob.next()
    guard case .error(1, .unknownStore, _, _) = try await bob.next() else {
      Issue.record("another's store was shown")
      return
    }
    // The connection goes on.
    try await bob.bind(2, session: 2, path: "/~/tasks")
    guard case .bound(2, _) = try await bob.next() else {
      Issue.record("the own store was not")
      return
    }
  }

  @Test("ends the sessions of a store that is removed, and makes it again for newcomers only")
  func removal() async throws {
    let host = host()
    let (ann, bound) = try await RawClient.bound(host, as: "ann", 1)
    _ = try await ann.messages(until: isPage)
    let history = try #require(bound?.history)
    try await host.stores.removeStore(try #require(StorePath("/shared/shop")))
    guard case .error(1, .unknownStore, _, let text) = try await ann.next() else {
      Issue.record("the session goes on")
      return
    }
    #expect(text.contains("/shared/shop"))
    // The connection goes on; who knew the store does not put an empty one in its place.
    try await ann.bind(1, session: 2, history: history)
    guard case .error(2, .unknownStore, _, _) = try await ann.next() else {
      Issue.record("the store was made again")
      return
    }
    let (_, made) = try await RawClient.bound(host, as: "bob", 2)
    #expect(made?.mode == .snapshot)
    #expect(made?.history != history)
    try await ann.bind(1, session: 3, history: history)
    guard case .bound(3, let anew) = try await ann.next() else {
      Issue.record("the new store is not shown")
      return
    }
    #expect(anew.mode == .reset)
  }

  @Test("has who is connected begin anew where a store has another history under him")
  func otherHistory() async throws {
    let stores = MemoryServerStore()
    let host = SyncHost(stores: stores, access: OpenAccess(), clock: { 1_000_000 })
    let (ann, _) = try await RawClient.bound(host, as: "ann", 1)
    _ = try await ann.messages(until: isPage)
    let path = try #require(StorePath("/shared/shop"))
    try await stores.restore(path, try await stores.backUp(path))
    guard case .error(1, .historyChanged, _, _) = try await ann.next() else {
      Issue.record("the session goes on")
      return
    }
  }

  @Test("tells everybody to come back when it ends, and newcomers too")
  func leaving() async throws {
    let host = host()
    let (ann, _) = try await RawClient.bound(host, as: "ann", 1)
    await host.leave(comeBackAfter: 5)
    let messages = try await ann.messages { $0 == .goAway(seconds: 5) }
    #expect(messages.last == .goAway(seconds: 5))
    #expect(try await ann.next() == nil)
    let bob = RawClient(host)
    #expect(try await bob.next() == .goAway(seconds: 5))
  }

  @Test("ends the connections of a user who is suspended, with the reason")
  func expelling() async throws {
    let host = host()
    let (ann, _) = try await RawClient.bound(host, as: "ann", 1)
    let (bob, _) = try await RawClient.bound(host, as: "bob", 2)
    await host.expel("ann", SyncRefusal(.userSuspended))
    let messages = try await ann.messages { if case .error(0, .userSuspended, _, _) = $0 { true } else { false } }
    #expect(!messages.isEmpty)
    #expect(try await ann.next() == nil)
    try await bob.send(.ping(number: 1, roundTrip: 0))
    #expect(try await bob.messages { $0 == .pong(number: 1) }.last == .pong(number: 1))
  }
}
