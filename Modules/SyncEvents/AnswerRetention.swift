import StoreMessages
import SyncServer
import Synchronization
import Vivarium

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Deletes the answered messages that a handler's rules do not keep, for all replicas of a store.
///
/// Only who answers deletes: the handler's lease says who that is, and a deletion is part of the transaction that answers another message.
/// If a device deletes the same message, or changes it meanwhile, it is deleted everywhere. Any thread.
final class AnswerRetention: Sendable {
  private let rules: HandlingRules.Retention
  private let clock: @Sendable () -> Int64
  /// When each store was last looked through, in milliseconds, and at which message; only those of the last minute.
  private let looked = Mutex<[StorePath: (time: Int64, at: String)]>([:])

  /// How often a store is looked through at most, in milliseconds.
  private static let pause: Int64 = 60_000

  init(_ rules: HandlingRules.Retention, clock: @escaping @Sendable () -> Int64) {
    (self.rules, self.clock) = (rules, clock)
  }

  /// Deletes what is too old or too much, if the store is due for it. In the write that answers a message. O(answered messages) when it is
  /// due.
  func trim<M: Message>(with change: ServerChange<M>, in store: Store) throws {
    let now = clock()
    guard isDue(change.store, with: change.idempotencyKey, at: now) else { return }
    let answered = [MessageStatus.success, .error]
      .flatMap { Array(store.objects(M.self).matching("status", .int(Int64($0.rawValue)))) }
      .sorted { $0.updatedAt < $1.updatedAt }
    var surplus = rules.count.map { max(0, answered.count - max(0, $0)) } ?? 0
    if let age = rules.age {
      let (seconds, attoseconds) = age.components
      let oldest = Date(timeIntervalSince1970: Double(now) / 1_000 - Double(seconds) - Double(attoseconds) / 1e18)
      surplus = max(surplus, answered.prefix { $0.updatedAt < oldest }.count)
    }
    for message in answered.prefix(surplus) { try delete(message, in: store) }
  }

  private func isDue(_ path: StorePath, with key: String, at now: Int64) -> Bool {
    looked.withLock { looked in
      // A message that is answered again was not answered: what was deleted with it is there. A clock that was set back must not put it
      // off.
      if let last = looked[path], last.at != key, abs(now - last.time) < AnswerRetention.pause { return false }
      looked = looked.filter { abs(now - $0.value.time) < AnswerRetention.pause }
      looked[path] = (now, key)
      return true
    }
  }

  /// A message that a rule of its model keeps stays, and must not undo the answer to another.
  private func delete(_ message: some Message, in store: Store) throws {
    do { try store.savepoint { try store.delete(message) } } catch StoreError.Code.deleteDenied {}
  }
}
