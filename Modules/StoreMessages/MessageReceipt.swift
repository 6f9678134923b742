import Foundation
import Vivarium

/// What one handler has made of one message: kept in the store beside the message, so that a crash or a restart anywhere
/// changes nothing. Put it among the models of a store with messages; programs need not read it.
@Model public final class MessageReceipt {
  public enum State: Int, PersistableEnum {
    /// To be tried again, at `notBefore`.
    case open = 0
    /// A handler works on it, until `notBefore`.
    case claimed = 1
    case done = 2
    /// It failed as often as it was to be tried.
    case dead = 3
    /// Of no message: a handler that runs, or ended without a word. So crashes are noticed.
    case running = 4
    /// Of no message: messages of a type are to be dealt with by a name, whether it runs or not.
    case registered = 5
  }

  /// `handler/type/key`: also what identifies the work for systems outside the store.
  @PrimaryKey public internal(set) var id: String = ""
  /// The message's `objectIdentifier`; empty for a running handler and for a registered name.
  @Indexed public internal(set) var message: String = ""
  public internal(set) var state: State = .open
  /// How often it was begun.
  public internal(set) var attempts: Int = 0
  /// Which running handler has claimed it.
  public internal(set) var owner: String = ""
  /// It is not begun before this, after a failure.
  public internal(set) var notBefore: Date = Date(timeIntervalSinceReferenceDate: 0)
  /// `handler/type` while the message has its answer from another name and still waits for this one; else empty.
  @Indexed public internal(set) var owed: String = ""
  /// What the last failure said.
  public internal(set) var lastError: String?

  init(id: String, message: String) {
    self.id = id
    self.message = message
  }
}
