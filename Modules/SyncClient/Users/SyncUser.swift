import Foundation
import StorageCoordination
import SyncProtocol

/// A user who is logged in on this device (`SyncUsers`): provides tokens to replicators, and renews them before they expire.
///
/// **Threads.** Any task may call.
public actor SyncUser: SyncCredentials {
  /// The user's name: his stores are below "/~/", which is "/NAME/" to others.
  public nonisolated let name: String
  private let file: KeptUsers
  private let server: any WebRequester
  private var refreshing: Task<String?, Never>?
  /// What the file said last: a file that cannot be read for a while is no log-out.
  private var last: KeptUsers.User?

  init(_ name: String, _ file: KeptUsers, _ server: any WebRequester, _ last: KeptUsers.User?) {
    (self.name, self.file, self.server, self.last) = (name, file, server, last)
  }

  /// Whether the user is still logged in: the server may have ended the log-in.
  public var isLoggedIn: Bool { kept() != nil }

  /// Notes what another log-in has written to the file.
  func know(_ user: KeptUsers.User) { last = user }

  private func kept() -> KeptUsers.User? {
    if let contents = try? file.read() { last = contents.users[name] }
    return last
  }

  /// A token is renewed this many milliseconds before it expires.
  private static let margin: Int64 = 60_000

  /// The present token, or a new one; nil if the user must log in again. If the server cannot be reached, or the file
  /// not read, the old token, so that replicators go on trying.
  public func token(isNew: Bool) async -> String? {
    guard let kept = kept() else { return nil }
    if !isNew, kept.accessEnds - SyncUser.margin > LogInAnswer.now { return kept.accessToken }
    if let refreshing { return await refreshing.value }
    let task = Task { await refresh(kept) }
    refreshing = task
    defer { refreshing = nil }
    return await task.value
  }

  private struct Refresh: Encodable { let refreshToken: String }

  private func refresh(_ old: KeptUsers.User) async -> String? {
    do {
      // Other processes use the same refresh token, which is valid until its successor is used.
      let turn = try await file.turn()
      defer { withExtendedLifetime(turn) {} }
      guard let kept = try file.read().users[name] else { return nil }
      if kept.accessToken != old.accessToken { return kept.accessToken }
      do {
        let answer = try await LogInAnswer.asked(server, "refresh", Refresh(refreshToken: kept.refreshToken))
        var contents = try file.read()
        contents.users[name] = answer.kept
        try file.write(contents)
        last = answer.kept
        return answer.accessToken
      } catch let error as SyncError where error.code == .tokenInvalid || error.code == .tokenExpired {
        try forget()
        return nil
      } catch let error as SyncError where error.code == .userSuspended {
        // The suspension may end.
        return nil
      } catch is SyncError { return kept.accessToken } catch is TransportError { return kept.accessToken }
    } catch { return old.accessToken }
  }

  private func forget() throws {
    var contents = try file.read()
    contents.users[name] = nil
    if contents.current == name { contents.current = contents.users.keys.min() }
    try file.write(contents)
    last = nil
  }

  /// Logs the user out: removes his tokens from this device and, if the server can be reached now, invalidates them there. His stores
  /// keep their objects; the app decides whether to remove them.
  public func logOut() async throws {
    let turn = try await file.turn()
    defer { withExtendedLifetime(turn) {} }
    guard let kept = try file.read().users[name] else { return }
    try forget()
    do { _ = try await LogInAnswer.sent(server, "logout", Refresh(refreshToken: kept.refreshToken)) } catch {
      // If the server cannot be reached, the log-in expires there by itself, and nobody has its token.
    }
  }
}
