import SyncModel
import SyncProtocol
import SyncServer

let uploadChecks: [ServerStoreCheck] = [
  ServerStoreCheck("pathsHaveOneStore") { bench in
    try bench.expect(await bench.stores.stores(), [Bench.path])
    try await bench.expectError(.storeExists) { try await bench.stores.makeStore(Bench.path) }
    guard let other = StorePath("/ann/tasks") else { return }
    try await bench.expectError(.unknownStore) {
      _ = try await bench.stores.bind(other, Bench.ann, secret: [], user: "", at: 0)
    }
    try bench.expect(await bench.stores.heads([other, Bench.path]), [Bench.path: .zero])
  },
  ServerStoreCheck("aReplicaBelongsToWhoBoundItFirst") { bench in
    _ = try await bench.bind(Bench.ann)
    _ = try await bench.bind(Bench.ann)
    for (secret, user) in [([UInt8(9)], "user 1"), ([1], "somebody else")] {
      try await bench.expectError(.replicaTaken) {
        _ = try await bench.stores.bind(Bench.path, Bench.ann, secret: secret, user: user, at: 0)
      }
    }
    try await bench.expectError(.replicaExpired) { _ = try await bench.commit(Bench.bob, []) }
  },
  ServerStoreCheck("uploadsAreNumberedWithoutGaps") { bench in
    try await bench.bindBoth()
    try bench.expect(
      await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 1, of: 1), Bench.creation(Bench.ann, 2, of: 2)]),
      [.accepted(Seq(1)), .accepted(Seq(2))])
    try bench.expect(await bench.commit(Bench.bob, [Bench.creation(Bench.bob, 1, of: 1)]), [.accepted(Seq(3))])
    try bench.expect(await bench.head(), Seq(3))
    let standing = try await bench.bind(Bench.ann)
    try bench.expect(standing.judged, 2)
    try bench.expect(standing.judgedStamp, Stamp(milliseconds: 1_002, counter: 0, replica: Bench.ann))
    try bench.expect(standing.head, Seq(3))
  },
  ServerStoreCheck("whatComesTwiceCountsOnce") { bench in
    try await bench.bindBoth()
    let upload = Bench.creation(Bench.ann, 1, of: 1)
    try bench.expect(await bench.commit(Bench.ann, [upload, upload]), [.accepted(Seq(1)), .duplicate])
    try bench.expect(await bench.commit(Bench.ann, [upload]), [.duplicate])
    try bench.expect(await bench.head(), Seq(1))
  },
  ServerStoreCheck("aGapIsNotTakenIn") { bench in
    try await bench.bindBoth()
    try bench.expect(await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 2, of: 1)]), [.gap(expected: 1)])
    try bench.expect(await bench.head(), .zero)
  },
  ServerStoreCheck("aTransactionOfSeveralChangesetsIsTakenInAsAWhole") { bench in
    try await bench.bindBoth()
    let first = Bench.creation(Bench.ann, 1, of: 1, isContinued: true)
    let second = Bench.creation(Bench.ann, 2, of: 2)
    try bench.expect(await bench.commit(Bench.ann, [first]), [.incomplete])
    try bench.expect(await bench.head(), .zero)
    try bench.expect(
      await bench.commit(Bench.ann, [first, second]) { $0.changesets.count == 2 ? Verdict(.invalidChange) : nil },
      [.refused(Seq(1), .invalidChange), .refused(Seq(2), .invalidChange)])
    let again = [Bench.creation(Bench.ann, 3, of: 1, isContinued: true), Bench.creation(Bench.ann, 4, of: 2)]
    try bench.expect(await bench.commit(Bench.ann, again, refusalSeen: Seq(2)), [.accepted(Seq(3)), .accepted(Seq(4))])
    // Nobody is shown a half of it.
    let page = try await bench.changes(Bench.bob, limitBytes: 1)
    try bench.expect(page.entries.map(\.seq), [Seq(3), Seq(4)])
  },
  ServerStoreCheck("aClockThatIsAheadIsToldSoAndNothingIsLost") { bench in
    try await bench.bindBoth()
    let late = UInt64(Bench.now) + 10 * 60 * 1_000
    let upload = Bench.creation(Bench.ann, 1, of: 1, milliseconds: late)
    try bench.expect(await bench.commit(Bench.ann, [upload]), [.skewed])
    try bench.expect(await bench.head(), .zero)
    try bench.expect(await bench.commit(Bench.ann, [upload], at: Int64(late)), [.accepted(Seq(1))])
  },
  ServerStoreCheck("aServerClockThatWentBackGoesOnBehindWhatWasTakenInBefore") { bench in
    try await bench.bindBoth()
    let late = UInt64(Bench.now) + 2 * 365 * 86_400 * 1_000
    try bench.expect(
      await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 1, of: 1, milliseconds: late)], at: Int64(late)), [.accepted(Seq(1))])
    // Whoever has seen it cannot date anything before it.
    let next = Bench.creation(Bench.bob, 1, of: 2, milliseconds: late + 1)
    try bench.expect(await bench.commit(Bench.bob, [next]), [.accepted(Seq(2))])
    let ahead = Bench.creation(Bench.bob, 2, of: 3, milliseconds: late + 1_000)
    try bench.expect(await bench.commit(Bench.bob, [ahead]), [.skewed])
  },
  ServerStoreCheck("stampsThatRunPastTheEndOfTimeAreTooFarAhead") { bench in
    try await bench.bindBoth()
    let changeset = Changeset(
      clientSeq: 1, baseSeq: .zero, first: Stamp(time: .max, replica: Bench.ann),
      operations: [
        Operation(Bench.thing(1), epoch: .zero, .create), Operation(Bench.thing(1), epoch: .zero, .set("name", .null, isDefault: false)),
      ])
    try bench.expect(await bench.commit(Bench.ann, [.changeset(changeset)]), [.skewed])
  },
  ServerStoreCheck("onlyTheAuthorUploadsWhatItSaysItDid") { bench in
    try await bench.bindBoth()
    try bench.expect(
      await bench.commit(Bench.ann, [Bench.creation(Bench.bob, 1, of: 1)]), [.refused(Seq(1), .invalidChange)])
    try bench.expect(await bench.stores.objects(Bench.path, changedAfter: .zero, behind: nil, limitBytes: 1 << 20).objects.count, 0)
  },
]
