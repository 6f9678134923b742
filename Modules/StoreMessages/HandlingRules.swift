import Vivarium

/// How a handler treats messages.
public struct HandlingRules: Sendable {
  /// How long work outside the store may take before another handler may begin it again.
  public var lease: Duration = .seconds(30)
  /// After this many failures a message is a dead letter: its status becomes `.error`.
  public var attemptsMax = 5
  /// How long a failed message waits for its next attempt, by the number of failures so far.
  public var retryDelay: @Sendable (Int) -> Duration = { .milliseconds(100 << min($0, 9)) }
  /// Which handled messages are deleted; nil: none.
  public var retention: Retention?
  /// Says that no other replica of the store has a handler of this name. Needed to handle messages that are replicated, because
  /// receipts are not: two replicas would each handle every message. Has no effect on other messages.
  public var isAlone = false

  /// The default rules.
  public init() {}

  /// Which handled messages are kept.
  public struct Retention: Sendable, Hashable {
    /// The maximum age.
    public var age: Duration?
    /// The maximum number; the newest are kept.
    public var count: Int?

    /// Both limits apply; nil: no limit.
    public init(age: Duration? = nil, count: Int? = nil) {
      self.age = age
      self.count = count
    }
  }
}

extension Duration {
  var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
