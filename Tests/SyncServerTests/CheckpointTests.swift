import StoreValues
import SyncModel
import SyncProtocol
import SyncServer
import Testing
import VivariumTestSupport

/// From where handlers that are behind begin, and what is kept for them.
@Suite struct CheckpointTests {
  private static let author = ReplicaID(7)

  private static func thing(_ number: Int64) -> ObjectIdentity { ObjectIdentity("Thing", .int(number)) }

  /// A changeset of an author who has seen everything.
  private static func upload(_ log: ServerLog, _ number: UInt64, _ operations: [SyncModel.Operation], isContinued: Bool = false) -> Upload {
    let first = Stamp(milliseconds: 1_000 + number, counter: 0, replica: author)
    return .changeset(
      Changeset(clientSeq: number, baseSeq: log.head, isContinued: isContinued, first: first, operations: operations))
  }

  private static func commit(_ log: inout ServerLog, _ uploads: [Upload]) throws {
    let outcomes = try log.commit(author, uploads, refusalSeen: .zero, at: 1_000_000) { _ in nil }
    for outcome in outcomes { guard case .accepted = outcome else { throw ServerStoreError(.unavailable, "\(outcome)") } }
  }

  @Test func whatIsKeptForOneThatIsBehindIsNoMoreThanWhatWasDone() throws {
    var log = ServerLog(history: ServerLog.newHistory())
    _ = try log.bind(Self.author, secret: [1], user: "ann", at: 1_000_000)
    let lease = try #require(try log.claim("mail", fromStart: true, until: .max, at: 1_000_000))
    try Self.commit(&log, [Self.upload(log, 1, [Operation(Self.thing(1), epoch: .zero, .create)])])
    let list = [PathStep(.list("lines"), epoch: .zero)]
    for number in UInt64(2)...3_000 {
      let bunch = Stamp(milliseconds: 1_000 + number, counter: 0, replica: Self.author)
      let position = ListPosition([ListPosition.Step(gap: 0, bunch: bunch)])
      let insertion = Operation(
        Self.thing(1), epoch: .zero, path: list, .insert(ElementID(Self.author, number), at: position, .string("line")))
      try Self.commit(&log, [Self.upload(log, number, [insertion])])
    }
    let kept = log.log.flatMap { $0.before ?? [] }.reduce(0) { $0 + $1.size }
    let done = log.log.reduce(0) { $0 + $1.bytes + 256 }
    let size = try #require(Merge.objectState(of: Self.thing(1), in: log.state)).encoded().count
    #expect(kept <= done + size && kept > 0)
    let checkpoints = Set(log.log.compactMap(\.checkpoint))
    #expect((2...300).contains(checkpoints.count), "of 3,000 entries")
    // A handler begins with as much to take in as it has to read anyway.
    for cursor in [1, 1_500, 2_900] {
      let past = try log.past(at: Seq(UInt64(cursor)))
      #expect(past.states.count == 1 && past.asOf <= Seq(UInt64(cursor)))
      #expect((cursor - Int(past.asOf.rawValue)) * 256 <= size + 4_096)
    }
    _ = try log.advance(lease, to: log.head, writing: [], at: 1_000_001)
    #expect(log.log.allSatisfy { $0.before == nil } && log.checkpoint == nil)
  }

  @Test func aStoredLogHasTheCheckpointsThatItHad() throws {
    var random = SeededGenerator.forTest()
    for _ in 0..<20 { try Self.store(&random) }
  }

  private static func store(_ random: inout SeededGenerator) throws {
    var (log, rows, stored) = (ServerLog(history: ServerLog.newHistory()), StoreRows(), [[UInt8]: [UInt8]]())
    _ = try log.bind(author, secret: [1], user: "ann", at: 1_000_000)
    var (number, leases): (UInt64, [String: HandlerLease]) = (0, [:])
    for _ in 0..<80 {
      switch random.below(10) {
      case 0..<6:
        var uploads: [Upload] = []
        for index in (0...random.below(2)).reversed() {
          number += 1
          uploads.append(upload(log, number, [change(log, &random)], isContinued: index > 0))
        }
        try commit(&log, uploads)
      case 6:
        let name = random.oneIn(2) ? "mail" : "log"
        leases[name] = try log.claim(name, fromStart: random.oneIn(2), until: 1_000_001, at: 1_000_000) ?? leases[name]
      case 7:
        guard let (name, lease) = leases.randomElement(using: &random) else { continue }
        guard let cursor = log.handlers[name]?.cursor else { continue }
        let ends = log.numberedEntries.filter { $0.seq > cursor && !$0.entry.isContinued }.map(\.seq)
        guard let end = ends.randomElement(using: &random) else { continue }
        _ = try log.advance(lease, to: end, writing: [], at: 1_000_000)
      case 8:
        try log.acknowledge(
          author, Acknowledgement(cursor: log.head, pendingBase: log.head, refusalSeen: .zero), at: 1_000_000)
        _ = log.purge(expiry: 0)
      case 9 where random.oneIn(2):
        guard let name = leases.keys.randomElement(using: &random) else { continue }
        log.removeHandler(name)
        leases[name] = nil
      default: log.truncate(through: Seq(UInt64(random.below(Int(log.head.rawValue) + 1))))
      }
      // Several calls may share a commit.
      if random.oneIn(3) { continue }
      for (key, value) in rows.changes(of: &log) { stored[key] = value }
      let sorted = stored.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { (key: $0.key, value: $0.value) }
      var others = StoreRows()
      try compare(log, try others.log(of: sorted), &random)
    }
  }

  /// Something small, or something long, of one of a few objects.
  private static func change(_ log: ServerLog, _ random: inout SeededGenerator) -> SyncModel.Operation {
    let object = thing(Int64(random.below(4)))
    let record = log.state.record(of: object)
    let epoch = record?.node.guarding.epoch ?? .zero
    guard record?.isAlive == true else {
      let next = Stamp(milliseconds: 900 + UInt64(log.head.rawValue), counter: 0, replica: author)
      return Operation(object, epoch: record == nil ? .zero : max(epoch, next), .create)
    }
    if random.oneIn(8) { return Operation(object, epoch: epoch, .delete) }
    let text = String(repeating: "t", count: random.oneIn(4) ? 3_000 : 3)
    return Operation(object, epoch: epoch, .set("text", .string(text), isDefault: false))
  }

  private static func compare(_ log: ServerLog, _ read: ServerLog, _ random: inout SeededGenerator) throws {
    let possible = max(log.lowestCursor, log.logStart).rawValue...log.head.rawValue
    for seq in log.handlers.values.map(\.cursor.rawValue) + (0..<2).map({ _ in UInt64.random(in: possible, using: &random) }) {
      let (here, there) = (try? log.past(at: Seq(seq)), try? read.past(at: Seq(seq)))
      #expect(here == there)
      if !log.handlers.isEmpty { #expect(log.start(for: Seq(seq)) == read.start(for: Seq(seq))) }
    }
    #expect(log.heldFrom == read.heldFrom)
    guard !log.handlers.isEmpty, let last = log.checkpoint else { return }
    let found = try #require(read.checkpoint)
    #expect(last.seq == found.seq && last.objects == found.objects)
    #expect(last.keptBytes == found.keptBytes && last.entryBytes == found.entryBytes)
  }
}
