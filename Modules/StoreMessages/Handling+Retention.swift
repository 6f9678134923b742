import Foundation
import Vivarium

extension Handling {
  /// Deletes handled messages and their receipts by the retention rules. Runs with each message, but checks ages at most once a
  /// minute.
  func trim(_ store: Store) throws {
    guard let retention = rules.retention else { return }
    let now = ContinuousClock.now
    var gone: Set<M> = []
    if let age = retention.age, lastAgeing.map({ now - $0 > .seconds(60) }) ?? true {
      lastAgeing = now
      let oldest = Date().addingTimeInterval(-age.seconds)
      gone.formUnion(settled(store).flatMap { $0 }.filter { $0.updatedAt < oldest })
    }
    var tooMany: Set<M> = []
    if let count = retention.count {
      // Another process may have handled what it owed, and nothing says so here.
      if lastKeeping.map({ now - $0 > .seconds(60) }) ?? true { (lastKeeping, keptBack) = (now, 0) }
      let found = settled(store)
      let surplus = found.reduce(0) { $0 + $1.count } - count
      keptBack = min(keptBack, max(surplus, 0))
      // Deletes only when the limit is exceeded by a tenth, so that the cost per message stays small however many remain. Messages
      // that other names owe raise the limit: otherwise each message would cost a look at all of them.
      if surplus - keptBack > (count + keptBack) / 10 {
        tooMany = Set(found.flatMap { $0 }.sorted { $0.updatedAt < $1.updatedAt }.prefix(surplus))
        (lastKeeping, keptBack) = (now, 0)
        gone.formUnion(tooMany)
      }
    }
    for message in gone {
      let receipts = store.objects(MessageReceipt.self).where { $0.message == message.objectIdentifier }
      // Another name has yet to handle it, or a rule of its model keeps it.
      let stays = try receipts.contains { $0.owed != "" } || !remove(message, receipts, store)
      if stays, tooMany.contains(message) { keptBack += 1 }
    }
  }

  /// Deletes a message with its receipts; false if a delete rule denies it. That must not undo what the handler is doing.
  private func remove(_ message: M, _ receipts: Results<MessageReceipt>, _ store: Store) throws -> Bool {
    do {
      try store.savepoint {
        try store.delete(message)
        try store.delete(receipts)
      }
      return true
    } catch StoreError.Code.deleteDenied {
      return false
    }
  }

  /// Examines the next two receipts, starting over after the last one, and deletes those whose message is gone. Runs with each
  /// message, so that receipts do not outnumber messages by much, whoever deletes the messages.
  func sweep(_ store: Store) throws {
    let prefix = "\(name)/\(M._$name)/"
    let receipts = store.objects(MessageReceipt.self, above: swept, limit: 2)
    swept = receipts.last?._$key ?? 0
    for receipt in receipts where receipt.id.hasPrefix(prefix) {
      guard let message = Int64(receipt.id.dropFirst(prefix.count)),
        store.resolve(ObjectReference<M>(key: message, in: store)) == nil
      else { continue }
      try store.delete(receipt)
    }
  }

  private func settled(_ store: Store) -> [Results<M>] {
    [MessageStatus.success, .error].map { store.objects(M.self).matching("status", .int(Int64($0.rawValue))) }
  }
}
