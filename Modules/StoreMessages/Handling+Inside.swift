import Foundation
import Vivarium

extension Handling {
  func dealInside(_ store: Store, _ body: (M, Store) throws -> Void) throws {
    guard try hasWork(store) else { return }
    try announce(store)
    var begun = begun
    let turn: Turn = try store.write {
      guard let next = try next(store) else { return .nothing }
      if next.message._$key <= carefulUpTo, begun != next.receipt.id {
        // This message may kill the process: first record that it was begun.
        try begin(next, store)
        begun = next.receipt.id
        return .done
      }
      if begun == next.receipt.id { begun = nil } else { next.receipt.attempts += 1 }
      let message = next.message.reference
      if let error = try settle(next, store, { try body($0, store) }) { return .ended(message, error) }
      return .done
    }
    self.begun = begun
    if case .ended(let message, let error) = turn { try count(message, error, store) }
    if case .nothing = turn { return }
    succeeded()
    schedule()
  }

  private enum Turn {
    case nothing
    case done
    /// The work ended its own write, so its outcome could not be recorded.
    case ended(ObjectReference<M>, any Error)
  }

  /// Runs the work and records its outcome. Returns an error if the work ended the write itself: then nothing is recorded.
  func settle(_ found: Found, _ store: Store, _ effect: (M) throws -> Void) throws -> (any Error)? {
    do {
      try store.savepoint { try effect(found.message) }
      try finish(found, store)
    } catch {
      guard store.isInWriteTransaction else { return error }
      try postpone(found, error, store)
    }
    try trim(store)
    try sweep(store)
    return nil
  }

  /// Counts an attempt whose own write is gone.
  func count(_ reference: ObjectReference<M>, _ error: any Error, _ store: Store) throws {
    try store.write {
      guard let message = store.resolve(reference) else { return }
      let receipt = try receipt(of: message, store)
      // Another handler may have settled the message; then it waits for this name only if this name owes it.
      guard receipt.state != .done, receipt.state != .dead, message.status == .notProcessed || receipt.owed != "" else { return }
      receipt.attempts += 1
      try postpone(Found(message: message, receipt: receipt), error, store)
    }
  }

  private func begin(_ next: Found, _ store: Store) throws {
    if next.receipt.attempts >= rules.attemptsMax {
      try postpone(next, StoreError.attemptsExhausted(next.receipt.attempts), store)
    } else {
      next.receipt.attempts += 1
    }
  }

  private func finish(_ next: Found, _ store: Store) throws {
    if next.message.isInvalidated {
      // The work deleted the message, so its receipt is not needed any more.
      try store.delete(next.receipt)
    } else {
      next.receipt.state = .done
      next.receipt.lastError = nil
      try pass(on: next, store)
    }
  }

  func postpone(_ next: Found, _ error: any Error, _ store: Store) throws {
    next.receipt.lastError = "\(error)"
    if next.receipt.attempts >= rules.attemptsMax {
      next.receipt.state = .dead
      // Another name's answer stays.
      if next.message.status == .notProcessed { next.message.fail(message: "\(error)") }
      return try pass(on: next, store)
    }
    next.receipt.state = .open
    let time = Date().addingTimeInterval(rules.retryDelay(next.receipt.attempts).seconds)
    next.receipt.notBefore = time
    wake(at: time)
  }
}
