import Foundation
import SyncProtocol

/// A server's answer to a log-in or a refresh.
struct LogInAnswer: Decodable {
  let user: String
  let accessToken: String
  let expiresIn: Int64
  let refreshToken: String

  private struct Problem: Decodable {
    let code: UInt16
    let text: String
  }

  var kept: KeptUsers.User {
    KeptUsers.User(
      refreshToken: refreshToken, accessToken: accessToken, accessEnds: LogInAnswer.now + min(max(expiresIn, 0), 86_400) * 1000)
  }

  static var now: Int64 { Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)) }

  /// Sends a request to one of the server's account routes. Throws `SyncError` if the server refuses, otherwise `TransportError`.
  static func asked(_ server: any WebRequester, _ route: String, _ body: some Encodable) async throws -> LogInAnswer {
    let answer = try await sent(server, route, body)
    do { return try JSONDecoder().decode(LogInAnswer.self, from: Data(answer.body)) } catch {
      throw TransportError(.foreignProtocol, "The server's answer to '\(route)' is none that is known.")
    }
  }

  static func sent(_ server: any WebRequester, _ route: String, _ body: some Encodable) async throws -> WebAnswer {
    let data = try JSONEncoder().encode(body)
    let answer = try await server.answer(to: WebRequest(method: "POST", path: "/auth/v1/\(route)", body: Array(data)))
    if (200..<300).contains(answer.status) { return answer }
    guard let problem = try? JSONDecoder().decode(Problem.self, from: Data(answer.body)), let code = SyncErrorCode(rawValue: problem.code)
    else { throw TransportError(.foreignProtocol, "The server answers '\(route)' with the status \(answer.status).") }
    throw SyncError(code, problem.text)
  }
}
