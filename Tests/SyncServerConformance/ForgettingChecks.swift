import SyncModel
import SyncProtocol
import SyncServer

let forgettingChecks: [ServerStoreCheck] = [
  ServerStoreCheck("whatSomebodyMayStillActAgainstIsNotForgotten") { bench in
    try await bench.bindBoth()
    for number in 1...4 { _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, UInt64(number), of: Int64(number))]) }
    try await bench.acknowledge(Bench.ann, 4)
    try bench.expect(await bench.stores.purge(Bench.path, expiry: 0), nil)
    // A change that waits on Bob's side was made when he had seen two entries.
    try await bench.acknowledge(Bench.bob, 4, pending: 2)
    let purge = try await bench.stores.purge(Bench.path, expiry: 0)
    try bench.expect(purge, Purge(stable: Seq(2), floor: Stamp(milliseconds: 1_002, counter: 1, replica: Bench.ann)))
    try bench.expect(await bench.changes(Bench.bob, after: Seq(4)).entries.map(\.seq), [Seq(5)])
    try bench.expect(await bench.stores.purge(Bench.path, expiry: 0), nil)
  },
  ServerStoreCheck("theFloorNeverSinksThoughTheLogIsShort") { bench in
    try await bench.bindBoth()
    for number in 1...2 { _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, UInt64(number), of: Int64(number))]) }
    try await bench.stores.truncateLog(Bench.path, through: Seq(2))
    for replica in [Bench.ann, Bench.bob] { try await bench.acknowledge(replica, 2) }
    try bench.expect(await bench.stores.purge(Bench.path, expiry: 0)?.floor, Stamp(milliseconds: 1_002, counter: 1, replica: Bench.ann))
    // The purge itself is an entry, and has no stamp.
    for replica in [Bench.ann, Bench.bob] { try await bench.acknowledge(replica, 3) }
    try bench.expect(await bench.stores.purge(Bench.path, expiry: 0)?.floor, Stamp(milliseconds: 1_002, counter: 1, replica: Bench.ann))
  },
  ServerStoreCheck("whatIsDatedBeforeWhatIsForgottenIsToBeStampedAgain") { bench in
    _ = try await bench.bind(Bench.ann)
    for number in 1...2 { _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, UInt64(number), of: Int64(number))]) }
    try await bench.acknowledge(Bench.ann, 2)
    try bench.expect(await bench.stores.purge(Bench.path, expiry: 0)?.stable, Seq(2))
    // Whoever joins only now may have written long ago.
    _ = try await bench.bind(Bench.bob)
    for milliseconds in [5, 1_002] as [UInt64] {
      try bench.expect(await bench.commit(Bench.bob, [Bench.creation(Bench.bob, 1, of: 9, milliseconds: milliseconds)]), [.skewed])
    }
    try bench.expect(await bench.commit(Bench.bob, [Bench.creation(Bench.bob, 1, of: 9, milliseconds: 1_003)]), [.accepted(Seq(4))])
  },
  ServerStoreCheck("nobodyIsFurtherThanTheLog") { bench in
    try await bench.bindBoth()
    _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 1, of: 1)])
    for replica in [Bench.ann, Bench.bob] { try await bench.acknowledge(replica, 1_000) }
    try bench.expect(await bench.stores.purge(Bench.path, expiry: 0)?.stable, Seq(1))
  },
  ServerStoreCheck("whoIsAwayForTooLongIsForgotten") { bench in
    _ = try await bench.bind(Bench.ann, at: 100)
    _ = try await bench.bind(Bench.bob, at: 900)
    _ = try await bench.commit(Bench.bob, [Bench.creation(Bench.bob, 1, of: 1)])
    try await bench.acknowledge(Bench.bob, 1)
    try bench.expect(await bench.stores.purge(Bench.path, expiry: 50), nil)
    try bench.expect(await bench.stores.purge(Bench.path, expiry: 500)?.stable, Seq(1))
    try await bench.expectError(.replicaExpired) { _ = try await bench.bind(Bench.ann) }
    try await bench.expectError(.replicaExpired) { _ = try await bench.commit(Bench.ann, []) }
  },
  ServerStoreCheck("aLogThatIsGoneIsSaidSo") { bench in
    try await bench.bindBoth()
    for number in 1...4 { _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, UInt64(number), of: Int64(number))]) }
    let before = try await bench.bind(Bench.bob)
    try bench.expect(before.mode(cursor: Seq(1), history: before.history, pendingBase: Seq(1)), .resume)
    try await bench.stores.truncateLog(Bench.path, through: Seq(3))
    try await bench.expectError(.logTruncated) { _ = try await bench.changes(Bench.bob, after: Seq(2)) }
    try bench.expect(await bench.changes(Bench.bob, after: Seq(3)).entries.map(\.seq), [Seq(4)])
    let standing = try await bench.bind(Bench.bob)
    try bench.expect(standing.mode(cursor: Seq(1), history: standing.history, pendingBase: Seq(1)), .delta)
    try bench.expect(standing.mode(cursor: Seq(9), history: standing.history, pendingBase: Seq(9)), .reset)
    try bench.expect(standing.mode(cursor: Seq(3), history: [1], pendingBase: Seq(3)), .reset)
    try bench.expect(standing.mode(cursor: .zero, history: [], pendingBase: .zero), .snapshot)
    try bench.expect(await bench.head(), Seq(4))
  },
  ServerStoreCheck("whoSaidThatItWasFurtherWasRestored") { bench in
    try await bench.bindBoth()
    for number in 1...4 { _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, UInt64(number), of: Int64(number))]) }
    try await bench.acknowledge(Bench.bob, 3, pending: 2)
    let standing = try await bench.bind(Bench.bob)
    try bench.expect(standing.mode(cursor: Seq(3), history: standing.history, pendingBase: Seq(2)), .resume)
    try bench.expect(standing.mode(cursor: Seq(3), history: standing.history, pendingBase: Seq(1)), .reset)
  },
]
