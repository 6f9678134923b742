import SyncModel
import SyncProtocol
import SyncServer

extension Bench {
  fileprivate static func change(
    _ replica: ReplicaID, _ clientSeq: UInt64, base: UInt64, milliseconds: UInt64, _ operations: SyncModel.Operation...
  ) -> Upload {
    let first = Stamp(milliseconds: milliseconds, counter: 0, replica: replica)
    return .changeset(Changeset(clientSeq: clientSeq, baseSeq: Seq(base), first: first, operations: operations))
  }

  /// Commits changes that must be accepted.
  fileprivate func accept(_ replica: ReplicaID, _ upload: Upload, as seq: UInt64) async throws {
    try expect(await commit(replica, [upload]), [.accepted(Seq(seq))])
  }

  /// The lease of a handler that begins with what comes.
  fileprivate func handler() async throws -> HandlerLease {
    guard let lease = try await stores.claim(Bench.path, handler: "mail", fromStart: false, until: .max, at: 0) else {
      throw ServerStoreFailure(description: "no lease")
    }
    return lease
  }
}

private func set(_ number: Int64, _ property: String, _ value: CellValue) -> SyncModel.Operation {
  SyncModel.Operation(Bench.thing(number), epoch: .zero, .set(Name(property), value, isDefault: false))
}

