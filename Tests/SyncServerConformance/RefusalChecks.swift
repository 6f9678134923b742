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
