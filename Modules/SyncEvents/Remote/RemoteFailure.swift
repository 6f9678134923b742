import SyncProtocol
import SyncServer

/// Why a server could not be asked.
struct RemoteFailure: Error {
  let message: String
  /// What the server said, if it refuses the program.
  private(set) var code: SyncErrorCode?
  /// Whether it was not let in; otherwise a connection has ended.
  private(set) var isAtTheDoor = false

  init(_ message: String) { self.message = message }

  init(_ error: TransportError) { self.init(error.description) }

  /// What a server says in place of letting the program in, or to end its connection.
  init(_ frame: SyncFrame, isAtTheDoor: Bool) {
    self.isAtTheDoor = isAtTheDoor
    switch try? ServerMessage(frame) {
    case .error(_, let code, _, let text):
      let refusal = SyncRefusal(code, text)
      message = "The server \(isAtTheDoor ? "lets no handlers in" : "has ended the connection"): \(refusal)"
      self.code = code
    case .goAway:
      message = "The server is ending."
      code = .shuttingDown
    default: message = "The server says something that does not belong here: a message of type 0x\(String(frame.type, radix: 16))."
    }
  }

  /// Nobody is logged in.
  static var noToken: RemoteFailure {
    var failure = RemoteFailure("There is no token for the server: nobody is logged in here.")
    (failure.code, failure.isAtTheDoor) = (.tokenInvalid, true)
    return failure
  }

  /// Whether another token may help.
  var wantsToken: Bool { code?.reaction == .renewToken }

  /// Whether the next attempt may succeed without anybody's doing. A connection that ended may be followed by a better one, with another
  /// token; who was not let in with a new token is not let in at once.
  var mayPass: Bool {
    guard let code else { return true }
    return isAtTheDoor ? code.reaction == .wait : code.reaction != .stop
  }
}
