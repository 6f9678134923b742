import Dispatch
import Foundation
import Synchronization
import Vivarium

/// Handles the messages of one type, each once: existing ones and new ones, from any process.
///
/// ```swift
/// let handler = try MessageHandler.handle(PermissionChange.self, named: "permissions", in: configuration) { change, store in
///   try grant(change, in: store)       // the effect and the mark that it is done are one transaction
/// }
/// ```
///
/// Handlers with the same name, in this process and others, share the work: each name handles a message once. The store remembers a
/// name from its first handler on (see `forget`), so a handler that is not running misses nothing. A message becomes `.success`
/// automatically when all names have handled it. An answer that one of them sets is visible at once, and the others still get the
/// message. A message's effect on the store and the mark that it is done are one transaction, so a crash at any moment leaves
/// either both or neither. The store needs `MessageReceipt` among its models.
///
/// Receipts stay on the device. So messages that are replicated are handled by the server (`ServerEvents.answer`), or by a single
/// replica that says so (`HandlingRules.isAlone`); otherwise `handle` throws `.replicatedMessage`.
///
/// Works on a queue of its own, until `stop()` or the release of the last reference, or until an error that no later try gets past; `state`
/// says so, and `onChange`.
public final class MessageHandler: Sendable {
  let queue: DispatchQueue
  let status: HandlerStatus
  private let stopped = Atomic(false)
  private let work: Mutex<(any HandlerWork)?>

  init(_ queue: DispatchQueue, _ status: HandlerStatus, _ work: any HandlerWork) {
    self.queue = queue
    self.status = status
    self.work = Mutex(work)
  }

  /// Takes no further message. Finishes the current one, including work outside the store, whose result is written when it arrives.
  public func stop() {
    let work = work.withLock { work in
      defer { work = nil }
      return work
    }
    guard let work else { return }
    work.stop()
    queue.async { work.end() }
  }

  deinit { stop() }
}

extension StoreError.Code {
  /// Messages that are replicated cannot be handled by whichever replica likes.
  public static let replicatedMessage = Self(rawValue: "replicatedMessage")
}

extension StoreError {
  fileprivate static func replicatedMessage(_ type: String) -> StoreError {
    StoreError(
      .replicatedMessage, "Messages of type '\(type)' are replicated, and each replica with a handler would handle every one of them.",
      remedy: """
        Have the server answer them ('ServerEvents.answer'), keep the type on the device ('SyncConfiguration.localTypes'), or set \
        'rules.isAlone' in the only replica that has a handler of this name.
        """)
  }
}

/// The work of a `MessageHandler`, without its message type.
protocol HandlerWork: Sendable {
  /// Takes no further message. Any thread.
  func stop()
  /// Releases the store. On the handler's queue.
  func end()
}

extension MessageHandler {
  /// Handles messages inside the store.
  ///
  /// `body` runs inside a write, with the message and its store. Set the answer there; a message that is still `.notProcessed`
  /// afterwards becomes `.success` once every name has handled it. If `body` throws, its changes are undone and the message is
  /// tried again by the rules. `body` must not commit or cancel the write: that counts as a failed attempt.
  ///
  /// - Parameter key: messages with equal keys are handled in the order of their insertion; nil: no order.
  public static func handle<M: Message>(
    _ type: M.Type, named name: String, in configuration: Store.Configuration, rules: HandlingRules = HandlingRules(),
    orderedBy key: (@Sendable (M) -> String?)? = nil, _ body: @escaping @Sendable (M, Store) throws -> Void
  ) throws(StoreError) -> MessageHandler {
    try start(name, configuration, rules, key, .inside(body))
  }

  /// Handles messages by work outside the store.
  ///
  /// Claims a message for the length of the lease. `body` does the work and returns the changes to write; they and the mark that
  /// the message is done are one transaction. If the process dies in between, another handler does the work again with the same
  /// idempotency key. The result of work that outlives its lease is dropped if another handler has begun the message since.
  public static func handle<M: Message>(
    _ type: M.Type, named name: String, in configuration: Store.Configuration, rules: HandlingRules = HandlingRules(),
    orderedBy key: (@Sendable (M) -> String?)? = nil,
    outside body: @escaping @Sendable (MessageJob<M>) async throws -> @Sendable (M, Store) throws -> Void
  ) throws(StoreError) -> MessageHandler {
    try start(name, configuration, rules, key, .outside(body))
  }

  private static func start<M: Message>(
    _ name: String, _ configuration: Store.Configuration, _ rules: HandlingRules, _ key: (@Sendable (M) -> String?)?,
    _ body: Handling<M>.Body
  ) throws(StoreError) -> MessageHandler {
    guard rules.isAlone || !configuration.replicates(M._$name) else { throw .replicatedMessage(M._$name) }
    let queue = DispatchQueue(label: "vivarium.messages.\(name)")
    let handling = Handling<M>(queue, name, configuration, rules, key, body)
    let opened: Result<Void, StoreError> = queue.sync { Result { () throws(StoreError) in try handling.begin() } }
    try opened.get()
    return MessageHandler(queue, handling.status, handling)
  }
}
