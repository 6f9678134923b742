import StoreValues
import SyncModel
import SyncProtocol
import SyncServer
import VivariumTestSupport

/// A replica in memory: what a client does with a server's store, without any transport.
struct TestReplica {
  let id: ReplicaID
  var state = MemoryState()
  var pending = PendingChangesets()
  var cursor = Seq.zero
  var refusalSeen = Seq.zero
  var history: [UInt8] = []
  var clock: HybridClock
  var clientSeq: UInt64 = 0

  init(_ id: ReplicaID) {
    self.id = id
    clock = HybridClock(replica: id)
  }

  static let objects = (1...4).map { ObjectIdentity("Thing", .int($0)) }

  /// A transaction of a few changes.
  mutating func edit(at time: Int64, _ random: inout SeededGenerator) throws {
    let first = try clock.next(4, wall: time)
    var operations: [SyncModel.Operation] = []
    for _ in 0...random.below(3) {
      let object = TestReplica.objects[random.below(TestReplica.objects.count)]
      let operation = change(of: object, &random)
      _ = Merge.apply(operation, at: first.advanced(by: operations.count), seq: .pending, to: &state)
      operations.append(operation)
    }
    clientSeq += 1
    pending.append(Changeset(clientSeq: clientSeq, baseSeq: cursor, first: first, operations: operations))
  }

  private func change(of object: ObjectIdentity, _ random: inout SeededGenerator) -> SyncModel.Operation {
    let record = state.record(of: object)
    let epoch = record?.node.guarding.epoch ?? .zero
    guard record?.isAlive == true else { return Operation(object, epoch: epoch, .create) }
    let set = PathStep(.set("tags"), epoch: record?.node.contents.sets["tags"]?.guarding.epoch ?? .zero)
    let target = TestReplica.objects[random.below(TestReplica.objects.count)]
    switch random.below(8) {
    case 0: return Operation(object, epoch: epoch, .delete)
    case 1: return Operation(object, epoch: epoch, .add("n", Int64(random.below(5))))
    case 2: return Operation(object, epoch: epoch, path: [set], .insertMember(.int(Int64(random.below(3)))))
    case 3: return Operation(object, epoch: epoch, path: [set], .eraseMember(.int(Int64(random.below(3)))))
    case 4: return Operation(object, epoch: epoch, path: [set], .clear)
    case 5:
      let link = LinkTarget(target, epoch: state.record(of: target)?.node.guarding.epoch ?? .zero)
      return Operation(object, epoch: epoch, .set("link", .link(link), isDefault: false))
    case 6 where random.oneIn(4):
      let notes = String(repeating: "n", count: 500 + random.below(2_000))
      return Operation(object, epoch: epoch, .set("notes", .string(notes), isDefault: false))
    default: return Operation(object, epoch: epoch, .set("name", .string("\(id) \(random.below(100))"), isDefault: false))
    }
  }

  /// What goes up: voids for what must not come.
  var uploads: [Upload] {
    pending.all.map { pending in
      let changeset = pending.changeset
      return pending.isVoid ? .void(clientSeq: changeset.clientSeq, objects: changeset.objects.sorted()) : .changeset(changeset)
    }
  }

  var acknowledgement: Acknowledgement {
    Acknowledgement(cursor: cursor, pendingBase: pending.baseSeq(integrated: cursor), refusalSeen: refusalSeen)
  }

  mutating func integrate(_ entry: LogEntry) {
    switch entry.body {
    case .changeset(_, let changeset):
      for index in changeset.operations.indices { clock.receive(changeset.stamp(of: index)) }
      Merge.apply(changeset, seq: entry.seq, to: &state)
    case .own(let clientSeq):
      // Nothing of it changes but its place in the log.
      if let own = pending.acknowledge(clientSeq) { Merge.apply(own, seq: entry.seq, to: &state) }
    case .refusal(let clientSeq, _, _, let states):
      refusalSeen = entry.seq
      _ = Merge.integrate(Refusal(clientSeq: clientSeq, seq: entry.seq, states: states), pending: &pending, in: &state)
    case .purge(let purge): Merge.purge(purge, in: &state)
    case .schema: break
    }
    cursor = entry.seq
  }

  /// Takes objects in place of entries: those of a difference, or all.
  mutating func take(_ pages: [StatePage], _ standing: Standing, isAll: Bool) {
    guard let first = pages.first, let last = pages.last else { return }
    var states: [ObjectIdentity: ObjectState?] = [:]
    if isAll { for object in state.records.keys { states.updateValue(nil, forKey: object) } }
    for page in pages { for object in page.objects { states.updateValue(object.state, forKey: object.identity) } }
    pending.refuse(Set(standing.refused))
    pending.settle(upTo: standing.judged)
    refusalSeen = standing.refusal
    // First what is forgotten, while the own records still say which incarnations links lead to; the server's do not any more.
    if isAll { state.setFloor(last.floor) } else { Merge.purge(Purge(stable: last.stable, floor: last.floor), in: &state) }
    _ = Merge.take(states, under: pending, in: &state)
    cursor = first.asOf
    // All that is done from now on is later than what was seen.
    clock.receive(last.latest)
  }
}
