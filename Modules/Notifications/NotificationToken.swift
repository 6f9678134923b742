import Logging
import Synchronization

/// Keeps an observation alive. Keep it as long as the block should run, and `stop()` it.
///
/// Dropping it without stopping ends the observation too, with a warning in the log that names the place where the observation
/// was made: a forgotten token is the most common mistake with live data. Every call is safe from any thread.
public final class NotificationToken: Sendable {
  private let place: String
  /// The observation, for writes that skip it.
  package let subject: (any AnyObject & Sendable)?
  private let state: Mutex<(@Sendable () -> Void)?>

  /// For modules that offer observation. `onStop` runs once, on the thread that stops.
  package init(
    fileID: StaticString, line: UInt, subject: (any AnyObject & Sendable)? = nil, onStop: @escaping @Sendable () -> Void
  ) {
    place = "\(fileID):\(line)"
    self.subject = subject
    state = Mutex(onStop)
  }

  /// Ends the observation and returns whether it was active. On the observer's own context the block does not run again after
  /// this returned. Idempotent.
  @discardableResult
  public func stop() -> Bool {
    let onStop = state.withLock { action in
      defer { action = nil }
      return action
    }
    onStop?()
    return onStop != nil
  }

  /// Adds an action to be run on stop, after all others; runs it at once if the token has stopped.
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

  /// `stop()` under Realm's name.
  public func invalidate() { stop() }

  /// Ignores commits by this author (see `Store.write(author:)`), of this process or another, from now on: the token counts as
  /// knowing their result, and is notified of all others as before.
  ///
  /// Exact for results that are kept row by row: a row that others changed too before the next notification is reported.
  /// Elsewhere, if commits of several authors come in one turn, all of them are reported. Observers of stores and of single
  /// properties are notified of all authors.
  public func ignore(author: String) { (subject as? any AuthorIgnoring)?.ignore(author: author) }

  /// Whether the observation continues: false after `stop()`, and after its last call. From any thread.
  public var isActive: Bool { state.withLock { $0 != nil } }

  /// Adds the token to a set that retains it.
  public func store(in tokens: inout Set<NotificationToken>) { tokens.insert(self) }

  deinit {
    if stop() {
      StoreLog.warning("A notification token was released without unregistering a notification (observed at \(place)).")
    }
  }
}

/// An observation that can ignore authors.
protocol AuthorIgnoring: AnyObject {
  func ignore(author: String)
}

extension NotificationToken: Hashable {
  public static func == (a: NotificationToken, b: NotificationToken) -> Bool { a === b }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The log for problems that cannot be thrown. A `swift-log` logger with the label "vivarium", unless replaced.
public enum StoreLog {
  private static let logger = Mutex(Logger(label: "vivarium"))

  /// Replaces the logger, for the whole process. Any thread.
  public static func use(_ logger: Logger) { self.logger.withLock { $0 = logger } }

  /// Receives the warnings of a task in addition to the logger; for tests, many of which run concurrently.
  @TaskLocal package static var listener: (@Sendable (String) -> Void)?

  package static func warning(_ message: String) {
    listener?(message)
    let logger = logger.withLock { $0 }
    logger.warning("\(message)")
  }
}
