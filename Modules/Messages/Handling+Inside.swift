import Foundation
import Vivarium

extension Handling {
  func dealInside(_ store: Store, _ body: (M, Store) throws -> Void) throws {
    guard try hasWork(store) else { return }
    try announce(store)
    var begun = begun
    let found: Bool = try store.write {
      guard let next = try next(store) else { return false }
      if next.message._$key <= carefulUpTo, begun != next.receipt.id {
        // What this message does may be the end of the process: first say that it was begun.
        begin(next)
        begun = next.receipt.id
        return true
      }
      if begun == next.receipt.id { begun = nil } else { next.receipt.attempts += 1 }
      do {
        try store.savepoint { try body(next.message, store) }
        finish(next, store)
      } catch {
        postpone(next, error)
      }
      try trim(store)
      return true
    }
    self.begun = begun
    if found { schedule() }
  }

  private func begin(_ next: Found) {
    if next.receipt.attempts >= rules.attemptsMax {
      postpone(next, StoreError.attemptsExhausted(next.receipt.attempts))
    } else {
      next.receipt.attempts += 1
    }
  }

  func finish(_ next: Found, _ store: Store) {
    next.receipt.state = .done
    next.receipt.lastError = nil
    if !next.message.isInvalidated, next.message.status == .notProcessed { next.message.succeed() }
  }

  func postpone(_ next: Found, _ error: any Error) {
    next.receipt.lastError = "\(error)"
    if next.receipt.attempts >= rules.attemptsMax {
      next.receipt.state = .dead
      next.message.fail(message: "\(error)")
      return
    }
    next.receipt.state = .open
    let time = Date().addingTimeInterval(rules.retryDelay(next.receipt.attempts).seconds)
    next.receipt.notBefore = time
    wake(at: time)
  }
}
