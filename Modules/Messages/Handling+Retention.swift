import Foundation
import Vivarium

extension Handling {
  /// Deletes messages that were dealt with, and their receipts, by the rules. Their age is looked at once a minute.
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
      try store.delete(receipts)
      try store.delete(message)
    }
  }

  private func settled(_ store: Store) -> [Results<M>] {
    [MessageStatus.success, .error].map { store.objects(M.self).matching("status", .int(Int64($0.rawValue))) }
  }
}
