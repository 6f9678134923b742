import SyncModel
import Vivarium

// Beginning anew: what the app is told and asked before and after.

extension Replicator {
  /// Prepares for the server's objects. The app may look at the file as it is, and decides about pending changes if the history is another.
  func prepareReset(_ cause: SyncResetCause) {
    switch cause {
    // Pending changes only get other stamps.
    case .clock: work(.reset(cause))
    case .otherHistory where file.resetMode == .manual:
      heldReset = machine.generation
      tell(.resetNeeded)
    case .otherHistory, .objectsDiffer: beginReset(cause)
    }
  }

  private func beginReset(_ cause: SyncResetCause) {
    guard let beforeReset else { return work(.reset(cause)) }
    let (generation, shared) = (machine.generation, file.file)
    Task { [weak self] in
      do {
        let before = try shared.freeze()
        await beforeReset(before)
      } catch { await self?.failed(error, generation) }
      await self?.goOn(cause, generation)
    }
  }

  private func failed(_ error: any Error, _ generation: UInt64) { if isResetting(generation) { failed(error) } }

  private func goOn(_ cause: SyncResetCause, _ generation: UInt64) { if isResetting(generation) { work(.reset(cause)) } }

  /// Whether the session still waits for a reset. If it was stopped or has failed meanwhile, it may be live, or ask for another one.
  private func isResetting(_ generation: UInt64) -> Bool { machine.state == .resetting && machine.generation == generation }

  /// Decides about pending changes in mode `.manual`, after `SyncNotice.resetNeeded`. No effect if there was no such notice, or if the
  /// mode is `.manual`.
  public func reset(_ mode: ResetMode) {
    guard mode != .manual, let held = heldReset else { return }
    heldReset = nil
    // If the session has gone on, the decision is that for its next reset.
    file.resetMode = mode
    if isResetting(held) { beginReset(.otherHistory) }
  }

  // MARK: what came of it

  /// Notes what the file has answered. Returns what the reset has come to, once the server's objects are in the file.
  func noteReset(_ effect: SyncSessionEffect, _ event: SyncSessionEvent) -> ResetOutcome? {
    switch (effect, event) {
    case (.reset(let cause), .begunAnew(let standing)):
      // A clock that is wrong as well changes nothing about why the file takes the server's objects.
      let earlier = begunReset
      let discarded = standing.recovery?.joined(earlier?.discarded) ?? earlier?.discarded
      begunReset = (cause == .clock ? earlier?.cause ?? cause : cause, discarded)
      return nil
    case (.take, .integrated(let standing, _)):
      guard let recovery = standing.recovery else { return nil }
      let begun = begunReset
      begunReset = nil
      // After another process has begun the reset, only the file says why.
      let cause: SyncResetCause = recovery.isAsNewReplica ? .otherHistory : begun?.cause ?? .clock
      return ResetOutcome(cause, recovery.joined(begun?.discarded))
    default: return nil
    }
  }
}
