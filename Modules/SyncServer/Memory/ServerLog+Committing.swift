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
      outcomes += take(Array(group), id, &replica, at: time, judge)
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
    case .duplicate: return group.map { $0.clientSeq <= replica.gate.answered ? .duplicate : .gap(expected: replica.gate.answered + 1) }
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
    if changesets.contains(where: { isSkewed($0, at: time) }) { return group.map { _ in .skewed } }
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
    let before = keepsBefore ? before(objects) : nil
    for object in objects {
      state.adopt(object, from: result)
      if state.record(of: object) != nil { order.insert(object) } else { order.remove(object) }
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

  private mutating func refuse(_ group: [Upload], _ verdict: Verdict, _ id: ReplicaID, _ replica: inout Replica) -> [UploadOutcome] {
    group.map { upload in
      switch upload {
      case .changeset(let changeset):
        refuse(changeset.clientSeq, changeset.objects, verdict, id, &replica, at: changeset.first)
      case .void(let clientSeq, let objects): refuse(clientSeq, Set(objects), verdict, id, &replica, at: .zero)
      }
    }
  }

  private mutating func refuse(
    _ clientSeq: UInt64, _ objects: Set<ObjectIdentity>, _ verdict: Verdict, _ id: ReplicaID, _ replica: inout Replica, at stamp: Stamp
  ) -> UploadOutcome {
    let seq = next
    var states: [ObjectIdentity: ObjectState?] = [:]
    var bytes = verdict.text.utf8.count
    for object in objects {
      let state = Merge.objectState(of: object, in: state)
      states.updateValue(state, forKey: object)
      bytes += 32 + (state?.encoded().count ?? 0)
    }
    append(.refusal(id, Refusal(clientSeq: clientSeq, seq: seq, states: states), verdict.code, verdict.text), bytes: bytes)
    replica.gate.refuse(clientSeq, at: seq)
    replica.refusals.append((seq, clientSeq))
    replica.judgedStamp = stamp
    return .refused(seq, verdict.code)
  }

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
