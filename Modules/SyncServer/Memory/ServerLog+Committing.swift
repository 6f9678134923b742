import SyncModel
import SyncProtocol

extension ServerLog {
  package mutating func commit(
    _ id: ReplicaID, _ uploads: [Upload], refusalSeen: Seq, at time: Int64, judge: UploadJudge
  ) throws(ServerStoreError) -> [UploadOutcome] {
    var replica = try replica(id)
    replica.seenAt = max(replica.seenAt, time)
    replica.refusalSeen = max(replica.refusalSeen, min(refusalSeen, head))
    var outcomes: [UploadOutcome] = []
    var rest = uploads[...]
    while !rest.isEmpty {
      let count = (rest.firstIndex { !$0.isContinued } ?? rest.endIndex - 1) - rest.startIndex + 1
      let group = rest.prefix(count)
      rest = rest.dropFirst(count)
      let taken = take(Array(group), id, &replica, at: time, judge)
      outcomes += taken
      // What follows is the fork's too: were it taken, its author would find it in the log, and think the same of what is before it.
      if taken.contains(.forked) {
        outcomes += rest.map { _ in .forked }
        break
      }
    }
    set(replica, id)
    return outcomes
  }

  /// Commits one transaction of a replica.
  private mutating func take(
    _ group: [Upload], _ id: ReplicaID, _ replica: inout Replica, at time: Int64, _ judge: UploadJudge
  ) -> [UploadOutcome] {
    guard let first = group.first else { return [] }
    switch replica.gate.admit(first.clientSeq, refusalSeen: replica.refusalSeen) {
    case .duplicate:
      let (answered, stamp) = (replica.gate.answered, replica.judgedStamp)
      return group.map { upload in
        if upload.clientSeq > answered { return .gap(expected: answered + 1) }
        guard upload.clientSeq == answered, case .changeset(let changeset) = upload, changeset.author == id else { return .duplicate }
        return changeset.first == stamp || stamp == .zero ? .duplicate : .forked
      }
    case .behindRefusal: return group.map { _ in .behindRefusal }
    case .gap(let expected): return group.map { _ in .gap(expected: expected) }
    case .next: break
    }
    for (offset, upload) in group.enumerated() where upload.clientSeq != first.clientSeq &+ UInt64(offset) {
      return group.map { _ in .gap(expected: first.clientSeq &+ UInt64(offset)) }
    }
    if group.last?.isContinued == true { return group.map { _ in .incomplete } }
    let changesets = group.compactMap { upload in if case .changeset(let changeset) = upload { changeset } else { nil } }
    // A void replaces a changeset that will not come.
    guard changesets.count == group.count else {
      return refuse(group, Verdict(.unknownReference, "It built on a change that was refused."), id, &replica)
    }
    guard changesets.allSatisfy({ $0.author == id && $0.operations.allSatisfy(\.isWellFormed) }) else {
      return refuse(group, Verdict(.invalidChange, "It is not what its author could have made."), id, &replica)
    }
    if changesets.contains(where: { isSkewed($0, at: time) || isForgotten($0) }) { return group.map { _ in .skewed } }
    // The trial's state ends with the call: held twice, the state would be copied when it is changed.
    switch attempt(changesets, user: replica.user, judge) {
    case .refused(let verdict): return refuse(group, verdict, id, &replica)
    case .stands(let objects, let result): return adopt(objects, result, changesets, &replica).map { .accepted($0) }
    }
  }

  /// Commits the result of a successful attempt; returns the numbers of the new entries.
  mutating func adopt(
    _ objects: Set<ObjectIdentity>, _ result: MemoryState, _ changesets: [Changeset], _ replica: inout Replica
  ) -> [Seq] {
    let before = keepBefore(objects)
    for object in objects {
      state.adopt(object, from: result)
      if state.record(of: object) != nil { order.insert(object) } else { noteEnd(of: object) }
    }
    touched.objects.formUnion(objects)
    return accept(changesets, before: before, &replica)
  }

  /// What a transaction makes of the objects it touches; a verdict if it names something unknown, or the judge refuses it.
  func attempt(_ changesets: [Changeset], user: String, _ judge: UploadJudge) -> Attempt {
    var trial = TrialState(state)
    for (offset, changeset) in changesets.enumerated() {
      let seq = Seq(next.rawValue + UInt64(offset))
      for (index, operation) in changeset.operations.enumerated() {
        if let unknown = Merge.unknownReference(in: operation, to: trial) {
          return .refused(Verdict(.unknownReference, "\(unknown)"))
        }
        _ = Merge.apply(operation, at: changeset.stamp(of: index), seq: seq, to: &trial)
      }
    }
    let (before, after) = (state, trial)
    let verdict = judge(
      UploadCase(
        user: user, changesets: changesets,
        read: { object, isAfter in isAfter ? Merge.objectState(of: object, in: after) : Merge.objectState(of: object, in: before) },
        record: { object, isAfter in isAfter ? after.record(of: object) : before.record(of: object) }))
    return verdict.map { .refused($0) } ?? .stands(trial.touched, trial.own)
  }