/// What a handler that was away gets of the time before a purge.
let pastChecks: [ServerStoreCheck] = [
  ServerStoreCheck("aWriteThatLostHasLostForAHandlerThatComesBackBehindAPurge") { bench in
    try await bench.bindBoth()
    try await bench.accept(Bench.ann, Bench.creation(Bench.ann, 1, of: 1), as: 1)
    let lease = try await bench.handler()
    try await bench.accept(Bench.ann, Bench.change(Bench.ann, 2, base: 1, milliseconds: 5_000, set(1, "status", .string("shipped"))), as: 2)
    _ = try await bench.stores.advance(Bench.path, lease, to: Seq(2), writing: [], at: 1)
    // Made offline before that, it loses everywhere.
    try await bench.accept(Bench.bob, Bench.change(Bench.bob, 1, base: 1, milliseconds: 3_000, set(1, "status", .string("packed"))), as: 3)
    for replica in [Bench.ann, Bench.bob] { try await bench.acknowledge(replica, 3) }
    // What Bob had not seen is not forgotten, as the handler does not have his change yet.
    try bench.expect(await bench.stores.purge(Bench.path, expiry: 0)?.stable, Seq(1))
    var beginner = try await Beginner(bench.stores, at: Seq(2))
    let shipped = "\(CellValue.string("shipped"))"
    try bench.expect(beginner.shown("status", of: 1), shipped)
    try await beginner.follow()
    try bench.expect(beginner.shown("status", of: 1), shipped)
    try bench.expect(await bench.stores.purge(Bench.path, expiry: 0), nil)
    _ = try await bench.stores.advance(Bench.path, lease, to: Seq(3), writing: [], at: 1)
    try bench.expect(await bench.stores.purge(Bench.path, expiry: 0)?.stable, Seq(3))
  },
  ServerStoreCheck("aClearedListStaysEmptyForAHandlerThatComesBackBehindAPurge") { bench in
    try await bench.bindBoth()
    func insert(_ replica: ReplicaID, milliseconds: UInt64) -> SyncModel.Operation {
      let bunch = Stamp(milliseconds: milliseconds, counter: 0, replica: replica)
      let position = ListPosition([ListPosition.Step(gap: 0, bunch: bunch)])
      return SyncModel.Operation(
        Bench.thing(1), epoch: .zero, path: [PathStep(.list("tags"), epoch: .zero)],
        .insert(ElementID(replica, 1), at: position, .string("tea")))
    }
    try await bench.accept(Bench.ann, Bench.creation(Bench.ann, 1, of: 1), as: 1)
    let lease = try await bench.handler()
    let first = Bench.change(Bench.ann, 2, base: 1, milliseconds: 2_000, insert(Bench.ann, milliseconds: 2_000))
    try await bench.accept(Bench.ann, first, as: 2)
    let clear = SyncModel.Operation(Bench.thing(1), epoch: .zero, path: [PathStep(.list("tags"), epoch: .zero)], .clear)
    try await bench.accept(Bench.ann, Bench.change(Bench.ann, 3, base: 2, milliseconds: 6_000, clear), as: 3)
    _ = try await bench.stores.advance(Bench.path, lease, to: Seq(3), writing: [], at: 1)
    let late = Bench.change(Bench.bob, 1, base: 2, milliseconds: 4_000, insert(Bench.bob, milliseconds: 4_000))
    try await bench.accept(Bench.bob, late, as: 4)
    for replica in [Bench.ann, Bench.bob] { try await bench.acknowledge(replica, 4) }
    try bench.expect(await bench.stores.purge(Bench.path, expiry: 0)?.stable, Seq(2))
    var beginner = try await Beginner(bench.stores, at: Seq(3))
    try await beginner.follow()
    try bench.expect(beginner.state.elements(of: ListPlace(object: Bench.thing(1), path: [.list("tags")])), [])
  },
  ServerStoreCheck("aLinkToWhatWasDeletedLeadsNowhereForAHandlerThatComesBackBehindAPurge") { bench in
    try await bench.bindBoth()
    for number in UInt64(1)...3 { try await bench.accept(Bench.ann, Bench.creation(Bench.ann, number, of: Int64(number)), as: number) }
    let links = (2...3).map { set(1, "to \($0)", .link(LinkTarget(Bench.thing($0)))) }
    try await bench.accept(Bench.ann, Bench.change(Bench.ann, 4, base: 3, milliseconds: 2_000, links[0], links[1]), as: 4)
    let deletions = (2...3).map { SyncModel.Operation(Bench.thing($0), epoch: .zero, .delete) }
    let deletion = Bench.change(Bench.ann, 5, base: 4, milliseconds: 3_000, deletions[0], deletions[1])
    try await bench.accept(Bench.ann, deletion, as: 5)
    // The third one is there again already.
    let epoch = Stamp(milliseconds: 3_000, counter: 1, replica: Bench.ann)
    let again = Bench.change(Bench.ann, 6, base: 5, milliseconds: 4_000, SyncModel.Operation(Bench.thing(3), epoch: epoch, .create))
    try await bench.accept(Bench.ann, again, as: 6)
    _ = try await bench.handler()
    // The links are as they were in what is kept of the time before this.
    try await bench.accept(Bench.ann, Bench.change(Bench.ann, 7, base: 6, milliseconds: 5_000, set(1, "name", .string("later"))), as: 7)
    for replica in [Bench.ann, Bench.bob] { try await bench.acknowledge(replica, 7) }
    try bench.expect(await bench.stores.purge(Bench.path, expiry: 0)?.stable, Seq(6))
    let anew = Bench.change(Bench.bob, 1, base: 8, milliseconds: 6_000, SyncModel.Operation(Bench.thing(2), epoch: .zero, .create))
    try await bench.accept(Bench.bob, anew, as: 9)
    var beginner = try await Beginner(bench.stores, at: Seq(6))
    for number in 2...3 { try bench.expect(beginner.shown("to \(number)", of: 1), "none", "before") }
    try await beginner.follow()
    for number in 2...3 { try bench.expect(beginner.shown("to \(number)", of: 1), "none", "after") }
    try bench.expect(beginner.state.record(of: Bench.thing(2))?.isAlive, true)
  },
  ServerStoreCheck("ofAnObjectThatChangesOftenFewStatesAreKept") { bench in
    try await bench.bindBoth()
    let notes = set(1, "notes", .string(String(repeating: "n", count: 4_000)))
    try await bench.accept(Bench.ann, Bench.creation(Bench.ann, 1, of: 1), as: 1)
    try await bench.accept(Bench.ann, Bench.change(Bench.ann, 2, base: 1, milliseconds: 2_000, notes), as: 2)
    let (stores, lease) = (bench.stores, try await bench.handler())
    func change(_ number: UInt64, as seq: UInt64) async throws {
      let name = set(1, "name", .string("\(number)"))
      try await bench.accept(Bench.ann, Bench.change(Bench.ann, number, base: 2, milliseconds: 2_000 + number, name), as: seq)
    }
    for number in UInt64(3)...42 { try await change(number, as: number) }
    var checkpoints: Set<Seq> = []
    for number in UInt64(2)...41 {
      let past = try await stores.past(Bench.path, at: Seq(number))
      try bench.expect(past.states.count, 1)
      checkpoints.insert(past.asOf)
      var beginner = try await Beginner(stores, at: Seq(number))
      try bench.expect(beginner.shown("name", of: 1), number == 2 ? "1.1" : "\(CellValue.string("\(number)"))")
      try await beginner.follow()
      try bench.expect(beginner.shown("name", of: 1), "\(CellValue.string("42"))")
    }
    guard (2...8).contains(checkpoints.count) else { throw ServerStoreFailure(description: "checkpoints \(checkpoints.sorted())") }
    // What is between a checkpoint and the handler is kept for it.
    guard let start = checkpoints.sorted().last(where: { $0 < Seq(40) }), start > Seq(2) else {
      throw ServerStoreFailure(description: "no checkpoint")
    }
    let cursor = Seq(start.rawValue + 1)
    _ = try await stores.advance(Bench.path, lease, to: cursor, writing: [], at: 1)
    try bench.expect(await stores.past(Bench.path, at: cursor).asOf, start)
    for replica in [Bench.ann, Bench.bob] { try await bench.acknowledge(replica, 42) }
    try bench.expect(await stores.purge(Bench.path, expiry: 0)?.stable, Seq(2), "what ann had not seen")
    try await stores.truncateLog(Bench.path, through: cursor)
    let rest = try await stores.changes(Bench.path, for: Bench.bob, after: start, limitBytes: 1 << 20).entries
    try bench.expect(rest.first?.seq.rawValue, start.rawValue + 1)
    try await bench.expectError(.logTruncated) { _ = try await stores.past(Bench.path, at: Seq(2)) }
    try bench.expect(try await Beginner(stores, at: cursor).shown("name", of: 1), "\(CellValue.string("\(cursor)"))")
    // Nothing is kept for who has everything, and what comes then is from there.
    _ = try await stores.advance(Bench.path, lease, to: Seq(43), writing: [], at: 1)
    try await change(43, as: 44)
    try bench.expect(await stores.past(Bench.path, at: Seq(43)).asOf, Seq(43))
    try await bench.expectError(.logTruncated) { _ = try await stores.past(Bench.path, at: Seq(40)) }
    // Nor when the last handler is removed: what it held back is free.
    for replica in [Bench.ann, Bench.bob] { try await bench.acknowledge(replica, 44) }
    try await stores.removeHandler(Bench.path, "mail")
    try await bench.expectError(.logTruncated) { _ = try await stores.past(Bench.path, at: Seq(43)) }
    try bench.expect(await stores.purge(Bench.path, expiry: 0)?.stable, Seq(44))
    try await stores.truncateLog(Bench.path, through: Seq(44))
    try await bench.expectError(.logTruncated) { _ = try await bench.changes(Bench.bob, after: Seq(43)) }
  },
]
