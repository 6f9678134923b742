#if Sync
import Foundation
import SyncModel
import SyncProtocol
import SyncServer

// `/admin/v1/…`: users, stores, handlers, grants and sessions, for clients with an administrator's token.

extension ServerRoutes {
  private struct ShownUser: Encodable {
    let name: String
    let isAdministrator: Bool
    let isSuspended: Bool
    let hasPassword: Bool

    init(_ user: UserRecord) {
      (name, isAdministrator, isSuspended) = (user.name, user.isAdministrator, user.isSuspended)
      hasPassword = user.passwordHash != nil
    }
  }

  private struct UserChange: Decodable {
    var name: String?
    var password: String?
    var isAdministrator: Bool?
    var isSuspended: Bool?
  }

  private struct ShownStore: Encodable {
    let path: String
    let head: UInt64
  }

  private struct GrantChange: Codable {
    let user: String
    let path: String
    let rights: String
  }

  private struct Expulsion: Decodable { let user: String }

  func administration(_ request: WebRequest, _ parts: [String], by identity: SyncIdentity) async throws(SyncRefusal) -> WebAnswer {
    // Who asks again because the answer was lost is told that it is done.
    let ifThere = request.query == "if-there"
    switch (request.method, parts[0], parts.count) {
    case ("GET", "users", 1):
      return .json(try await asked { () throws(ServerStoreError) in try await directory.users() }.map { ShownUser($0) })
    case ("POST", "users", 1): return try await addUser(try ServerRoutes.decoded(request))
    case ("PATCH", "users", 2): return try await change(parts[1], try ServerRoutes.decoded(request), by: identity)
    case ("DELETE", "users", 2): return try await removeUser(parts[1], ifThere, by: identity)
    case ("GET", "stores", 1): return try await stores()
    case ("DELETE", "stores", 2...): return try await removeStore("/" + parts.dropFirst().joined(separator: "/"), ifThere)
    case ("GET", "handlers", 1): return try await handlers(of: nil)
    case ("GET", "handlers", 2...): return try await handlers(of: "/" + parts.dropFirst().joined(separator: "/"))
    case ("DELETE", "handlers", 2): return try await removeHandler(parts[1], from: nil, ifThere)
    case ("DELETE", "handlers", 3...):
      return try await removeHandler(parts[parts.count - 1], from: "/" + parts[1..<parts.count - 1].joined(separator: "/"), ifThere)
    case ("GET", "grants", 1):
      let grants = try await asked { () throws(ServerStoreError) in try await directory.grants() }
      return .json(grants.map { GrantChange(user: $0.user, path: $0.path, rights: $0.rights.short) })
    case ("PUT", "grants", 1): return try await give(try ServerRoutes.decoded(request))
    case ("POST", "backup", 1): return try await backUp(try ServerRoutes.decoded(request))
    case ("GET", "sessions", 1): return .json(await host.sessions())
    case ("DELETE", "sessions", 1):
      let sent: Expulsion = try ServerRoutes.decoded(request)
      try await asked { () throws(ServerStoreError) in try await directory.removeLogins(of: sent.user) }
      await host.recheck()
      return WebAnswer(status: 204)
    default: return ServerRoutes.unknown
    }
  }

  // MARK: users

  private func addUser(_ sent: UserChange) async throws(SyncRefusal) -> WebAnswer {
    guard let name = sent.name, UserRecord.isName(name) else { throw SyncRefusal(.badFrame, Accounts.nameRule) }
    let hash: String? = if let password = sent.password { try await accounts.hash(of: password) } else { nil }
    let user = UserRecord(
      name: name, passwordHash: hash, isAdministrator: sent.isAdministrator ?? false, isSuspended: sent.isSuspended ?? false)
    let isAdded = try await asked { () throws(ServerStoreError) in try await directory.add(user) }
    guard isAdded else { return WebAnswer(SyncRefusal(.badFrame, "There is a user '\(name)'."), status: 409) }
    return .json(ShownUser(user), status: 201)
  }

