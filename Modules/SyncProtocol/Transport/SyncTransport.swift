/// A connection that carries parts of messages (`FrameEncoder`) both ways, in order, each whole and once: a WebSocket, or in tests a pair
/// of queues. It does not interpret them.
///
/// **Threads.** Any task may call; only one task at a time may receive, and only one send. **Errors.** `TransportError`; after one, the
/// connection is unusable and must be closed.
public protocol SyncTransport: Sendable {
  /// Waits for the next part from the other side; nil once either side has closed.
  func receive() async throws(TransportError) -> [UInt8]?

  /// Sends parts in order. Returns when the connection can take more, which bounds what waits in it.
  func send(_ parts: [[UInt8]]) async throws(TransportError)

  /// Sends a part as `send` does, but without waiting: returns false, and sends nothing, if `send` would wait, or throw. Not to be called
  /// while a `send` waits. For who sends little to many: no task has to be woken for it. A transport that does not know returns false.
  func offer(_ part: [UInt8]) -> Bool

  /// Ends the connection. Parts sent before are delivered as long as the other side reads. Idempotent; ends a waiting `receive`.
  func close() async
}

extension SyncTransport {
  public func offer(_ part: [UInt8]) -> Bool { false }
}

/// Makes connections to one server.
public protocol SyncConnector: Sendable {
  /// A connection that is ready to carry parts. Throws if the server cannot be reached, or is not a Vivarium server.
  func connect() async throws(TransportError) -> any SyncTransport
}

/// Why there is no connection, or it has ended.
public struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What happened, as a code.
  public enum Code: String, Hashable, Sendable {
    /// The address is not that of a server.
    case badAddress
    /// No server answers, or there is no network.
    case unreachable
    /// The other side's certificate is not trusted, or it does not speak TLS.
    case untrusted
    /// A certificate, a key or a list of trusted roots cannot be used.
    case badCertificate
    /// The other side speaks another protocol.
    case foreignProtocol
    /// The connection was lost, or a side closed it.
    case closed
  }

  /// What happened, as a code.
  public let code: Code
  /// One sentence.
  public let message: String

  /// Creates an error.
  public init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

  /// What helps.
  public var remedy: String {
    switch code {
    case .badAddress: "Give an address like 'wss://sync.example.org:9443'."
    case .unreachable, .closed: "Nothing needs to be done: it is tried again."
    case .untrusted: "Give the server a certificate that this device trusts, or the client the server's root certificate."
    case .badCertificate: "Give PEM files: of a server the chain, its own certificate first, and the key that belongs to it."
    case .foreignProtocol: "Look whether the address and the port are those of a Vivarium server."
    }
  }
  public var description: String { "\(message) \(remedy)" }
}
