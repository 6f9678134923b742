import Foundation
import Vivarium

extension Handling {
  struct Found {
    let message: M
    let receipt: MessageReceipt
  }

  func pending(_ store: Store) -> Results<M> { Self.pending(store) }

  static func pending(_ store: Store) -> Results<M> {
    store.objects(M.self).matching("status", .int(Int64(MessageStatus.notProcessed.rawValue)))
  }

  /// Whether to open a write at all. A store without messages to handle writes nothing.
  func hasWork(_ store: Store) throws -> Bool {
    store.refresh()
    return try choose(store) != nil
  }

  /// The next message to handle, with its receipt. In a write.
  func next(_ store: Store) throws -> Found? {
    guard let choice = try choose(store) else { return nil }
    return Found(message: choice.message, receipt: try choice.receipt ?? receipt(of: choice.message, store))
  }

  /// The receipt of a message; created if there is none. In a write.
  func receipt(of message: M, _ store: Store) throws -> MessageReceipt {
    let id = Self.receiptID(name, message._$key)
    if let known = store.object(MessageReceipt.self, forPrimaryKey: id) { return known }
    let receipt = MessageReceipt(id: id, message: message.objectIdentifier)
    try store.add(receipt)
    return receipt
  }

  /// The first message that may begin now. A message that may not yet begin holds back later ones with the same key.
  private func choose(_ store: Store) throws -> Choice? {
    let now = Date()
    let instant = ContinuousClock.now
    if lastWhole.map({ instant - $0 > .seconds(60) }) ?? true { (lastWhole, doneUpTo) = (instant, 0) }
    var walk = Walk(now: now)
    var owed = ArraySlice(owed(store))
    let pending = pending(store)
    // Another name may be far behind: messages that wait only for that name are not examined each time.
    var isBeginning = true
    for position in firstOpen(pending)..<pending.count {
      let message = pending[position]
      while let earlier = owed.first, earlier._$key < message._$key {
        owed.removeFirst()
        if let choice = consider(earlier, &walk, store) { return choice }
      }
      if let choice = consider(message, &walk, store) { return choice }
      isBeginning = isBeginning && walk.isDone
      if isBeginning { doneUpTo = message._$key }
    }
    for message in owed { if let choice = consider(message, &walk, store) { return choice } }
    farOff = farOff.filter { walk.farOff.contains($0.key) }
    wake(at: walk.earliest)
    return nil
  }

  typealias Choice = (message: M, receipt: MessageReceipt?)

  /// What is known so far in one pass over the messages.
  private struct Walk {
    let now: Date
    var heldBack: Set<String> = []
    var earliest: Date?
    /// The receipts that wait for longer than the rules say.
    var farOff: Set<String> = []
    /// Whether this name has finished the last message.
    var isDone = false
  }

  private func consider(_ message: M, _ walk: inout Walk, _ store: Store) -> Choice? {
    walk.isDone = false
    let key = key?(message)
    if let key, walk.heldBack.contains(key) { return nil }
    let receipt = store.object(MessageReceipt.self, forPrimaryKey: Self.receiptID(name, message._$key))
    switch receipt?.state {
    case .done, .dead: walk.isDone = true
    case .running, .registered: break
    case nil: return (message, nil)
    case .open, .claimed:
      guard let receipt, let begin = begin(of: receipt, &walk) else { return (message, receipt) }
      if let key { walk.heldBack.insert(key) }
      walk.earliest = min(walk.earliest ?? begin, begin)
    }
    return nil
  }

  /// When a message may begin; nil: now. If its time is further off than the rules say, the clock was ahead when it was written,
  /// or the rules have changed. Then it waits as long as the rules say from when it was first seen, by a clock that never jumps.
  private func begin(of receipt: MessageReceipt, _ walk: inout Walk) -> Date? {
    let (now, notBefore) = (walk.now, receipt.notBefore)
    guard notBefore > now else { return nil }
    let wait = receipt.state == .claimed ? rules.lease : rules.retryDelay(max(1, receipt.attempts))
    guard notBefore > now.addingTimeInterval(wait.seconds) else { return notBefore }
    let instant = ContinuousClock.now
    let begin = farOff[receipt.id] ?? instant + wait
    if begin <= instant { return nil }
    walk.farOff.insert(receipt.id)
    farOff[receipt.id] = begin
    return now.addingTimeInterval((begin - instant).seconds)
  }

  /// The position of the first pending message after those that this name is known to have finished.
  private func firstOpen(_ pending: Results<M>) -> Int {
    if doneUpTo == 0 { return 0 }
    var (low, high) = (0, pending.count)
    while low < high {
      let middle = (low + high) / 2
      if pending[middle]._$key <= doneUpTo { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
