import StorageInterface
import StoreValues
import Synchronization

@testable import ColumnStore

/// A key-value store whose next batch fails, before or after everybody can see it.
final class RefusingStore: StoreInFront {
  enum Refusal { case none, before, after }

  let base: any KeyValueStore
  private let refusal = Mutex(Refusal.none)

  init(_ base: any KeyValueStore) { self.base = base }

  func refuse(_ refusal: Refusal) { self.refusal.withLock { $0 = refusal } }

  func acquireWriter(_ deadline: Deadline) throws(StorageError) -> any KeyValueWriter {
    WriterInFront(try base.acquireWriter(deadline)) { [self] batch, durability, base throws(StorageError) in
      let now = refusal.withLock { refusal in
        defer { refusal = .none }
        return refusal
      }
      if now != .before { try base.apply(batch, durability) }
      if now != .none { throw StorageError(.io, .transaction, "The batch was refused.", remedy: "Try again.") }
    }
  }
}
