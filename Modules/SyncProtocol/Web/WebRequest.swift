/// An HTTP request to a server's port, beside connections: log-in, administration, health.
public struct WebRequest: Hashable, Sendable {
  /// "GET", "POST" …
  public var method: String
  /// The path without the query.
  public var path: String
  /// What follows the path behind "?"; empty if nothing does.
  public var query: String
  /// The text after "Bearer " in the header "Authorization".
  public var token: String?
  /// The body, at most `bytes` long.
  public var body: [UInt8]
  /// The client's address without port, for IPv6 its network ("2001:db8:1:2::/64"), since one client has all addresses of that; empty
  /// within the process.
  public var address: String
  /// Whether the request comes from this machine, without a proxy in between.
  public var isLocal: Bool

  /// The length of the longest body.
  public static let bytes = 64 << 10

  /// Creates a request.
  public init(
    method: String, path: String, query: String = "", token: String? = nil, body: [UInt8] = [], address: String = "", isLocal: Bool = false
  ) {
    (self.method, self.path, self.query, self.token, self.body) = (method, path, query, token, body)
    (self.address, self.isLocal) = (address, isLocal)
  }
}

/// The answer to a request.
public struct WebAnswer: Hashable, Sendable {
  /// 200, 404 …
  public var status: Int
  /// The media type of the body.
  public var type: String
  /// The bytes of the body.
  public var body: [UInt8]
  /// Seconds after which a retry makes sense; 0 if none does.
  public var retryAfterSeconds: UInt64

  /// Creates an answer.
  public init(status: Int, type: String = "text/plain; charset=utf-8", body: [UInt8] = [], retryAfterSeconds: UInt64 = 0) {
    (self.status, self.type, self.body, self.retryAfterSeconds) = (status, type, body, retryAfterSeconds)
  }

  /// Creates an answer from a text.
  public init(status: Int = 200, _ text: String) { self.init(status: status, body: Array(text.utf8)) }
}

/// Sends requests to one server.
public protocol WebRequester: Sendable {
  /// The server's answer, whatever its status. Throws if the server cannot be reached, or is not a Vivarium server.
  func answer(to request: WebRequest) async throws(TransportError) -> WebAnswer
}
