import StoreMessages
import SyncManagement
import SyncModel
import SyncProtocol
import SyncServer
import Vivarium

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Changes rights, as users request in their management stores.
///
/// The directory is changed first, then the outcome is written back. A server that dies in between repeats the change, which grants the
/// same rights again.
struct PermissionHandler: Sendable {
  let directory: any UserDirectory
  let options: ServerEvents.PermissionOptions
  let clock: @Sendable () -> Int64

  /// Why a request is refused.
  struct Refusal: Error {
    let code: SyncErrorCode
    let text: String
  }

  // MARK: changes

  func change(_ wish: Frozen<SyncPermissionChange>, of author: String) async throws(ServerStoreError) -> Outcome {
    try await outcome { () throws(Outcome.Failure) in
      let path = try self.path(wish.storeURL, of: author)
      try await self.check(author, maySetRightsOn: path)
      guard wish.userID == "*" || UserRecord.isName(wish.userID) else {
        throw .refused(Refusal(code: .invalidChange, text: "'\(wish.userID)' is no name of a user."))
      }
      if wish.userID != "*", !options.allowsUnknownUsers, try await self.user(wish.userID) == nil {
        throw .refused(Refusal(code: .invalidChange, text: "There is no user '\(wish.userID)'."))
      }
      let mayRead: Bool? = wish.mayRead
      let mayWrite: Bool? = wish.mayWrite
      if mayRead == false, mayWrite == true { throw .refused(Refusal(code: .invalidChange, text: "Who writes also reads.")) }
      let mayManage: Bool? = wish.mayManage
      let grant = try await self.changeGrant(of: wish.userID, at: path) { grant in
        // Writing includes reading, which stays when only writing is taken away.
        if grant.mayWrite { grant.mayRead = true }
        if let mayRead { grant.mayRead = mayRead }
        if let mayWrite { grant.mayWrite = mayWrite }
        if mayRead == false { grant.mayWrite = false }
        if let mayManage { grant.mayManage = mayManage }
      }
      return "'\(wish.userID)' has \(grant.rights.short) at \(path)."
    }
  }

  // MARK: offers

  /// Stores an offer under the hash of its token. If the server dies before the token is written back, another token is drawn, and the
  /// first offer remains with a token that nobody knows.
  func offer(_ wish: Frozen<SyncPermissionOffer>, of author: String, token: String) async throws(ServerStoreError) -> Outcome {
    try await outcome { () throws(Outcome.Failure) in
      let path = try self.path(wish.storeURL, of: author)
      try await self.check(author, maySetRightsOn: path)
      var grant = GrantRecord(
        user: GrantRecord.offer(options.hash(token)), path: path, mayRead: wish.mayRead, mayWrite: wish.mayWrite,
        mayManage: wish.mayManage)
      if grant.isEmpty { throw .refused(Refusal(code: .invalidChange, text: "It offers nothing.")) }
      try await self.forgetOffers()
      grant.giver = author
      grant.expires = wish.expiresAt.map { Int64(exactly: ($0.timeIntervalSince1970 * 1000).rounded()) ?? .max }
      try await self.put(grant)
      return "Whoever has the token can accept it."
    }
  }

  func accept(_ token: String, of author: String) async throws(ServerStoreError) -> (Outcome, path: String?) {
    var path: String?
    let outcome = try await outcome { () throws(Outcome.Failure) in
      let name = GrantRecord.offer(options.hash(token))
      guard let offer = try await self.grants().first(where: { $0.user == name }), let giver = offer.giver,
        offer.expires.map({ $0 > clock() }) ?? true
      else { throw .refused(Refusal(code: .invalidChange, text: "There is no such offer, or it has ended.")) }
      try await self.check(giver, maySetRightsOn: offer.path)
      let grant = try await self.changeGrant(of: author, at: offer.path) { grant in
        grant.mayRead = grant.mayRead || offer.mayRead
        grant.mayWrite = grant.mayWrite || offer.mayWrite
        grant.mayManage = grant.mayManage || offer.mayManage
      }
      path = offer.path
      return "'\(author)' has \(grant.rights.short) at \(offer.path)."
    }
    return (outcome, path)
  }

