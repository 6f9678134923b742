import SyncModel
import SyncProtocol
import SyncServer

let refusalChecks: [ServerStoreCheck] = [
  ServerStoreCheck("theJudgeSeesObjectsAsTheyWereAndWouldBe") { bench in
    try await bench.bindBoth()
    let outcomes = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 1, of: 1)]) { upload in
      let thing = Bench.thing(1)
      guard upload.user == "user 1", upload.before(thing) == nil, upload.after(thing)?.record.isAlive == true else {
        return Verdict(.invalidChange, "wrong")
      }
      return Verdict(.writeDenied, "not you")
    }
    try bench.expect(outcomes, [.refused(Seq(1), .writeDenied)])
    let entries = try await bench.changes(Bench.ann).entries
    try bench.expect(
      entries, [LogEntry(Seq(1), .refusal(clientSeq: 1, code: .writeDenied, text: "not you", states: [Bench.thing(1): nil]))])
  },
  ServerStoreCheck("aRefusalIsNobodyElsesBusiness") { bench in
    try await bench.bindBoth()
    _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 1, of: 1)]) { _ in Verdict(.writeDenied) }
    let page = try await bench.changes(Bench.bob)
    try bench.expect(page, LogPage(entries: [], cursor: Seq(1), head: Seq(1), history: page.history))
  },
  ServerStoreCheck("behindARefusalNothingIsLookedAtUntilItIsSeen") { bench in
    try await bench.bindBoth()
    _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 1, of: 1)]) { _ in Verdict(.writeDenied) }
    let next = Bench.creation(Bench.ann, 2, of: 2)
    try bench.expect(await bench.commit(Bench.ann, [next]), [.behindRefusal])
    try bench.expect(await bench.head(), Seq(1))
    try bench.expect(await bench.bind(Bench.ann).refusal, Seq(1))
    try bench.expect(await bench.commit(Bench.ann, [next], refusalSeen: Seq(1)), [.accepted(Seq(2))])
  },
  ServerStoreCheck("aVoidTakesThePlaceOfWhatWillNotCome") { bench in
    try await bench.bindBoth()
    _ = try await bench.commit(Bench.bob, [Bench.creation(Bench.bob, 1, of: 7)])
    _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 1, of: 1)]) { _ in Verdict(.writeDenied) }
    let outcomes = try await bench.commit(
      Bench.ann, [.void(clientSeq: 2, objects: [Bench.thing(7)])], refusalSeen: Seq(2))
    try bench.expect(outcomes, [.refused(Seq(3), .unknownReference)])
    let entry = try await bench.changes(Bench.ann, after: Seq(2)).entries.first
    guard case .refusal(2, .unknownReference, _, let states) = entry?.body else {
      throw ServerStoreFailure(description: "no refusal: \(String(describing: entry))")
    }
    try bench.expect(states[Bench.thing(7)]??.record.isAlive, true)
    try bench.expect(await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 3, of: 1)], refusalSeen: Seq(3)), [.accepted(Seq(4))])
  },
  ServerStoreCheck("aRefusalOfMuchComesInPartsAndIsSeenWithTheLast") { bench in
    try await bench.bindBoth()
    // Three objects of nearly half a megabyte.
    let text = String(repeating: "x", count: 450_000)
    for number in 1...3 as ClosedRange<UInt64> {
      let creation = Changeset(
        clientSeq: number, baseSeq: .zero, first: Stamp(milliseconds: 1_000 + number, counter: 0, replica: Bench.bob),
        operations: [
          Operation(Bench.thing(Int64(number)), epoch: .zero, .create),
          Operation(Bench.thing(Int64(number)), epoch: .zero, .set("name", .string(text), isDefault: false)),
        ])
      try bench.expect(await bench.commit(Bench.bob, [.changeset(creation)]), [.accepted(Seq(number))])
    }
    let change = Changeset(
      clientSeq: 1, baseSeq: Seq(3), first: Stamp(milliseconds: 2_000, counter: 0, replica: Bench.ann),
      operations: (1...3).map { Operation(Bench.thing($0), epoch: .zero, .set("name", .string("mine"), isDefault: false)) })
    let why = String(repeating: "no ", count: 10_000)
    try bench.expect(
      await bench.commit(Bench.ann, [.changeset(change)]) { _ in Verdict(.writeDenied, why) }, [.refused(Seq(5), .writeDenied)])
    var states: [ObjectIdentity] = []
    for entry in try await bench.changes(Bench.ann, after: Seq(3), limitBytes: 16 << 20).entries {
      guard case .refusal(1, .writeDenied, let text, let some) = entry.body else { throw ServerStoreFailure(description: "\(entry.seq)") }
      states += some.keys.sorted()
      if text.utf8.count > 4 << 10 { throw ServerStoreFailure(description: "a text of \(text.utf8.count) bytes") }
    }
    try bench.expect(states, (1...3).map { Bench.thing($0) })
    let next = Bench.creation(Bench.ann, 2, of: 7, base: 3, milliseconds: 3_000)
    try bench.expect(await bench.commit(Bench.ann, [next], refusalSeen: Seq(4)), [.behindRefusal])
    try bench.expect(await bench.bind(Bench.ann).refused, [1])
    try bench.expect(await bench.commit(Bench.ann, [next], refusalSeen: Seq(5)), [.accepted(Seq(6))])
  },
  ServerStoreCheck("aRefusedTransactionSaysOnceHowAnObjectIs") { bench in
    try await bench.bindBoth()
    let large = Changeset(
      clientSeq: 1, baseSeq: .zero, first: Stamp(milliseconds: 1_000, counter: 0, replica: Bench.bob),
      operations: [
        Operation(Bench.thing(1), epoch: .zero, .create),
        Operation(Bench.thing(1), epoch: .zero, .set("name", .string(String(repeating: "x", count: 100_000)), isDefault: false)),
      ])
    _ = try await bench.commit(Bench.bob, [.changeset(large), Bench.creation(Bench.bob, 2, of: 2)])
    let before = try await bench.stores.size(of: Bench.path)
    let many = (1...1_000 as ClosedRange<UInt64>).map { number in
      Bench.creation(Bench.ann, number, of: number == 500 ? 2 : 1, isContinued: number < 1_000)
    }
    let outcomes = try await bench.commit(Bench.ann, many) { _ in Verdict(.writeDenied, String(repeating: "no ", count: 2_000)) }
    try bench.expect(outcomes.last, .refused(Seq(1_002), .writeDenied))
    let grown = try await bench.stores.size(of: Bench.path) - before
    if grown >= 2 << 20 || grown < 100_000 { throw ServerStoreFailure(description: "the log has grown by \(grown) bytes") }
    var told: [UInt64: [ObjectIdentity]] = [:]
    for entry in try await bench.changes(Bench.ann, after: Seq(2), limitBytes: 16 << 20).entries {
      guard case .refusal(let number, .writeDenied, _, let states) = entry.body else { continue }
      if !states.isEmpty { told[number] = states.keys.sorted() }
    }
    try bench.expect(told, [1: [Bench.thing(1)], 500: [Bench.thing(2)]])
  },
  ServerStoreCheck("whatBuildsOnNothingIsRefused") { bench in
    try await bench.bindBoth()
    let unseen = Stamp(milliseconds: 900, counter: 0, replica: Bench.ann)
    let upload = Upload.changeset(
      Changeset(
        clientSeq: 1, baseSeq: .zero, first: Stamp(milliseconds: 1_000, counter: 0, replica: Bench.ann),
        operations: [Operation(Bench.thing(1), epoch: unseen, .create)]))
    try bench.expect(await bench.commit(Bench.ann, [upload]) { _ in Verdict(.writeDenied) }, [.refused(Seq(1), .unknownReference)])
  },
]
