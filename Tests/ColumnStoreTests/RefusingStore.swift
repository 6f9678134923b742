import StorageInterface
import StoreValues
import Synchronization

@testable import ColumnStore

/// A key-value store whose next batch fails, before or after everybody can see it.
final class RefusingStore: StoreInFront {
  enum Refusal { case none, before, after }

  let base: any KeyValueStore
  fileprivate let refusal = Mutex(Refusal.none)

  init(_ base: any KeyValueStore) { self.base = base }

  func refuse(_ refusal: Refusal) { self.refusal.withLock { $0 = refusal } }

  func acquireWriter(_ deadline: Deadline) throws(StorageError) -> any KeyValueWriter {
    RefusingWriter(try base.acquireWriter(deadline), self)
  }
}

private final class RefusingWriter: KeyValueWriter {
  private let base: any KeyValueWriter
  private let store: RefusingStore

  init(_ base: any KeyValueWriter, _ store: RefusingStore) {
    self.base = base
    self.store = store
  }

  func end() { base.end() }

  func apply(_ batch: consuming KeyValueBatch, _ durability: Durability) throws(StorageError) {
    let refusal = store.refusal.withLock { refusal in
      defer { refusal = .none }
      return refusal
    }
    if refusal != .before { try base.apply(batch, durability) }
    if refusal != .none { throw StorageError(.io, .transaction, "The batch was refused.", remedy: "Try again.") }
  }
}
