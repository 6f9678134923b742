import SyncModel
import SyncProtocol

// Tokens: the one with which a connection begins, and those that replace it.

/// Whether another token is needed on a connection whose server says that its token ends.
enum TokenRenewal: Hashable, Sendable {
  /// None is needed.
  case none
  /// It was asked for.
  case asked
  /// It will be asked for.
  case planned
}

extension SyncSession {
  mutating func got(_ token: String?, _ now: Int64, _ random: Double, _ effects: inout [SyncSessionEffect]) {
    // There is no new one now, because whoever gives them cannot be reached.
    if let token, token == refused {
      if state == .gettingToken { fail(now, random, &effects) }
      return
    }
    self.token = token
    switch state {
    // There is none for a user who is suspended, and that may end.
    case .gettingToken where token == nil && denied == .userSuspended: deny(.userSuspended, now, random, &effects)
    case .gettingToken, .suspended(.login):
      if token == nil { state = .suspended(.login) } else { begin(now, &effects) }
    // The greeting has the token.
    case .greeting where given == nil: greet(&effects)
    case .greeting, .binding, .fetching, .live: giveToken(now, random, &effects)
    default: break
    }
  }

  /// Gives the server the new token. Of the one that it has already, it would only say again that it ends.
  private mutating func giveToken(_ now: Int64, _ random: Double, _ effects: inout [SyncSessionEffect]) {
    guard let token else { return }
    if token != given {
      given = token
      effects.append(.send(.authenticate(token: token)))
      if renewal != .none { noteRenewal(now) }
      renewal = .none
    } else if renewal == .asked {
      noteRenewal(now)
      renew(now, random, &effects)
    }
  }

  /// The server says that the token ends.
  mutating func expiring(_ now: Int64, _ random: Double, _ effects: inout [SyncSessionEffect]) {
    guard renewal == .none else { return }
    if let renewedAt, now - renewedAt >= configuration.settled { (renewals, self.renewedAt) = (0, nil) }
    renew(now, random, &effects)
  }

  private mutating func noteRenewal(_ now: Int64) {
    renewals += 1
    renewedAt = now
  }

  /// The longest wait before a token is asked for again. A server says a minute ahead that one ends, and there may be a new one until then.
  private static let longestRenewal: Int64 = 15_000

  /// Asks for a new token at once or, after an answer, each time twice as late: whoever gives tokens may have none for a while, or only
  /// those that end soon as well, and the server would say so as fast as they are sent to it.
  private mutating func renew(_ now: Int64, _ random: Double, _ effects: inout [SyncSessionEffect]) {
    if let renewedAt {
      let due = renewedAt + spread(min(delay(after: renewals - 1), SyncSession.longestRenewal), random)
      if now < due {
        renewal = .planned
        return effects.append(.wake(.renewal, at: due, generation: generation))
      }
    }
    askForToken(&effects)
  }

  mutating func askForToken(_ effects: inout [SyncSessionEffect]) {
    renewal = .asked
    effects.append(.getToken(isNew: true))
  }

  /// Asks for a new token; if another one is refused too, somebody must log in.
  mutating func renewToken(_ code: SyncErrorCode, _ text: String, _ effects: inout [SyncSessionEffect]) {
    (refused, token) = (token, nil)
    effects.append(.tell(code, text: text))
    suspend(.login, &effects)
    guard !hasRenewed else { return }
    hasRenewed = true
    state = .gettingToken
    effects.append(.getToken(isNew: true))
  }
}