  enum Attempt {
    case stands(Set<ObjectIdentity>, MemoryState)
    case refused(Verdict)
  }

  private mutating func accept(_ changesets: [Changeset], before: [ObjectBefore]?, _ replica: inout Replica) -> [Seq] {
    changesets.enumerated().map { index, changeset in
      let sent = changeset.keepingEncoded()
      append(
        .changeset(sent, user: replica.user), bytes: sent.encoded().count + replica.user.utf8.count,
        before: index == 0 ? before : before.map { _ in [] })
      stamps.append((head, changeset.last))
      latest = max(latest, changeset.last)
      replica.gate.accept(changeset.clientSeq)
      replica.judgedStamp = changeset.first
      return head
    }
  }

  /// Refuses a transaction. How an object is comes with the first of its changesets that touches the object, and with no other: the author
  /// gives up the whole transaction with its first refusal. So a transaction of any number of changesets costs each object once.
  private mutating func refuse(_ group: [Upload], _ verdict: Verdict, _ id: ReplicaID, _ replica: inout Replica) -> [UploadOutcome] {
    let textBytes = min(ServerLog.refusalTextBytes, ServerLog.refusalBytes / max(1, group.count))
    let verdict = Verdict(verdict.code, String(decoding: verdict.text.utf8.prefix(textBytes), as: UTF8.self))
    var told: Set<ObjectIdentity> = []
    return group.map { upload in
      let (objects, stamp): (Set<ObjectIdentity>, Stamp) =
        switch upload {
        case .changeset(let changeset): (changeset.objects, changeset.first)
        case .void(_, let objects): (Set(objects), .zero)
        }
      defer { told.formUnion(objects) }
      return refuse(upload.clientSeq, objects.subtracting(told), verdict, id, &replica, at: stamp)
    }
  }

  /// The most bytes of objects in one entry of a refusal, unless a single object has more. What a refused change has touched may be as
  /// large as the store, and an entry must fit into a message.
  package static let refusalBytes = 1 << 20
  /// The most bytes of a refusal's text. The texts of all changesets of a transaction have `refusalBytes` together.
  package static let refusalTextBytes = 4 << 10

  /// Refuses a changeset, in as many entries as its objects take: the author has seen the refusal once it has the last of them.
  private mutating func refuse(
    _ clientSeq: UInt64, _ objects: Set<ObjectIdentity>, _ verdict: Verdict, _ id: ReplicaID, _ replica: inout Replica, at stamp: Stamp
  ) -> UploadOutcome {
    let text = verdict.text
    var states: [ObjectIdentity: ObjectState?] = [:]
    var bytes = text.utf8.count
    func write() {
      append(.refusal(id, Refusal(clientSeq: clientSeq, seq: next, states: states), verdict.code, text), bytes: bytes)
      (states, bytes) = ([:], text.utf8.count)
    }
    for object in objects.sorted() {
      let state = Merge.objectState(of: object, in: state)
      let size = 32 + (state?.encoded().count ?? 0)
      if !states.isEmpty, bytes + size > ServerLog.refusalBytes { write() }
      states.updateValue(state, forKey: object)
      bytes += size
    }
    write()
    replica.gate.refuse(clientSeq, at: head)
    replica.refusals.append((head, clientSeq))
    replica.judgedStamp = stamp
    return .refused(head, verdict.code)
  }

  /// Whether a changeset is dated before what everybody has forgotten. Only who was not known at the purge can have such: a device that
  /// wrote before it ever joined. What its changes would lose against is gone, and epochs that it makes would be taken for forgotten ones.
  private func isForgotten(_ changeset: Changeset) -> Bool { !changeset.operations.isEmpty && changeset.first <= state.floor }

  /// How far behind the latest stamp of the log another one may follow it, wherever the server's clock is: what sixteen million operations
  /// take, so that whoever has seen the latest one can write, and nobody gets far ahead of the others by this.
  private static let following: UInt64 = 1 << 24

  /// Whether a stamp of the changeset, or one that it names, is too far ahead of the server's clock, and of what the log has. If that clock
  /// was ahead for a while, the log has stamps from then, and everyone's later ones follow them.
  func isSkewed(_ changeset: Changeset, at time: Int64) -> Bool {
    let clock = HybridClock(replica: changeset.author)
    let (last, isPast) = latest.time.addingReportingOverflow(ServerLog.following)
    func isAhead(_ stamp: Stamp) -> Bool {
      if !isPast, stamp.time <= last { return false }
      do throws(ClockError) {
        try clock.check(stamp, wall: time)
        return false
      } catch { return true }
    }
    // Both ends are checked, because stamps wrap at the end of time.
    var isSkewed = isAhead(changeset.first) || isAhead(changeset.last)
    changeset.forEachNamedStamp { isSkewed = isSkewed || isAhead($0) }
    return isSkewed
  }
}
