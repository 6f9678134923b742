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
  ServerStoreCheck("anotherChangesetUnderAJudgedNumberIsNoRepetition") { bench in
    try await bench.bindBoth()
    let (first, second) = (Bench.creation(Bench.ann, 1, of: 1), Bench.creation(Bench.ann, 2, of: 2))
    _ = try await bench.commit(Bench.ann, [first, second])
    try bench.expect(await bench.commit(Bench.ann, [first, second]), [.duplicate, .duplicate])
    let other = Bench.creation(Bench.ann, 2, of: 2, milliseconds: 5_000)
    try bench.expect(await bench.commit(Bench.ann, [other]), [.forked])
    try bench.expect(await bench.head(), Seq(2))
    // Nor is what the same file has made since, which would be the next.
    let next = Bench.creation(Bench.ann, 3, of: 3, milliseconds: 5_001)
    try bench.expect(await bench.commit(Bench.ann, [other, next]), [.forked, .forked])
    let whole = [Bench.creation(Bench.ann, 3, of: 3, isContinued: true, milliseconds: 5_001), Bench.creation(Bench.ann, 4, of: 4)]
    try bench.expect(await bench.commit(Bench.ann, [other] + whole), [.forked, .forked, .forked])
    try bench.expect(await bench.head(), Seq(2))
  },
  ServerStoreCheck("aUserHasNoMoreReplicasThanHeMay") { bench in
    func bind(_ replica: UInt64, _ user: String) async throws {
      _ = try await bench.stores.bind(Bench.path, ReplicaID(replica), secret: [1], user: user, limit: 2, at: Bench.now)
    }
    for replica in [1, 2, 1] as [UInt64] { try await bind(replica, "ann") }
    try await bench.expectError(.quotaExceeded) { try await bind(3, "ann") }
    try await bind(4, "bob")
    // Those that are forgotten count no more.
    _ = try await bench.stores.purge(Bench.path, expiry: Bench.now + 1)
    try await bind(3, "ann")
  },
  ServerStoreCheck("whoHasAsManyReplicasAsHeMayLosesTheOneThatWasAwayForLongest") { bench in
    let day: Int64 = 24 * 3_600_000
    func bind(_ replica: UInt64, _ user: String = "ann", sparing spared: Set<ReplicaID>? = [], at time: Int64) async throws {
      _ = try await bench.stores.bind(Bench.path, ReplicaID(replica), secret: [1], user: user, limit: 2, sparing: spared, at: time)
    }
    try await bind(9, "bob", at: 0)
    try await bind(1, at: 1_000)
    try await bind(2, at: 2_000)
    try await bench.expectError(.quotaExceeded) { try await bind(3, at: day + 999) }
    try await bench.expectError(.quotaExceeded) { try await bind(3, sparing: nil, at: 2 * day) }
    try await bench.expectError(.quotaExceeded) { try await bind(3, sparing: [ReplicaID(1), ReplicaID(2)], at: 2 * day) }
    try await bind(3, at: day + 1_000)
    try await bench.expectError(.replicaExpired) { try await bind(1, at: day + 1_001) }
    try await bind(2, at: day + 1_002)
    try await bench.expectError(.quotaExceeded) { try await bind(4, at: day + 1_003) }
    // The third is the one that was not seen for longer.
    try await bind(4, sparing: [ReplicaID(3)], at: 3 * day)
    try await bench.expectError(.replicaExpired) { try await bind(2, at: 3 * day) }
    for replica in [3, 4] as [UInt64] { try await bind(replica, at: 3 * day) }
    try await bind(9, "bob", at: 3 * day)
  },
  ServerStoreCheck("whoseReplicaAnotherHasReplacedStillFindsWhatWasTakenOfIt") { bench in
    let late = Bench.now + 24 * 3_600_000
    func bind(_ replica: ReplicaID, at time: Int64) async throws {
      _ = try await bench.stores.bind(Bench.path, replica, secret: [1], user: "ann", limit: 1, at: time)
    }
    try await bind(Bench.ann, at: Bench.now)
    _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 1, of: 1)])
    try await bench.acknowledge(Bench.ann, 1)
    // The answer to this one is lost.
    _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 2, of: 2)])
    try await bind(Bench.bob, at: late)
    try await bench.acknowledge(Bench.bob, 2, at: late)
    try await bench.expectError(.replicaExpired) { try await bind(Bench.ann, at: late) }
    try await bench.expectError(.replicaExpired) { _ = try await bench.commit(Bench.ann, [], at: late) }
    try await bench.expectError(.replicaExpired) { try await bench.acknowledge(Bench.ann, 2, at: late) }
    try bench.expect(await bench.stores.purge(Bench.path, expiry: Bench.now)?.stable, Seq(1))
    // Until it was away for as long as any other.
    try bench.expect(await bench.stores.purge(Bench.path, expiry: Bench.now + 1)?.stable, Seq(2))
    try await bench.expectError(.replicaExpired) { try await bind(Bench.ann, at: late) }
  },
  ServerStoreCheck("aStoreIsAsLargeAsItsLogAndObjects") { bench in
    try await bench.bindBoth()
    let empty = try await bench.stores.size(of: Bench.path)
    _ = try await bench.commit(Bench.ann, (1...50).map { Bench.creation(Bench.ann, UInt64($0), of: Int64($0)) })
    let full = try await bench.stores.size(of: Bench.path)
    if full < empty + 50 * 40 { throw ServerStoreFailure(description: "\(full) bytes after \(empty)") }
    for replica in [Bench.ann, Bench.bob] { try await bench.acknowledge(replica, 50) }
    _ = try await bench.stores.purge(Bench.path, expiry: 0)
    try await bench.stores.truncateLog(Bench.path, through: Seq(50))
    let cut = try await bench.stores.size(of: Bench.path)
    if cut >= full || cut <= empty { throw ServerStoreFailure(description: "\(cut) bytes after \(full), and \(empty) at first") }
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
