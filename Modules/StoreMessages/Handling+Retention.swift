import Foundation
import Vivarium

extension Handling {
  /// Deletes messages that were dealt with, and their receipts, by the rules. Their age is looked at with
  /// a message, once a minute at most.
  func trim(_ store: Store) throws {
    guard let retention = rules.retention else { return }
    let now = Date()
    var gone: Set<M> = []
    if let age = retention.age, now.timeIntervalSince(lastAgeing) > 60 {
      lastAgeing = now
      let oldest = now.addingTimeInterval(-age.seconds)
      gone.formUnion(settled(store).flatMap { $0 }.filter { $0.updatedAt < oldest })
    }
    if let count = retention.count {
      // A tenth too many before any is looked at: so each costs little, however many stay.
      let found = settled(store)
      let surplus = found.reduce(0) { $0 + $1.count } - count
      if surplus > count / 10 {
        gone.formUnion(found.flatMap { $0 }.sorted { $0.updatedAt < $1.updatedAt }.prefix(surplus))
      }
    }
    for message in gone {
      let receipts = store.objects(MessageReceipt.self).where { $0.message == message.objectIdentifier }
      // A name that has not seen it yet still will.
      if receipts.contains(where: { $0.owed != "" }) { continue }
      try store.delete(receipts)
      try store.delete(message)
    }
  }

  /// Looks at the next two receipts, and from the oldest again after the last, and deletes those whose message somebody
  /// else has deleted. Done with each message: so there are not many more receipts than messages, whoever deletes these.
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
