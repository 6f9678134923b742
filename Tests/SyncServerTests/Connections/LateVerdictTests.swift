import SyncModel
import SyncProtocol
import SyncServer
import Testing

/// An earlier connection's upload may be committed at any moment, also while the next connection begins.
@Suite("What happens between the answer to a bind and the first page")
struct LateVerdictTests {
  private let stores = MemoryServerStore()
  private let ann = ReplicaID(1)
  private let bob = ReplicaID(2)
  private let cay = ReplicaID(3)
  /// The text is a path.
  private let path = StorePath("/shared/notes")!

  private func begin(_ replicas: ReplicaID...) async throws {
    try await stores.makeStore(path)
    for replica in replicas { _ = try await stores.bind(path, replica, secret: [1], user: "ann", at: 0) }
  }

  private func commit(_ changeset: Changeset, _ verdict: Verdict? = nil) async throws {
    _ = try await stores.commit(path, changeset.author, [.changeset(changeset)], refusalSeen: .zero, at: 0) { _ in verdict }
  }

  /// What a replica is sent from its bind on.
  ///
  /// - Parameter late: what happens right after it was bound.
  private func download(
    _ replica: ReplicaID, cursor: Seq = .zero, history: [UInt8] = [], late: () async throws -> Void = {}
  ) async throws -> [ServerMessage] {
    var connection = ServerConnection()
    _ = connection.begin(at: 0)
    let encoder = FrameEncoder()
    func say(_ message: ClientMessage) throws -> [ServerConnectionEffect] {
      try encoder.parts(of: message.frame).flatMap { connection.handle(.received($0), at: 0) }
    }
    _ = try say(.hello(Hello(versions: [1], features: [], token: "t")))
    _ = connection.handle(.verified(.success(SyncIdentity(user: "ann"))), at: 0)
    let bind = Bind(
      path: path.text, replica: replica, secret: [1], cursor: cursor, history: history, refusalSeen: .zero, pendingBase: cursor,
      schemaHash: 0)
    guard case .bind(let key, _, _, _)? = try say(.bind(session: 1, bind)).last else { throw ServerStoreError(.unavailable, "Not bound.") }
    _ = try say(.credit(session: 1, bytes: 1 << 20))
    let standing = try await stores.bind(path, replica, secret: [1], user: "ann", at: 0)
    try await late()
    var effects = connection.handle(.bound(key, .success((.all, standing))), at: 0)
    var (decoder, sent) = (FrameDecoder(), [ServerMessage]())
    while !effects.isEmpty {
      switch effects.removeFirst() {
      case .send(let parts):
        for part in parts { if let frame = try decoder.take(part) { sent.append(try ServerMessage(frame)) } }
      case .readObjects(let key, let path, let history, let seq, let last, let limit):
        let page = try await stores.objects(path, of: history, changedAfter: seq, behind: last, limitBytes: limit)
        effects += connection.handle(.objects(key, .success(page)), at: 0)
      case .readEntries(let key, let place, let seq, let limit):
        let page = try await stores.changes(place.path, for: place.replica, after: seq, limitBytes: limit)
        effects += connection.handle(.entries(key, .success(page)), at: 0)
      default: break
      }
    }
    return sent
  }

  @Test("to the replica's upload comes as an entry behind the pages, which may include it", arguments: [nil, Verdict(.writeDenied, "no")])
  func comesAgain(verdict: Verdict?) async throws {
    try await begin(ann)
    for number in 1...2 as ClosedRange<UInt64> { try await commit(changeset(1, number, of: Int64(number))) }
    let sent = try await download(ann) { try await commit(changeset(1, 3, of: 3), verdict) }
    guard case .bound(_, let bound)? = sent.first, case .state(_, let page)? = sent.dropFirst().first else {
      Issue.record("\(sent)")
      return
    }
    #expect(bound.mode == .snapshot && bound.judged == 2 && page.isLast && page.asOf == Seq(2))
    let entries = sent.flatMap { message -> [LogEntry] in if case .changes(_, let entries) = message { entries } else { [] } }
    #expect(entries.map(\.seq) == [Seq(3)])
    switch entries.first?.body {
    case .own(3): #expect(verdict == nil)
    case .refusal(3, .writeDenied, _, _): #expect(verdict != nil)
    default: Issue.record("\(entries)")
    }
  }

  private let card = ObjectIdentity("Card", .int(1))

  private func changed(
    _ author: ReplicaID, _ number: UInt64, at milliseconds: UInt64, base: UInt64, of object: ObjectIdentity? = nil,
    _ actions: SyncModel.Operation.Action...
  ) -> Changeset {
    let tags = [PathStep(.set("tags"), epoch: .zero)]
    return Changeset(
      clientSeq: number, baseSeq: Seq(base), first: Stamp(milliseconds: milliseconds, counter: 0, replica: author),
      operations: actions.map { SyncModel.Operation(object ?? card, epoch: .zero, path: $0 == .create ? [] : tags, $0) })
  }

  private func tags(_ state: MemoryState) -> [CellValue] {
    state.record(of: card)?.node.contents.sets["tags"]?.members.filter { !$0.value.isErased }.map(\.value.value) ?? []
  }

