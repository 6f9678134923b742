import SyncServer

/// What the handlers of a server's events have to say.
public enum ServerEventNotice: Sendable {
  /// All that was in a store's log up to a number was dealt with.
  case dealt(handler: String, store: StorePath, number: UInt64)
  /// A handler has thrown, or what it wrote was refused. Nothing was written; the event comes again after a while.
  case failed(handler: String, store: StorePath, attempt: Int, any Error)
  /// A handler has thrown as often as it may, and the event is skipped.
  case gaveUp(handler: String, store: StorePath, number: UInt64, any Error)
  /// Events before a number are gone, since nobody had said that they would be handled: the handler begins behind them.
  case missed(handler: String, store: StorePath, before: UInt64)
  /// The lease of a store ended before its events were dealt with: another process may have it. They come again.
  case leaseLost(handler: String, store: StorePath)
  /// The server's stores cannot be reached; it is tried again after a while.
  case unavailable(handler: String, any Error)
}
