#if Sync
import Foundation
import SyncProtocol
import SyncServer
import SyncTokens
import Synchronization
import VivariumTestSupport

/// A server without sockets, with a clock of its own, and cheap hashes.
final class TestServer: Sendable {
  let directory = MemoryUserDirectory()
  let host: SyncHost
  let accounts: Accounts
  let routes: ServerRoutes
  let access: DirectoryAccess
  let verifier: TokenVerifier
  let issuer: TokenIssuer
  private let time: Time

  final class Time: Sendable {
    private let now = Mutex<Int64>(1_700_000_000_000)
    var milliseconds: Int64 { now.withLock { $0 } }
    func pass(_ seconds: Int64) { now.withLock { $0 += seconds * 1000 } }
  }

  init(registration: Bool = false, outside: [TokenVerifier.Outside] = [], storesInMetrics: Int = 100) async throws {
    let time = Time()
    self.time = time
    issuer = try TokenIssuer(key: TokenIssuer.newKey())
    verifier = try await TokenVerifier(issuer, outside: outside)
    access = DirectoryAccess(directory, verifier)
    let host = SyncHost(stores: MemoryServerStore(), access: access, clock: { time.milliseconds })
    self.host = host
    var options = Accounts.Options()
    options.passwordCost = PasswordHash.Cost(logarithm: 10)
    options.allowsRegistration = registration
    accounts = Accounts(directory, issuer, stores: host.stores, options: options, clock: { time.milliseconds }) {
      await host.expel(login: $0)
    }
    routes = ServerRoutes(
      host, directory, accounts, storesInMetrics: storesInMetrics, metrics: { "more_total 1\n" }, clock: { time.milliseconds })
  }

  var now: Int64 { time.milliseconds }
  func pass(seconds: Int64) { time.pass(seconds) }

  func add(_ name: String, password: String? = nil, isAdministrator: Bool = false) async throws {
    let hash = try password.map { try PasswordHash.make(of: $0, cost: PasswordHash.Cost(logarithm: 10)) }
    try await directory.update(name) { _ in UserRecord(name: name, passwordHash: hash, isAdministrator: isAdministrator) }
  }

  func identity(_ token: String) async throws(SyncRefusal) -> SyncIdentity { try await access.identity(ofToken: token, at: now) }

  /// Asks a route, with JSON.
  func ask(
    _ method: String, _ path: String, query: String = "", _ body: [String: Any] = [:], token: String? = nil,
    from address: String = "1.2.3.4"
  ) async -> (status: Int, text: String) {
    let data = body.isEmpty ? Data() : (try? JSONSerialization.data(withJSONObject: body)) ?? Data()
    let answer = await routes.answer(
      to: WebRequest(method: method, path: path, query: query, token: token, body: Array(data), address: address))
    return (answer.status, String(decoding: answer.body, as: UTF8.self))
  }
}

/// The code of what is thrown.
func code(_ body: () async throws -> Void) async -> SyncErrorCode? {
  do { try await body() } catch { return (error as? SyncRefusal)?.code }
  return nil
}
#endif
