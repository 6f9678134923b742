import SyncModel
import SyncProtocol
import SyncServer

let readingChecks: [ServerStoreCheck] = [
  ServerStoreCheck("ownEntriesAreMarkersAndOthersAreWhole") { bench in
    try await bench.bindBoth()
    let upload = Bench.creation(Bench.ann, 1, of: 1)
    _ = try await bench.commit(Bench.ann, [upload])
    guard case .changeset(let changeset) = upload else { return }
    try bench.expect(await bench.changes(Bench.ann).entries, [LogEntry(Seq(1), .own(clientSeq: 1))])
    try bench.expect(
      await bench.changes(Bench.bob).entries, [LogEntry(Seq(1), .changeset(author: "user 1", changeset))])
  },
  ServerStoreCheck("aLogIsReadInPagesThatAreNeverEmpty") { bench in
    try await bench.bindBoth()
    for number in 1...20 { _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, UInt64(number), of: Int64(number))]) }
    var (cursor, seqs) = (Seq.zero, [Seq]())
    while cursor < Seq(20) {
      let page = try await bench.changes(Bench.bob, after: cursor, limitBytes: 200)
      if page.cursor <= cursor { throw ServerStoreFailure(description: "no progress behind \(cursor)") }
      try bench.expect(page.head, Seq(20))
      seqs += page.entries.map(\.seq)
      cursor = page.cursor
    }
    try bench.expect(seqs, (1...20).map { Seq($0) })
    let history = try await bench.bind(Bench.bob).history
    try bench.expect(
      await bench.changes(Bench.bob, after: Seq(20)), LogPage(entries: [], cursor: Seq(20), head: Seq(20), history: history))
  },
  ServerStoreCheck("objectsAreReadInPagesInOrder") { bench in
    try await bench.bindBoth()
    for number in 1...20 { _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, UInt64(number), of: Int64(21 - number))]) }
    var (last, numbers): (ObjectIdentity?, [ObjectIdentity]) = (nil, [])
    while true {
      let page = try await bench.stores.objects(Bench.path, changedAfter: .zero, behind: last, limitBytes: 200)
      try bench.expect(page.asOf, Seq(20))
      numbers += page.objects.map(\.identity)
      last = page.objects.last?.identity
      if page.isLast { break }
      if page.objects.isEmpty { throw ServerStoreFailure(description: "an empty page that is not the last") }
    }
    try bench.expect(numbers, (1...20).map { Bench.thing($0) })
  },
  ServerStoreCheck("pagesAreOfTheStoreThatWasBegun") { bench in
    try await bench.bindBoth()
    for number in 1...2 { _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, UInt64(number), of: Int64(number))]) }
    let (stores, history) = (bench.stores, try await bench.changes(Bench.bob).history)
    func page(behind last: ObjectIdentity?) async throws -> StatePage {
      try await stores.objects(Bench.path, of: history, changedAfter: .zero, behind: last, limitBytes: 1)
    }
    try bench.expect(await page(behind: nil).objects.map(\.identity), [Bench.thing(1)])
    try await stores.removeStore(Bench.path)
    try await stores.makeStore(Bench.path)
    _ = try await bench.bind(Bench.bob)
    for number in 1...2 { _ = try await bench.commit(Bench.bob, [Bench.creation(Bench.bob, UInt64(number), of: Int64(number))]) }
    try await bench.expectError(.historyChanged) { _ = try await page(behind: Bench.thing(1)) }
    try bench.expect(
      await stores.objects(Bench.path, changedAfter: .zero, behind: nil, limitBytes: 1).objects.map(\.identity), [Bench.thing(1)])
  },
  ServerStoreCheck("aDifferenceHasWhatChangedAndWhatIsGone") { bench in
    try await bench.bindBoth()
    for number in 1...3 { _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, UInt64(number), of: Int64(number))]) }
    let deletion = Changeset(
      clientSeq: 4, baseSeq: .zero, first: Stamp(milliseconds: 2_000, counter: 0, replica: Bench.ann),
      operations: [Operation(Bench.thing(1), epoch: .zero, .delete)])
    _ = try await bench.commit(Bench.ann, [.changeset(deletion)])
    let page = try await bench.stores.objects(Bench.path, changedAfter: Seq(2), behind: nil, limitBytes: 1 << 20)
    try bench.expect(page.objects.map(\.identity), [Bench.thing(1), Bench.thing(3)])
    try bench.expect(page.objects.map(\.state.record.isAlive), [false, true])
    try bench.expect(page.objects.map(\.state.record.lastSeq), [Seq(4), Seq(3)])
  },
]
