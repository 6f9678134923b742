import Foundation
import Vivarium

extension Handling {
  struct Found {
    let message: M
    let receipt: MessageReceipt
  }

  func pending(_ store: Store) -> Results<M> {
    store.objects(M.self).matching("status", .int(Int64(MessageStatus.notProcessed.rawValue)))
  }

  /// Whether to open a write at all. A store that waits for nothing writes nothing.
  func hasWork(_ store: Store) throws -> Bool {
    store.refresh()
    return try choose(store) != nil
  }

  /// The next message in a write, with its receipt.
  func next(_ store: Store) throws -> Found? {
    guard let choice = try choose(store) else { return nil }
    return Found(message: choice.message, receipt: try choice.receipt ?? receipt(of: choice.message, store))
  }

  /// The receipt of a message, which is made where there is none. In a write.
  func receipt(of message: M, _ store: Store) throws -> MessageReceipt {
    let id = receiptID(message)
    if let known = store.object(MessageReceipt.self, forPrimaryKey: id) { return known }
    let receipt = MessageReceipt(id: id, message: message.objectIdentifier)
    try store.add(receipt)
    return receipt
  }

  private func receiptID(_ message: M) -> String { "\(name)/\(M._$name)/\(message._$key)" }

  /// The first message that may be begun now. A message that may not keeps back those after it with the same key.
  private func choose(_ store: Store) throws -> (message: M, receipt: MessageReceipt?)? {
    let now = Date()
    var heldBack: Set<String> = []
    var earliest: Date?
    for message in pending(store) {
      let key = key?(message)
      if let key, heldBack.contains(key) { continue }
      let receipt = store.object(MessageReceipt.self, forPrimaryKey: receiptID(message))
      switch receipt?.state {
      case .done, .dead, .running: continue
      case nil: return (message, nil)
      case .open, .claimed:
        guard let receipt, receipt.notBefore > now else { return (message, receipt) }
        if let key { heldBack.insert(key) }
        earliest = min(earliest ?? receipt.notBefore, receipt.notBefore)
      }
    }
    wake(at: earliest)
    return nil
  }
}
