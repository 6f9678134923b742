import SyncModel
import SyncProtocol
import SyncServer

let removalChecks: [ServerStoreCheck] = [
  ServerStoreCheck("aRemovedStoreIsThereForNoCall") { bench in
    try await bench.bindBoth()
    _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 1, of: 1)])
    let stores = bench.stores
    guard let other = StorePath("/shared/other") else { return }
    try await stores.makeStore(other)
    try await stores.removeStore(Bench.path)
    try bench.expect(await stores.stores(), [other])
    try bench.expect(await stores.heads([Bench.path, other]), [other: .zero])
    try await bench.expectError(.unknownStore) { _ = try await bench.bind(Bench.ann) }
    try await bench.expectError(.unknownStore) { _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 2, of: 2)]) }
    try await bench.expectError(.unknownStore) { _ = try await bench.changes(Bench.bob) }
    try await bench.expectError(.unknownStore) { try await bench.acknowledge(Bench.bob, 1) }
    try await bench.expectError(.unknownStore) {
      _ = try await stores.objects(Bench.path, changedAfter: .zero, behind: nil, limitBytes: 1 << 20)
    }
    try await bench.expectError(.unknownStore) { _ = try await stores.purge(Bench.path, expiry: 0) }
    try await bench.expectError(.unknownStore) {
      _ = try await stores.claim(Bench.path, handler: "billing", fromStart: true, until: 1, at: 0)
    }
    try await bench.expectError(.unknownStore) { try await stores.removeStore(Bench.path) }
  },
  ServerStoreCheck("aStoreThatIsMadeAnewIsAnother") { bench in
    try await bench.bindBoth()
    _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 1, of: 1)])
    let before = try await bench.changes(Bench.bob).history
    try await bench.stores.removeStore(Bench.path)
    try await bench.stores.makeStore(Bench.path)
    // It knows nobody, and has nothing.
    try await bench.expectError(.replicaExpired) { _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 2, of: 2)]) }
    let page = try await bench.changes(Bench.bob)
    try bench.expect(page.head, .zero)
    if page.history == before { throw ServerStoreFailure(description: "a new store has the history of the one before") }
    let standing = try await bench.bind(Bench.ann)
    try bench.expect(standing.judged, 0)
    try bench.expect(standing.history, page.history)
    try bench.expect(
      await bench.stores.objects(Bench.path, changedAfter: .zero, behind: nil, limitBytes: 1 << 20).objects.isEmpty, true)
    try bench.expect(standing.mode(cursor: Seq(1), history: before, pendingBase: Seq(1)), .reset)
  },
  ServerStoreCheck("whoListensIsToldThatAStoreIsGone") { bench in
    try await bench.bindBoth()
    let wakeups = await bench.stores.wakeups()
    try await bench.stores.removeStore(Bench.path)
    try bench.expect(await bench.stores.stores(), [])
    for await path in wakeups where path == Bench.path { return }
    throw ServerStoreFailure(description: "nobody was told")
  },
  ServerStoreCheck("whoWritesFindsTheStoreOrNone") { bench in
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 1...8 {
        let replica = ReplicaID(UInt64(number))
        _ = try await bench.bind(replica)
        group.addTask {
          for seq in 1...1_000 as ClosedRange<UInt64> {
            do {
              let outcomes = try await bench.commit(replica, [Bench.creation(replica, seq, of: Int64(number))])
              guard case .accepted = outcomes.first else { throw ServerStoreFailure(description: "\(outcomes)") }
            } catch let error as ServerStoreError where error.code == .unknownStore { return }
          }
        }
      }
      group.addTask { try await bench.stores.removeStore(Bench.path) }
      try await group.waitForAll()
    }
    try bench.expect(await bench.stores.stores(), [])
    try await bench.stores.makeStore(Bench.path)
    try bench.expect(await bench.changes(Bench.ann).head, .zero)
  },
  ServerStoreCheck("aStoreThatIsMadeHasTheHandlersThatAreForIt") { bench in
    let (stores, names) = (bench.stores, HandlerNames.path)
    guard let path = StorePath("/ann/orders"), let other = StorePath("/bob/orders"), let orders = PathPattern("/*/orders"),
      let shared = PathPattern("/shared/*"), let all = PathPattern("/*")
    else { throw ServerStoreFailure(description: "no paths") }
    try await stores.makeStore(names)
    // The registration of the last one was cut short.
    let cursors = [
      HandlerNames.pattern(orders, of: "billing"), HandlerNames.known("billing"), HandlerNames.pattern(shared, of: "mail"),
      HandlerNames.known("mail"), HandlerNames.pattern(all, of: "half"),
    ]
    for cursor in cursors { _ = try await stores.claim(names, handler: cursor, fromStart: true, until: 0, at: 0) }
    try await stores.makeStore(path)
    try bench.expect(await stores.handlers(path), ["billing": HandlerStanding(cursor: .zero, leaseEnd: .min)])
    _ = try await stores.bind(path, Bench.ann, secret: [1], user: "ann", at: Bench.now)
    _ = try await stores.commit(path, Bench.ann, [Bench.creation(Bench.ann, 1, of: 1)], refusalSeen: .zero, at: Bench.now) { _ in nil }
    try bench.expect(await stores.past(path, at: .zero).states.count, 1)
    // It keeps its log for a handler that has never run there.
    try bench.expect(await stores.purge(path, expiry: .max), nil)
    try await stores.truncateLog(path, through: Seq(1))
    try bench.expect(await stores.changes(path, for: Bench.bob, after: .zero, limitBytes: 1 << 20).entries.count, 1)
    let lease = try await stores.claim(path, handler: "billing", fromStart: false, until: 200_000, at: 100_000)
    try bench.expect(lease?.cursor, .zero)
    try bench.expect(lease?.isNew, false)
    // Leases of a store that was there before are not good here.
    try bench.expect(lease?.fence, 101)
    try bench.expect(await stores.removeHandler("billing", from: nil, at: 300_000), .removed(stores: 1))
    try await stores.makeStore(other)
    try bench.expect(await stores.handlers(other), [:])
    try bench.expect(HandlerNames.patterns(of: "billing", in: await stores.handlers(names).keys), [])
  },
]
