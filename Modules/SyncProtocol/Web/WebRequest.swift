/// A request that comes to a server's port beside connections: logging in, administering, asking how it is.
public struct WebRequest: Hashable, Sendable {
  /// "GET", "POST" …
  public var method: String
  /// Without what follows a "?".
  public var path: String
  /// What is after "Bearer " in the header "Authorization".
  public var token: String?
  /// At most `bytes`.
  public var body: [UInt8]
  /// Who asks: an address, without port; empty for one within the process.
  public var address: String
  /// Whether it comes from this very machine, and no proxy is in between.
  public var isLocal: Bool

  /// The longest body.
  public static let bytes = 64 << 10

  /// A request of its parts.
  public init(
    method: String, path: String, token: String? = nil, body: [UInt8] = [], address: String = "", isLocal: Bool = false
  ) {
    (self.method, self.path, self.token, self.body) = (method, path, token, body)
    (self.address, self.isLocal) = (address, isLocal)
  }
}

/// What is answered.
public struct WebAnswer: Hashable, Sendable {
  /// 200, 404 …
  public var status: Int
  /// Of the body.
  public var type: String
  /// What is said.
  public var body: [UInt8]
  /// Seconds after which it is worth another try; 0 for none.
  public var retryAfterSeconds: UInt64

  /// An answer of its parts.
  public init(status: Int, type: String = "text/plain; charset=utf-8", body: [UInt8] = [], retryAfterSeconds: UInt64 = 0) {
    (self.status, self.type, self.body, self.retryAfterSeconds) = (status, type, body, retryAfterSeconds)
  }

  /// A text.
  public init(status: Int = 200, _ text: String) { self.init(status: status, body: Array(text.utf8)) }
}

/// Sends requests to one server.
public protocol WebRequester: Sendable {
  /// What the server answers, whatever its status. Throws where there is no way to the server, or it is not one of ours.
  func answer(to request: WebRequest) async throws(TransportError) -> WebAnswer
}
