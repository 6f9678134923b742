import Dispatch
import Foundation
import Synchronization
import Vivarium

/// Deals with the messages of one type, each once: those that are there and those that come, from any process.
///
/// ```swift
/// let handler = try MessageHandler.handle(PermissionChange.self, named: "permissions", in: configuration) { change, store in
///   try grant(change, in: store)       // the effect and the mark that it is done are one transaction
/// }
/// ```
///
/// Handlers of one name, in this process and others, share the work: a message is done once by each name. The store remembers the names
/// from their first handler on (see `forget`), so that one that does not run misses nothing. A message becomes `.success` by itself when
/// all of them have dealt with it; an answer that one of them sets is there at once, and the others still get the message. Its effect on
/// the store and the mark that it is done are one transaction, so a crash at any moment leaves either both or neither. The store needs
/// `MessageReceipt` among its models.
///
/// Works on a queue of its own, and stops with `stop()` or with the last reference.
public final class MessageHandler: Sendable {
  private let queue: DispatchQueue
  private let stopped = Atomic(false)
  private let work: Mutex<(any HandlerWork)?>

  init(_ queue: DispatchQueue, _ work: any HandlerWork) {
    self.queue = queue
    self.work = Mutex(work)
  }

  /// Takes no further message. One that is being dealt with is finished, also by work outside the store, whose result is
  /// written when it comes.
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

/// What a `MessageHandler` runs, without its message type.
protocol HandlerWork: Sendable {
  /// No further message. Any thread.
  func stop()
  /// Lets go of the store. On the handler's queue.
  func end()
}

extension MessageHandler {
  /// Deals with messages inside the store.
  ///
  /// `body` runs inside a write, with the message and its store. Set the answer there; a message that is still
  /// `.notProcessed` afterwards becomes `.success`, once every name has dealt with it. When `body` throws, what it wrote is undone, and
  /// the message is tried again
  /// by the rules. `body` neither commits nor cancels the write: that is a failed attempt.
  ///
  /// - Parameter key: messages with an equal key are dealt with in the order of their insertion; nil has no order.
  public static func handle<M: Message>(
    _ type: M.Type, named name: String, in configuration: Store.Configuration, rules: HandlingRules = HandlingRules(),
    orderedBy key: (@Sendable (M) -> String?)? = nil, _ body: @escaping @Sendable (M, Store) throws -> Void
  ) throws(StoreError) -> MessageHandler {
    try start(name, configuration, rules, key, .inside(body))
  }

  /// Deals with messages by work outside the store.
  ///
  /// A message is claimed for the length of the lease, `body` works and gives what is to be written, and that is one
  /// transaction with the mark that the message is done. When the process dies in between, another handler does the work
  /// again with the same idempotency key. Work that outlives its lease is not written where another handler has begun the
  /// message since.
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
    let queue = DispatchQueue(label: "vivarium.messages.\(name)")
    let handling = Handling<M>(queue, name, configuration, rules, key, body)
    let opened: Result<Void, StoreError> = queue.sync { Result { () throws(StoreError) in try handling.begin() } }
    try opened.get()
    return MessageHandler(queue, handling)
  }
}