  // MARK: helpers

  /// The path of an address, with the author's name for "~".
  private func path(_ address: String, of author: String) throws(Outcome.Failure) -> String {
    var text = Substring(address)
    if let scheme = text.firstRange(of: "://") {
      let rest = text[scheme.upperBound...]
      text = rest.firstIndex(of: "/").map { rest[$0...] } ?? ""
    }
    let path = text.hasPrefix("/~/") ? "/\(author)/" + text.dropFirst(3) : String(text)
    guard GrantRecord.isPattern(path) else {
      throw .refused(
        Refusal(code: .unknownStore, text: "'\(address)' is no path of a store, as '/shared/shop', '/~/tasks' or '/shared/*'."))
    }
    let parts = path.split(separator: "/")
    guard !parts.contains("__management"), parts.first != "__server" else {
      throw .refused(Refusal(code: .writeDenied, text: "Nobody gives rights on '\(path)'."))
    }
    return path
  }

  /// Throws unless a user may change rights at a path. For "/*" he needs that right on all stores below.
  private func check(_ author: String, maySetRightsOn path: String) async throws(Outcome.Failure) {
    let isAdministrator = try await user(author)?.isAdministrator ?? false
    if isAdministrator || path.hasPrefix("/\(author)/") { return }
    for grant in try await grants() where grant.mayManage && (grant.user == author || grant.user == "*") {
      if grant.path == path || grant.path.hasSuffix("/*") && path.hasPrefix(grant.path.dropLast(1)) { return }
    }
    throw .refused(Refusal(code: .writeDenied, text: "'\(author)' may not say who may do what at '\(path)'."))
  }

  /// Changes a grant in one step: others may change it at the same time.
  private func changeGrant(
    of user: String, at path: String, _ change: @Sendable @escaping (inout GrantRecord) -> Void
  ) async throws(Outcome.Failure) -> GrantRecord {
    let grant: GrantRecord
    do throws(ServerStoreError) { grant = try await directory.changeGrant(of: user, at: path, change) } catch { throw .unavailable(error) }
    await options.changed()
    return grant
  }

  private func grants() async throws(Outcome.Failure) -> [GrantRecord] {
    do throws(ServerStoreError) { return try await directory.grants() } catch { throw .unavailable(error) }
  }

  private func user(_ name: String) async throws(Outcome.Failure) -> UserRecord? {
    do throws(ServerStoreError) { return try await directory.user(name) } catch { throw .unavailable(error) }
  }

  private func put(_ grant: GrantRecord) async throws(Outcome.Failure) {
    do throws(ServerStoreError) { try await directory.put(grant) } catch { throw .unavailable(error) }
    await options.changed()
  }

  /// Removes expired offers.
  private func forgetOffers() async throws(Outcome.Failure) {
    for offer in try await grants() where offer.expires.map({ $0 <= clock() }) ?? false {
      let nothing = GrantRecord(user: offer.user, path: offer.path, mayRead: false)
      do throws(ServerStoreError) { try await directory.put(nothing) } catch { throw .unavailable(error) }
    }
  }

  private func outcome(_ body: () async throws(Outcome.Failure) -> String) async throws(ServerStoreError) -> Outcome {
    do throws(Outcome.Failure) { return Outcome(code: nil, text: try await body()) } catch {
      switch error {
      case .refused(let refusal): return Outcome(code: refusal.code, text: refusal.text)
      case .unavailable(let error): throw error
      }
    }
  }
}

/// The outcome to write back.
struct Outcome: Sendable {
  enum Failure: Error {
    case refused(PermissionHandler.Refusal)
    /// Retried later.
    case unavailable(ServerStoreError)
  }

  /// nil on success.
  let code: SyncErrorCode?
  let text: String

  func settle(_ message: some Message) {
    if let code { message.fail(code: Int(code.rawValue), message: text) } else { message.succeed(message: text) }
  }
}
