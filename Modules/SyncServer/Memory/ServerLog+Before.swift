import SyncModel
import SyncProtocol

// Event handlers see the store as of their cursor, wherever its head is by then. While a store has handlers, it has checkpoints: entries
// as of which all objects can be told. From a checkpoint on, each transaction stores the previous states of the objects that none since
// the checkpoint has touched, and each purge those of the objects whose epochs it has forgotten. A handler begins at the last checkpoint
// that is not behind its cursor, and takes in the entries from there.

extension ServerLog {
  package var keepsBefore: Bool { isHandled || !handlers.isEmpty }

  /// Begins a checkpoint at the head, before a transaction or a purge, if that costs no more than it saves.
  mutating func beginCheckpointIfDue() {
    if !keepsBefore { checkpoint = nil } else if checkpoint?.isDue ?? true { checkpoint = Checkpoint(at: head) }
  }

  /// How some objects are that a transaction is about to touch, without those whose states the checkpoint has; nil without handlers.
  mutating func keepBefore(_ touched: Set<ObjectIdentity>) -> [ObjectBefore]? {
    beginCheckpointIfDue()
    if checkpoint == nil { return nil }
    let new = touched.filter { checkpoint?.objects.contains($0) == false }
    let before = new.sorted().map { ObjectBefore($0, Merge.objectState(of: $0, in: state)) }
    checkpoint?.keep(before)
    return before
  }

  /// Where a handler begins that has processed the entries up to a number: the last checkpoint up to there, or that number.
  package func start(for cursor: Seq) -> Seq {
    if cursor >= head { return checkpoint?.seq ?? cursor }
    if cursor < base { return checkpoints[cursor] ?? cursor }
    return log[Int(cursor.rawValue - base.rawValue)].checkpoint ?? cursor
  }

  /// The entry from which on loaded handlers need the log; the head if there are none.
  package var heldFrom: Seq { handlers.isEmpty ? head : start(for: lowestCursor) }

  /// Forgets the previous states of entries that no handler begins with any more, after one has moved on from a number, or was removed
  /// there. O(those entries).
  ///
  /// What is not needed any more must not wait until the log is truncated: an object with a long list is stored with all of it.
  ///
  /// A part of the log may not have all handlers: who stores it finds out himself how far they are (`TouchedLogRows.forgottenFrom`).
  mutating func forgetBefore(after passed: Seq) {
    let start = start(for: passed)
    if isPart {
      touched.forgottenFrom = min(touched.forgottenFrom ?? start, start)
      return
    }
    let isRead = lowestCursor == head
    let end = isRead ? head : heldFrom
    let passed = max(start, base).rawValue..<max(start, base, end).rawValue
    for number in passed {
      log[Int(number - base.rawValue)].before = nil
      log[Int(number - base.rawValue)].checkpoint = nil
    }
    touched.forget(passed.lowerBound + 1..<passed.upperBound + 1)
    // All handlers have all entries: the next one is a new beginning.
    if isRead { checkpoint = nil }
  }

  /// The states as of the last checkpoint up to an entry, of all objects that a later one touched, or whose epoch a later purge has
  /// forgotten. O(those objects).
  package func past(at seq: Seq) throws(ServerStoreError) -> StorePast {
    try checkStart(seq)
    if seq >= head { return StorePast(asOf: seq, states: [:]) }
    let start = start(for: seq)
    try checkStart(start)
    var gatherer = BeforeGatherer()
    for entry in log.dropFirst(Int(start.rawValue - base.rawValue)) { try gatherer.take(entry.before, isChangeset: entry.isChangeset) }
    return StorePast(asOf: start, states: gatherer.states)
  }
}

extension ServerLog {
  /// Finds the checkpoints of a log that was stored, whose entries say only whether they begin one. O(the log).
  ///
  /// - Parameter goesOn: whether the entry at a number, which has previous states, does not begin one.
  mutating func findCheckpoints(_ goesOn: (Seq) -> Bool) {
    var isInside = false
    for (index, entry) in log.enumerated() {
      let seq = Seq(base.rawValue + UInt64(index) + 1)
      switch entry.body {
      case .refusal: break
      case .purge:
        if entry.before == nil { checkpoint = nil } else if !goesOn(seq) { checkpoint = Checkpoint(at: Seq(seq.rawValue - 1)) }
      case .changeset:
        if entry.before == nil {
          checkpoint = nil
        } else if goesOn(seq) {
          // Without its checkpoint it is not all.
          if checkpoint == nil { log[index].before = nil }
        } else if !isInside {
          checkpoint = Checkpoint(at: Seq(seq.rawValue - 1))
        }
        checkpoint?.keep(log[index].before ?? [])
      }
      isInside = entry.isContinued
      checkpoint?.note(entryOf: entry.bytes)
      log[index].checkpoint = checkpoint?.seq
    }
    guard let objects = checkpoint?.objects else { return }
    checkpoint?.objects = objects.filter { state.record(of: $0) != nil }
  }
}

extension ServerLog.Entry {
  /// Whether the entry at a number has only previous states that its checkpoint did not have yet.
  func goesOn(at seq: Seq) -> Bool { checkpoint.map { $0.rawValue + 1 < seq.rawValue } ?? false }

  fileprivate var isChangeset: Bool {
    if case .changeset = body { true } else { false }
  }
}

/// Collects, for each object, its state before the first of some entries that touched it or forgot its epoch.
package struct BeforeGatherer {
  package private(set) var states: [ObjectIdentity: ObjectState?] = [:]

  package init() {}

  /// Adds the next entry, in the order of the log.
  package mutating func take(_ before: [ObjectBefore]?, isChangeset: Bool) throws(ServerStoreError) {
    if isChangeset, before == nil {
      throw ServerStoreError(.logTruncated, "What was before an entry was not kept: nobody handled the store's events then.")
    }
    for before in before ?? [] where !states.keys.contains(before.object) {
      do throws(CodingError) { states.updateValue(try before.state(), forKey: before.object) } catch {
        throw ServerStoreError(
          .unavailable, "What \(before.object) was before an entry cannot be read: \(error.reason) at byte \(error.position).")
      }
    }
  }
}
