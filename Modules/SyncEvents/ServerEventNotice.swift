import SyncServer

/// A notice about the handlers of a server's events.
public enum ServerEventNotice: Sendable {
  /// A handler has processed everything in a store's log up to a number.
  case dealt(handler: String, store: StorePath, number: UInt64)
  /// A handler threw, or its writes were refused. Nothing was written; the event is retried later.
  case failed(handler: String, store: StorePath, attempt: Int, any Error)
  /// A handler threw as often as it may, and the event is skipped.
  case gaveUp(handler: String, store: StorePath, number: UInt64, any Error)
  /// Events before a number are gone, because the handler was not registered then: it begins after them.
  case missed(handler: String, store: StorePath, before: UInt64)
  /// The lease of a store expired before its events were processed: another process may have it. The events are repeated.
  case leaseLost(handler: String, store: StorePath)
  /// The handler was removed from a store, or from all with its name, while this process ran it. The process handles nothing more there,
  /// unless another one makes the handler again.
  case removed(handler: String, store: StorePath)
  /// The server's stores cannot be reached; retried later.
  case unavailable(handler: String, any Error)
}