  /// As a device does, with a delta and the entries behind it.
  private func integrate(_ sent: [ServerMessage], into state: inout MemoryState) {
    for message in sent {
      if case .state(_, let page) = message {
        Merge.purge(Purge(stable: page.stable, floor: page.floor), in: &state)
        for object in page.objects { Merge.replace(object.identity, with: object.state, in: &state) }
      }
      guard case .changes(_, let entries) = message else { continue }
      for entry in entries {
        if case .purge(let purge) = entry.body { Merge.purge(purge, in: &state) }
        guard case .changeset(_, let changeset) = entry.body, let object = changeset.operations.first?.object else { continue }
        if (state.record(of: object)?.lastSeq ?? .zero) < entry.seq { Merge.apply(changeset, seq: entry.seq, to: &state) }
      }
    }
  }

  @Test("is no purge: a change that lost against what it has forgotten would come behind it")
  func purged() async throws {
    try await begin(ann, bob, cay)
    let created = changed(ann, 1, at: 1_000, base: 0, .create, .insertMember(.string("red")), .insertMember(.string("blue")))
    let erased = changed(bob, 1, at: 100_000, base: 1, .eraseMember(.string("red")))
    let other = changed(bob, 2, at: 110_000, base: 2, of: ObjectIdentity("Card", .int(2)), .create)
    for changeset in [created, erased, other] { try await commit(changeset) }
    // The device has the first two, and the log begins behind the third.
    var device = MemoryState()
    for (seq, changeset) in [created, erased].enumerated() { Merge.apply(changeset, seq: Seq(UInt64(seq + 1)), to: &device) }
    func acknowledge(_ replica: ReplicaID, _ seq: UInt64) async throws {
      let state = Acknowledgement(cursor: Seq(seq), pendingBase: Seq(seq), refusalSeen: .zero)
      try await stores.acknowledge(path, replica, state, at: 0)
    }
    for (replica, seq) in [(bob, 3), (cay, 2)] as [(ReplicaID, UInt64)] { try await acknowledge(replica, seq) }
    try await stores.truncateLog(path, through: Seq(3))
    let history = try await stores.bind(path, cay, secret: [1], user: "ann", at: 0).history
    let sent = try await download(cay, cursor: Seq(2), history: history) {
      try await commit(changed(ann, 2, at: 90_000, base: 1, .insertMember(.string("red"))))
      try await acknowledge(ann, 4)
      #expect(try await stores.purge(path, expiry: 0)?.stable == Seq(2))
    }
    integrate(sent, into: &device)
    if case .error(1, .overloaded, _, _)? = sent.last {
      integrate(try await download(cay, cursor: Seq(2), history: history), into: &device)
    } else {
      Issue.record("\(sent)")
    }
    #expect(tags(device) == [.string("blue")])
    var store = MemoryState()
    for object in try await stores.objects(path, changedAfter: .zero, behind: nil, limitBytes: 1 << 20).objects {
      Merge.replace(object.identity, with: object.state, in: &store)
    }
    #expect(tags(store) == tags(device) && store.records.count == device.records.count)
  }
}

/// What a replica says of itself as it binds is as good as an acknowledgement.
@Suite("A replica that binds")
struct BindingReplicaTests {
  private let stores = MemoryServerStore()

  private func host(_ rules: WriteRules? = nil) -> SyncHost {
    SyncHost(stores: stores, access: OpenAccess(), rules: rules, clock: { 1_000_000 })
  }

  @Test("lets the store forget what it has, though its last acknowledgement was lost")
  func acknowledges() async throws {
    let host = host()
    let path = try #require(StorePath("/shared/shop"))
    let (ann, bound) = try await RawClient.bound(host, as: "ann", 1)
    try await ann.send(.upload(session: 1, (1...2).map { changeset(1, UInt64($0), of: Int64($0)) }))
    _ = try await ann.messages { $0 == .acknowledged(session: 1, clientSeq: 2) }
    await ann.close()
    #expect(try await stores.purge(path, expiry: 0) == nil)
    let (again, resumed) = try await RawClient.bound(host, as: "ann", 1, cursor: Seq(2), history: try #require(bound).history)
    #expect(resumed?.mode == .resume)
    try await again.send(.mark(session: 1, number: 1))
    _ = try await again.messages { $0 == .marked(session: 1, number: 1) }
    #expect(try await stores.purge(path, expiry: 0)?.stable == Seq(2))
  }

  @Test("behind a refusal that it has not seen takes all objects, because the entry does not come again")
  func missesARefusal() async throws {
    let host = host { _, _ in Verdict(.writeDenied, "no") }
    let (ann, bound) = try await RawClient.bound(host, as: "ann", 1)
    try await ann.send(.upload(session: 1, [changeset(1, 1)]))
    _ = try await ann.messages { if case .changes = $0 { true } else { false } }
    await ann.close()
    let history = try #require(bound).history
    let (_, before) = try await RawClient.bound(host, as: "ann", 1, cursor: .zero, history: history)
    #expect(before?.mode == .resume && before?.refused == [1])
    let (_, behind) = try await RawClient.bound(host, as: "ann", 1, cursor: Seq(1), history: history)
    #expect(behind?.mode == .snapshot && behind?.refused == [1] && behind?.refusal == Seq(1))
  }
}
