import Logging
import Synchronization

/// Keeps an observation alive. Keep it as long as the block shall run, and `stop()` it.
///
/// Dropping it without stopping ends the observation too, with one warning in the log that names the place
/// where the observation was made: a forgotten token is the commonest mistake with live data. Every call is
/// safe from any thread.
public final class NotificationToken: Sendable {
  private let place: String
  /// What is observed, for writes of which it is not to be notified.
  package let subject: (any AnyObject & Sendable)?
  private let state: Mutex<(@Sendable () -> Void)?>

  /// For modules that offer observation. `onStop` runs once, on whichever thread stops.
  package init(
    fileID: StaticString, line: UInt, subject: (any AnyObject & Sendable)? = nil, onStop: @escaping @Sendable () -> Void
  ) {
    place = "\(fileID):\(line)"
    self.subject = subject
    state = Mutex(onStop)
  }

  /// Ends the observation and returns whether it was active. After it returned on the observer's own context
  /// the block does not run again. Idempotent.
  @discardableResult
  public func stop() -> Bool {
    let onStop = state.withLock { action in
      defer { action = nil }
      return action
    }
    onStop?()
    return onStop != nil
  }

  /// One thing more to be done when it stops, after all others; at once where it has.
  package func alsoOnStop(_ action: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { known in
      guard let before = known else { return true }
      known = {
        before()
        action()
      }
      return false
    }
    if isOver { action() }
  }

  /// The same as `stop()`, under Realm's name.
  public func invalidate() { stop() }

  /// From now on commits by this author (see `Store.write(author:)`), of this process or another, are none of the token's
  /// business: it knows their result and hears of everything else as ever.
  ///
  /// Exact for results that are kept row by row: a row that others changed too, before the token hears, is reported. Elsewhere,
  /// when commits of several authors come in one turn, all of them are reported. Observers of stores and of single properties
  /// hear of everybody.
  public func ignore(author: String) { (subject as? any AuthorIgnoring)?.ignore(author: author) }

  /// Whether the observation goes on: false after `stop()`, and once it had its last call. From any thread.
  public var isActive: Bool { state.withLock { $0 != nil } }

  /// Adds the token to a set that keeps it.
  public func store(in tokens: inout Set<NotificationToken>) { tokens.insert(self) }

  deinit {
    if stop() {
      StoreLog.warning("A notification token was released without unregistering a notification (observed at \(place)).")
    }
  }
}

/// An observation that need not hear of everybody.
protocol AuthorIgnoring: AnyObject {
  func ignore(author: String)
}

extension NotificationToken: Hashable {
  public static func == (a: NotificationToken, b: NotificationToken) -> Bool { a === b }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Where the library says what it cannot throw. A `swift-log` logger with the label "vivarium", unless replaced.
public enum StoreLog {
  private static let logger = Mutex(Logger(label: "vivarium"))

  /// Replaces the logger, for the whole process. Any thread.
  public static func use(_ logger: Logger) { self.logger.withLock { $0 = logger } }

  /// Hears the warnings of a task beside the logger; for tests, of which many run at once.
  @TaskLocal package static var listener: (@Sendable (String) -> Void)?

  package static func warning(_ message: String) {
    listener?(message)
    let logger = logger.withLock { $0 }
    logger.warning("\(message)")
  }
}
