import Foundation
import Vivarium

/// The progress of one handler name with one message, kept in the store beside the message, so that no crash or restart loses it.
/// Put it among the models of a store with messages; programs need not read it.
@Model public final class MessageReceipt {
  public enum State: Int, PersistableEnum {
    /// To be tried again, at `notBefore`.
    case open = 0
    /// A handler works on it, until `notBefore`.
    case claimed = 1
    case done = 2
    /// It failed as often as the rules allow.
    case dead = 3
    /// Without a message: a handler that runs, or that died without ending. Used to detect crashes.
    case running = 4
    /// Without a message: a name that must handle the messages of a type, whether it is running or not.
    case registered = 5
  }

  /// `handler/type/key`; also the idempotency key for systems outside the store.
  @PrimaryKey public internal(set) var id: String = ""
  /// The message's `objectIdentifier`; empty for a running handler and for a registered name.
  @Indexed public internal(set) var message: String = ""
  public internal(set) var state: State = .open
  /// The number of attempts begun.
  public internal(set) var attempts: Int = 0
  /// The running handler that has claimed it.
  public internal(set) var owner: String = ""
  /// The earliest time of the next attempt, after a failure.
  public internal(set) var notBefore: Date = Date(timeIntervalSinceReferenceDate: 0)
  /// `handler/type` while another name has answered the message and this one still has to handle it; else empty.
  @Indexed public internal(set) var owed: String = ""
  /// The message of the last error.
  public internal(set) var lastError: String?

  init(id: String, message: String) {
    self.id = id
    self.message = message
  }
}
