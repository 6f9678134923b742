#if Sync
import Foundation
import SyncProtocol
import SyncServer

/// The HTTP routes of a server: `/auth/v1/…`, `/admin/v1/…`, `/health` and `/metrics`.
///
/// Bodies are JSON. Errors are answered as `{"code", "message", "remedy"}`, with the codes of the protocol.
public struct ServerRoutes: Sendable {
  let host: SyncHost
  let directory: any UserDirectory
  let accounts: Accounts
  let clock: @Sendable () -> Int64
  /// Makes a backup with a name; nil if the storage has its own means.
  let backUp: (@Sendable (String) async throws(ServerStoreError) -> Void)?
  let storesInMetrics: Int
  let more: @Sendable () async -> String

  /// Creates the routes of a server.
  ///
  /// - Parameters:
  ///   - backUp: makes a backup with a name that is a valid file name, or throws `.storeExists`.
  ///   - storesInMetrics: how many stores a server may have so that `/metrics` shows all of them; of one with more it shows those that
  ///     are bound.
  ///   - metrics: what else `/metrics` shows, in Prometheus' text format: `ServerEventCounts.metrics`.
  ///   - clock: milliseconds since 1970.
  public init(
    _ host: SyncHost, _ directory: any UserDirectory, _ accounts: Accounts,
    backUp: (@Sendable (String) async throws(ServerStoreError) -> Void)? = nil, storesInMetrics: Int = 100,
    metrics more: @escaping @Sendable () async -> String = { "" },
    clock: @escaping @Sendable () -> Int64 = { Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)) }
  ) {
    (self.host, self.directory, self.accounts, self.clock) = (host, directory, accounts, clock)
    (self.backUp, self.storesInMetrics, self.more) = (backUp, storesInMetrics, more)
  }

  /// Answers any request.
  public func answer(to request: WebRequest) async -> WebAnswer {
    do throws(SyncRefusal) {
      let parts = request.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
      switch (request.method, parts.first) {
      case ("GET", "health") where parts.count == 1: return try await health()
      case ("GET", "metrics") where parts.count == 1:
        if !request.isLocal { _ = try await administrator(request) }
        return WebAnswer(status: 200, type: "text/plain; version=0.0.4", body: Array(await metrics().utf8))
      case ("POST", "auth") where parts.count == 3 && parts[1] == "v1": return try await account(parts[2], request)
      case (_, "admin") where parts.count >= 3 && parts[1] == "v1":
        let identity = try await administrator(request)
        return try await administration(request, Array(parts.dropFirst(2)), by: identity)
      default: return ServerRoutes.unknown
      }
    } catch {
      host.note(error)
      return WebAnswer(error)
    }
  }

  static let unknown = WebAnswer(
    status: 404, "This is a server of Vivarium: there are /health, /metrics, /auth/v1/login, refresh and logout, and /admin/v1/.\n")

  private func health() async throws(SyncRefusal) -> WebAnswer {
    do throws(ServerStoreError) { _ = try await directory.revision() } catch { throw SyncRefusal(error) }
    return WebAnswer("ok\n")
  }

  private func administrator(_ request: WebRequest) async throws(SyncRefusal) -> SyncIdentity {
    guard let token = request.token else { throw SyncRefusal(.tokenInvalid, "It needs an administrator's token.") }
    let identity = try await host.access.identity(ofToken: token, at: clock())
    guard identity.isAdministrator else { throw SyncRefusal(.readDenied, "It needs an administrator's token.") }
    return identity
  }

  // MARK: log-ins

  private struct Credentials: Decodable {
    let user: String
    let password: String
    let device: String?
  }

  private struct Refresh: Decodable { let refreshToken: String }

  private func account(_ what: String, _ request: WebRequest) async throws(SyncRefusal) -> WebAnswer {
    switch what {
    case "login":
      let sent: Credentials = try ServerRoutes.decoded(request)
      return try .json(
        await accounts.logIn(sent.user, password: sent.password, device: sent.device ?? "", from: request.address))
    case "register":
      let sent: Credentials = try ServerRoutes.decoded(request)
      return try .json(
        await accounts.register(sent.user, password: sent.password, device: sent.device ?? "", from: request.address), status: 201)
    case "refresh":
      let sent: Refresh = try ServerRoutes.decoded(request)
      return try .json(await accounts.refresh(sent.refreshToken))
    case "logout":
      let sent: Refresh = try ServerRoutes.decoded(request)
      try await accounts.logOut(sent.refreshToken)
      return WebAnswer(status: 204)
    default: return ServerRoutes.unknown
    }
  }

  static func decoded<T: Decodable>(_ request: WebRequest) throws(SyncRefusal) -> T {
    do { return try JSONDecoder().decode(T.self, from: Data(request.body)) } catch {
      throw SyncRefusal(.badFrame, "The body is not the JSON that is wanted here.")
    }
  }
}

extension WebAnswer {
  private struct Problem: Encodable {
    let code: UInt16
    let message: String
    let text: String
    let remedy: String
    let retryAfterSeconds: UInt64?
  }

  /// An answer with a value as JSON.
  static func json(_ value: some Encodable, status: Int = 200) -> WebAnswer {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else { return WebAnswer(status: 500, "The answer cannot be written.") }
    return WebAnswer(status: status, type: "application/json", body: Array(data))
  }

  /// An answer with an error.
  ///
  /// - Parameter status: nil: the one of the error's code.
  init(_ refusal: SyncRefusal, status: Int? = nil) {
    let usual =
      switch refusal.code {
      case .tokenExpired, .tokenInvalid: 401
      case .userSuspended, .readDenied, .writeDenied: 403
      case .unknownStore: 404
      case .overloaded: 429
      case .storageUnavailable, .shuttingDown: 503
      default: 400
      }
    self = .json(
      Problem(
        code: refusal.code.rawValue, message: refusal.message, text: refusal.text, remedy: refusal.remedy,
        retryAfterSeconds: refusal.retryAfterSeconds == 0 ? nil : refusal.retryAfterSeconds), status: status ?? usual)
    retryAfterSeconds = refusal.retryAfterSeconds
  }
}
#endif
