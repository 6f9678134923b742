import SyncModel
import SyncProtocol
import SyncServer

/// A replica as handlers have.
private let handler = ReplicaID(1 << 63 | 1)

let handlerChecks: [ServerStoreCheck] = [
  ServerStoreCheck("oneHolderAtATimeWorksForAHandler") { bench in
    try await bench.bindBoth()
    for number in 1...2 { _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, UInt64(number), of: Int64(number))]) }
    let first = try await bench.stores.claim(Bench.path, handler: "mail", fromStart: true, until: 200, at: 100)
    let history = try await bench.changes(Bench.ann).history
    try bench.expect(first, HandlerLease(handler: "mail", cursor: .zero, fence: 1, history: history, isNew: true))
    try bench.expect(await bench.stores.claim(Bench.path, handler: "mail", fromStart: true, until: 300, at: 199), nil)
    let second = try await bench.stores.claim(Bench.path, handler: "mail", fromStart: true, until: 400, at: 200)
    try bench.expect(second, HandlerLease(handler: "mail", cursor: .zero, fence: 2, history: history, isNew: false))
    guard let first, let second else { return }
    try await bench.expectError(.leaseLost) {
      _ = try await bench.stores.advance(Bench.path, first, to: Seq(1), writing: [], at: 150)
    }
    _ = try await bench.stores.advance(Bench.path, second, to: Seq(1), writing: [], at: 250)
    let third = try await bench.stores.claim(Bench.path, handler: "mail", fromStart: true, until: 500, at: 400)
    try bench.expect(third?.cursor, Seq(1))
    try bench.expect(await bench.stores.claim(Bench.path, handler: "log", fromStart: false, until: 500, at: 400)?.cursor, Seq(2))
  },
  ServerStoreCheck("whatAHandlerWritesAndItsCursorAreOne") { bench in
    try await bench.bindBoth()
    _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 1, of: 1)])
    guard let lease = try await bench.stores.claim(Bench.path, handler: "mail", fromStart: true, until: 200, at: 100),
      case .changeset(let written) = Bench.creation(handler, 1, of: 5)
    else { throw ServerStoreFailure(description: "no lease") }
    try await bench.expectError(.leaseLost) {
      _ = try await bench.stores.advance(Bench.path, lease, to: Seq(1), writing: [written], at: 200)
    }
    try bench.expect(await bench.head(), Seq(1))
    try bench.expect(
      await bench.stores.advance(Bench.path, lease, to: Seq(1), writing: [written], at: 150), [Seq(2)])
    try bench.expect(await bench.changes(Bench.bob, after: Seq(1)).entries.map(\.seq), [Seq(2)])
  },
  ServerStoreCheck("aHandlerWhoseAnswerWasLostAsksAgainAndNothingIsThereTwice") { bench in
    try await bench.bindBoth()
    _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 1, of: 1)])
    guard let lease = try await bench.stores.claim(Bench.path, handler: "mail", fromStart: true, until: 200, at: 100),
      case .changeset(let first) = Bench.creation(handler, 1, of: 5, isContinued: true),
      case .changeset(let second) = Bench.creation(handler, 2, of: 6), case .changeset(let next) = Bench.creation(handler, 3, of: 7)
    else { throw ServerStoreFailure(description: "no lease") }
    let written = [first, second]
    try bench.expect(await bench.stores.advance(Bench.path, lease, to: Seq(1), writing: written, at: 150), [Seq(2), Seq(3)])
    _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 2, of: 2)])
    try bench.expect(await bench.stores.advance(Bench.path, lease, to: Seq(1), writing: written, at: 150), [])
    try bench.expect(await bench.head(), Seq(4))
    // A part of it, and another change under its number, were never written.
    try await bench.expectError(.writesRefused) {
      _ = try await bench.stores.advance(Bench.path, lease, to: Seq(1), writing: [first], at: 150)
    }
    guard case .changeset(let other) = Bench.creation(handler, 2, of: 6, milliseconds: 2_000) else { return }
    try await bench.expectError(.writesRefused) {
      _ = try await bench.stores.advance(Bench.path, lease, to: Seq(1), writing: [first, other], at: 150)
    }
    try bench.expect(await bench.stores.advance(Bench.path, lease, to: Seq(4), writing: [next], at: 150), [Seq(5)])
  },
  ServerStoreCheck("aHandlerWhoseWritesAreNotTakenInStaysWhereItIs") { bench in
    try await bench.bindBoth()
    _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 1, of: 1)])
    guard let lease = try await bench.stores.claim(Bench.path, handler: "mail", fromStart: true, until: 200, at: 100),
      case .changeset(let first) = Bench.creation(handler, 1, of: 5), case .changeset(let late) = Bench.creation(handler, 3, of: 6)
    else { throw ServerStoreFailure(description: "no lease") }
    // The first alone could be taken in: nothing is, and the event comes again.
    try await bench.expectError(.writesRefused) {
      _ = try await bench.stores.advance(Bench.path, lease, to: Seq(1), writing: [first, late], at: 150)
    }
    try bench.expect(await bench.head(), Seq(1))
    let again = try await bench.stores.claim(Bench.path, handler: "mail", fromStart: true, until: 400, at: 200)
    try bench.expect(again?.cursor, .zero)
    guard let again else { return }
    try bench.expect(await bench.stores.advance(Bench.path, again, to: Seq(1), writing: [first], at: 250), [Seq(2)])
  },
  ServerStoreCheck("aHandlersReplicaIsNoClientsAndIsNotForgotten") { bench in
    try await bench.bindBoth()
    try await bench.expectError(.replicaTaken) { _ = try await bench.bind(handler) }
    _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 1, of: 1)])
    guard let lease = try await bench.stores.claim(Bench.path, handler: "mail", fromStart: true, until: .max, at: 0),
      case .changeset(let first) = Bench.creation(handler, 1, of: 5, base: 1),
      case .changeset(let second) = Bench.creation(handler, 2, of: 6, base: 4)
    else { throw ServerStoreFailure(description: "no lease") }
    _ = try await bench.stores.advance(Bench.path, lease, to: Seq(1), writing: [first], at: 10)
    try await bench.expectError(.replicaTaken) {
      _ = try await bench.stores.bind(Bench.path, handler, secret: [], user: "mail", at: Bench.now)
    }
    for replica in [Bench.ann, Bench.bob] { try await bench.acknowledge(replica, 2) }
    // What it may still act against is what it has not dealt with.
    try bench.expect(await bench.stores.purge(Bench.path, expiry: 100)?.stable, Seq(1))
    try bench.expect(await bench.stores.advance(Bench.path, lease, to: Seq(2), writing: [], at: 20), [])
    try bench.expect(await bench.stores.purge(Bench.path, expiry: 100)?.stable, Seq(2))
    try bench.expect(await bench.stores.advance(Bench.path, lease, to: Seq(4), writing: [second], at: 30), [Seq(5)])
  },
  ServerStoreCheck("aLogIsKeptForHandlersThatNeedIt") { bench in
    try await bench.bindBoth()
    for number in 1...4 { _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, UInt64(number), of: Int64(number))]) }
    guard let lease = try await bench.stores.claim(Bench.path, handler: "mail", fromStart: true, until: 200, at: 100) else { return }
    _ = try await bench.stores.advance(Bench.path, lease, to: Seq(2), writing: [], at: 100)
    try await bench.stores.truncateLog(Bench.path, through: Seq(4))
    try bench.expect(await bench.changes(Bench.bob, after: Seq(2)).entries.map(\.seq), [Seq(3), Seq(4)])
  },
  ServerStoreCheck("aLeaseLastsLongerOnlyForItsHolder") { bench in
    guard let first = try await bench.stores.claim(Bench.path, handler: "mail", fromStart: true, until: 200, at: 100) else { return }
    try await bench.stores.renew(Bench.path, first, until: 400, at: 199)
    try bench.expect(await bench.stores.claim(Bench.path, handler: "mail", fromStart: true, until: 500, at: 399), nil)
    // Given back, it is anybody's.
    try await bench.stores.renew(Bench.path, first, until: 350, at: 350)
    let second = try await bench.stores.claim(Bench.path, handler: "mail", fromStart: true, until: 500, at: 350)
    try bench.expect(second?.fence, 2)
    try await bench.expectError(.leaseLost) { try await bench.stores.renew(Bench.path, first, until: 900, at: 360) }
  },
  ServerStoreCheck("howFarAHandlerIsAndUntilWhenSomebodyHasItIsTold") { bench in
    try await bench.bindBoth()
    _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 1, of: 1)])
    guard let lease = try await bench.stores.claim(Bench.path, handler: "mail", fromStart: true, until: 200, at: 100) else { return }
    _ = try await bench.stores.claim(Bench.path, handler: "log", fromStart: false, until: 100, at: 100)
    _ = try await bench.stores.advance(Bench.path, lease, to: Seq(1), writing: [], at: 100)
    try await bench.stores.renew(Bench.path, lease, until: 400, at: 150)
    try bench.expect(
      await bench.stores.handlers(Bench.path),
      ["mail": HandlerStanding(cursor: Seq(1), leaseEnd: 400), "log": HandlerStanding(cursor: Seq(1), leaseEnd: 100)])
  },
  ServerStoreCheck("howObjectsWereIsKeptForHandlers") { bench in
    try await bench.bindBoth()
    _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 1, of: 1)])
    guard let lease = try await bench.stores.claim(Bench.path, handler: "mail", fromStart: false, until: .max, at: 100) else { return }
    let old = try await bench.stores.objects(Bench.path, changedAfter: .zero, behind: nil, limitBytes: .max).objects
    try bench.expect(await bench.stores.past(Bench.path, at: lease.cursor), StorePast(asOf: lease.cursor, states: [:]))
    // Twice, and a new one beside it: of each it is how it was before all of that.
    _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 2, of: 1)])
    _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 3, of: 2, isContinued: true), Bench.creation(Bench.ann, 4, of: 1)])
    let states = try await bench.stores.past(Bench.path, at: lease.cursor).states
    try bench.expect(Set(states.keys), [Bench.thing(1), Bench.thing(2)])
    try bench.expect(states[Bench.thing(1)] ?? nil, old.first?.state)
    try bench.expect(states[Bench.thing(2)] ?? nil, nil)
    // Behind the second one only the rest counts.
    _ = try await bench.stores.advance(Bench.path, lease, to: Seq(2), writing: [], at: 100)
    let later = try await bench.stores.past(Bench.path, at: Seq(2))
    try bench.expect(later.asOf, Seq(2))
    try bench.expect((later.states[Bench.thing(1)] ?? nil)?.record.lastSeq, Seq(2))
  },
  ServerStoreCheck("howObjectsWereBeforeAnyHandlerIsNotKnown") { bench in
    try await bench.bindBoth()
    _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 1, of: 1)])
    try await bench.expectError(.logTruncated) { _ = try await bench.stores.past(Bench.path, at: .zero) }
    _ = try await bench.stores.claim(Bench.path, handler: "mail", fromStart: true, until: 200, at: 100)
    _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 2, of: 1)])
    try await bench.expectError(.logTruncated) { _ = try await bench.stores.past(Bench.path, at: .zero) }
    try bench.expect(await bench.stores.past(Bench.path, at: Seq(1)).states.count, 1)
  },
  ServerStoreCheck("aHandlerHoldsBackWhatIsForgottenUntilItIsRemoved") { bench in
    try await bench.bindBoth()
    _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 1, of: 1)])
    _ = try await bench.stores.claim(Bench.path, handler: "mail", fromStart: true, until: 200, at: 100)
    for replica in [Bench.ann, Bench.bob] { try await bench.acknowledge(replica, 1) }
    try bench.expect(await bench.stores.purge(Bench.path, expiry: 0), nil)
    try bench.expect(await bench.stores.handlers(Bench.path), ["mail": HandlerStanding(cursor: .zero, leaseEnd: 200)])
    try await bench.stores.removeHandler(Bench.path, "mail")
    try bench.expect(await bench.stores.handlers(Bench.path), [:])
    try await bench.stores.removeHandler(Bench.path, "nobody")
    try bench.expect(await bench.stores.purge(Bench.path, expiry: 0)?.stable, Seq(1))
    // Who comes back under the name is a new one.
    try bench.expect(await bench.stores.claim(Bench.path, handler: "mail", fromStart: false, until: 200, at: 100)?.cursor, Seq(2))
  },
  ServerStoreCheck("aHolderThatBeginsWithAnEmptyMemoryWritesAsAnotherReplica") { bench in
    try await bench.bindBoth()
    _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 1, of: 1)])
    guard let lease = try await bench.stores.claim(Bench.path, handler: "mail", fromStart: true, until: .max, at: 0),
      case .changeset(let first) = Bench.creation(handler, 1, of: 5),
      case .changeset(let other) = Bench.creation(ReplicaID(1 << 63 | 2), 1, of: 6)
    else { throw ServerStoreFailure(description: "no lease") }
    _ = try await bench.stores.advance(Bench.path, lease, to: Seq(1), writing: [first], at: 10)
    try bench.expect(await bench.stores.advance(Bench.path, lease, to: Seq(2), writing: [other], at: 20), [Seq(3)])
    // The first one has nothing more to say, and holds nothing back.
    for replica in [Bench.ann, Bench.bob] { try await bench.acknowledge(replica, 3) }
    _ = try await bench.stores.advance(Bench.path, lease, to: Seq(3), writing: [], at: 30)
    try bench.expect(await bench.stores.purge(Bench.path, expiry: 0)?.stable, Seq(3))
  },
  ServerStoreCheck("nothingIsKnownOfAReplicaAsWhichNoHandlerWritesAnyMore") { bench in
    try await bench.bindBoth()
    let stores = bench.stores
    for (name, cursor) in [("mail", Seq(0)), ("log", Seq(1))] {
      guard let lease = try await stores.claim(Bench.path, handler: name, fromStart: false, until: .max, at: 0),
        case .changeset(let first) = Bench.creation(handler, 1, of: 5)
      else { throw ServerStoreFailure(description: "no lease") }
      // Its first change, also where a handler of another name wrote as it.
      try bench.expect(await stores.advance(Bench.path, lease, to: cursor, writing: [first], at: 10), [Seq(cursor.rawValue + 1)])
      try await stores.removeHandler(Bench.path, name)
      try await bench.expectError(.replicaTaken) { _ = try await bench.bind(handler) }
    }
  },
  ServerStoreCheck("aHandlerThatWasRemovedIsNotMadeAnewByWhoHadIt") { bench in
    try await bench.bindBoth()
    _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 1, of: 1)])
    let (stores, history) = (bench.stores, try await bench.changes(Bench.ann).history)
    func claim(_ history: [UInt8]?, at time: Int64) async throws -> HandlerLease? {
      try await stores.claim(Bench.path, handler: "mail", heldIn: history, fromStart: true, until: time + 100_000, at: time)
    }
    guard let first = try await claim(nil, at: 100_000) else { throw ServerStoreFailure(description: "no lease") }
    try await stores.removeHandler(Bench.path, "mail")
    try await bench.expectError(.leaseLost) {
      _ = try await stores.advance(Bench.path, first, to: Seq(1), writing: [], at: 150_000)
    }
    try await bench.expectError(.handlerRemoved) { _ = try await claim(history, at: 200_000) }
    try bench.expect(await stores.handlers(Bench.path).isEmpty, true)
    // Somebody who had it never, or at another store of the path, makes it; and then it is there for all.
    guard let second = try await claim([UInt8](repeating: 7, count: 16), at: 201_000) else {
      throw ServerStoreFailure(description: "no new lease")
    }
    try bench.expect(second.cursor, .zero)
    try bench.expect(second.isNew, true)
    try await bench.expectError(.leaseLost) {
      _ = try await stores.advance(Bench.path, first, to: Seq(1), writing: [], at: 202_000)
    }
    _ = try await stores.advance(Bench.path, second, to: Seq(1), writing: [], at: 203_000)
    try bench.expect(await claim(history, at: 400_000)?.cursor, Seq(1))
  },
  ServerStoreCheck("whoListensIsToldWhichStoreHasSomethingNew") { bench in
    await bench.stores.follow(Bench.path)
    try await bench.bindBoth()
    var wakeups = await bench.stores.wakeups().makeAsyncIterator()
    _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, 1, of: 1)])
    try bench.expect(await wakeups.next(), Bench.path)
  },
  ServerStoreCheck("whatWasBeforeAnEntryIsForgottenOnceEveryHandlerHasPassedIt") { bench in
    try await bench.bindBoth()
    let stores = bench.stores
    func claim(_ name: String) async throws -> HandlerLease {
      guard let lease = try await stores.claim(Bench.path, handler: name, fromStart: true, until: .max, at: 0) else {
        throw ServerStoreFailure(description: "no lease of \(name)")
      }
      return lease
    }
    let (mail, log) = (try await claim("mail"), try await claim("log"))
    for number in 1...6 { _ = try await bench.commit(Bench.ann, [Bench.creation(Bench.ann, UInt64(number), of: Int64(number))]) }
    _ = try await stores.advance(Bench.path, mail, to: Seq(5), writing: [], at: 1)
    try bench.expect(await stores.past(Bench.path, at: .zero).states.count, 6, "the other one is behind")
    _ = try await stores.advance(Bench.path, log, to: Seq(3), writing: [], at: 1)
    try await bench.expectError(.logTruncated) { _ = try await stores.past(Bench.path, at: .zero) }
    try bench.expect(await stores.past(Bench.path, at: Seq(3)).states.count, 3)
    _ = try await stores.advance(Bench.path, log, to: Seq(6), writing: [], at: 1)
    try await bench.expectError(.logTruncated) { _ = try await stores.past(Bench.path, at: Seq(3)) }
    try bench.expect(await stores.past(Bench.path, at: Seq(5)).states.count, 1)
  },
]