  private func change(_ name: String, _ sent: UserChange, by identity: SyncIdentity) async throws(SyncRefusal) -> WebAnswer {
    if name == identity.user, sent.isSuspended == true || sent.isAdministrator == false {
      throw SyncRefusal(.badFrame, "Nobody takes the server from himself: have another administrator do it, or the shell.")
    }
    let hash: String? = if let password = sent.password { try await accounts.hash(of: password) } else { nil }
    let user = try await asked { () throws(ServerStoreError) in
      try await directory.update(name) { found in
        guard var user = found else { return nil }
        if let hash { user.passwordHash = hash }
        if let isAdministrator = sent.isAdministrator { user.isAdministrator = isAdministrator }
        if let isSuspended = sent.isSuspended { user.isSuspended = isSuspended }
        return user
      }
    }
    guard let user else { throw SyncRefusal(.unknownStore, "There is no user '\(name)'.") }
    // A new password ends all log-ins made with the old one.
    if hash != nil { try await asked { () throws(ServerStoreError) in try await directory.removeLogins(of: name) } }
    await host.recheck()
    return .json(ShownUser(user))
  }

  private func removeUser(_ name: String, _ ifThere: Bool, by identity: SyncIdentity) async throws(SyncRefusal) -> WebAnswer {
    if name == identity.user { throw SyncRefusal(.badFrame, "Nobody takes the server from himself.") }
    let found = try await asked { () throws(ServerStoreError) in try await directory.user(name) }
    guard found != nil else {
      guard ifThere else { throw SyncRefusal(.unknownStore, "There is no user '\(name)'.") }
      // The first request may have ended before it came to this.
      await host.expel(name, SyncRefusal(.userSuspended))
      return WebAnswer(status: 204)
    }
    try await asked { () throws(ServerStoreError) in try await directory.update(name) { _ in nil } }
    await host.expel(name, SyncRefusal(.userSuspended))
    return WebAnswer(status: 204)
  }

  // MARK: stores and rights

  private func stores() async throws(SyncRefusal) -> WebAnswer {
    let shown = try await asked { () throws(ServerStoreError) -> [ShownStore] in
      let paths = try await host.stores.stores()
      let heads = try await host.stores.heads(paths)
      return paths.map { ShownStore(path: $0.text, head: heads[$0]?.rawValue ?? 0) }
    }
    return .json(shown)
  }

  private func removeStore(_ text: String, _ ifThere: Bool) async throws(SyncRefusal) -> WebAnswer {
    guard let path = StorePath(text) else { throw SyncRefusal(.unknownStore, "'\(text)' is no path of a store.") }
    guard !path.isOfServer else { throw SyncRefusal(.badFrame, "The server itself needs the store '\(path)'.") }
    try await asked { () throws(ServerStoreError) in
      do throws(ServerStoreError) { try await host.stores.removeStore(path) } catch {
        guard ifThere, error.code == .unknownStore else { throw error }
      }
    }
    return WebAnswer(status: 204)
  }

  private func give(_ sent: GrantChange) async throws(SyncRefusal) -> WebAnswer {
    guard let grant = GrantRecord(user: sent.user, path: sent.path, rights: sent.rights) else {
      throw SyncRefusal(
        .badFrame, "A right is a user or '*', a path as '/shared/shop' or '/shared/*', and letters of 'rwm', or 'none'.")
    }
    try await asked { () throws(ServerStoreError) in try await directory.put(grant) }
    await host.recheck()
    return .json(GrantChange(user: grant.user, path: grant.path, rights: grant.rights.short))
  }

  private struct BackUp: Codable { let name: String }

  private func backUp(_ sent: BackUp) async throws(SyncRefusal) -> WebAnswer {
    guard let backUp else { throw SyncRefusal(.badFrame, "The stores are in a database: take its own back-up.") }
    guard StorePath.isPart(sent.name) else {
      throw SyncRefusal(.badFrame, "A back-up's name is one to 64 of A–Z, a–z, 0–9, '.', '_' and '-'.")
    }
    do throws(ServerStoreError) { try await backUp(sent.name) } catch {
      guard error.code == .storeExists else { throw ServerRoutes.refusal(error) }
      throw SyncRefusal(.badFrame, "There is a back-up '\(sent.name)' already.")
    }
    return .json(sent, status: 201)
  }

  /// Asks the stores or the directory.
  @discardableResult
  func asked<R: Sendable>(_ body: () async throws(ServerStoreError) -> R) async throws(SyncRefusal) -> R {
    do throws(ServerStoreError) { return try await body() } catch { throw ServerRoutes.refusal(error) }
  }

  /// An administrator is told why.
  private static func refusal(_ error: ServerStoreError) -> SyncRefusal { SyncRefusal(error.syncCode, error.message) }
}
#endif
