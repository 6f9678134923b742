import Vivarium

/// How a handler treats messages.
public struct HandlingRules: Sendable {
  /// How long work outside the store may take before another handler may begin it again.
  public var lease: Duration = .seconds(30)
  /// After so many failures a message is a dead letter: its status is `.error`.
  public var attemptsMax = 5
  /// How long a failed message waits before it is tried again, by the number of failures so far.
  public var retryDelay: @Sendable (Int) -> Duration = { .milliseconds(100 << min($0, 9)) }
  /// What is deleted of messages that were dealt with; nil: nothing.
  public var retention: Retention?

  /// The rules as their defaults are.
  public init() {}

  /// Which of the messages that were dealt with stay.
  public struct Retention: Sendable, Hashable {
    /// No longer than this.
    public var age: Duration?
    /// No more than so many, the newest.
    public var count: Int?

    /// Both limits count; nil is none.
    public init(age: Duration? = nil, count: Int? = nil) {
      self.age = age
      self.count = count
    }
  }
}

extension Duration {
  var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
