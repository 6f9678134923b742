/// A connection that carries parts of messages (`FrameEncoder`) in order, each whole and once, both ways: a WebSocket, or in
/// tests a pair of queues. It knows nothing of what it carries.
///
/// **Threads.** Any task may call; one at a time receives, and one at a time sends. **Errors.** `TransportError`; after one
/// the connection is of no more use, and is to be closed.
public protocol SyncTransport: Sendable {
  /// The next part from the other side, waiting for it; nil once the other side has closed, or this one has.
  func receive() async throws(TransportError) -> [UInt8]?

  /// Hands over parts, in order. Returns when the connection can take more: what waits in it is bounded by that.
  func send(_ parts: [[UInt8]]) async throws(TransportError)

  /// Ends the connection. What was sent before is delivered as far as the other side still reads. Idempotent; ends a `receive` that waits.
  func close() async
}

/// Makes connections to one server.
public protocol SyncConnector: Sendable {
  /// A connection that is ready to carry parts. Throws where there is no way to the server, or it is not one of ours.
  func connect() async throws(TransportError) -> any SyncTransport
}

/// Why there is no connection, or no more.
public struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What happened, for programs.
  public enum Code: String, Hashable, Sendable {
    /// The address is no address of a server.
    case badAddress
    /// Nobody answers, or the network is away.
    case unreachable
    /// The other side's certificate is not trusted, or it speaks no TLS.
    case untrusted
    /// A certificate, a key or a list of trusted roots cannot be used.
    case badCertificate
    /// Who answers speaks another protocol.
    case foreignProtocol
    /// The connection was lost, or a side has closed it.
    case closed
  }

  /// What happened, for programs.
  public let code: Code
  /// One sentence.
  public let message: String

  /// An error of its parts.
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
