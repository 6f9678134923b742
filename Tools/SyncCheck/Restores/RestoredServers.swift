#if Sync
import Foundation
import SyncProtocol
import SyncProving
import SyncWebSocket

/// The server's program over a folder or a database, of which a back-up is taken while it runs, as an operator would, and which is then
/// killed and started from that back-up.
@MainActor final class RestoredServers {
  private enum Place {
    case folder(String)
    case database(PostgresFolder, String)

    var arguments: [String] {
      switch self {
      case .folder(let folder): ["--folder", folder]
      case .database(let postgres, let name): ["--postgres", postgres.address(of: name)]
      }
    }
  }

  private let folder: URL
  private let count: Int
  private var place: Place
  private var backUps = 0
  private var running: [ServerProgram] = []
  /// The token of the administrator, whose stores these are.
  private(set) var token = ""

  /// Starts as many servers as the place can have.
  init(_ home: ServerHome, _ postgres: PostgresFolder?, in folder: URL) throws {
    (self.folder, count) = (folder, home.servers)
    if let postgres {
      try postgres.make("restored0")
      place = .database(postgres, "restored0")
    } else {
      place = .folder(folder.appending(path: "server").path)
    }
    let (output, status) = try ChildProgram.run("vivarium-server", ["user", "add", "--admin", "ann"] + place.arguments)
    guard status == 0, let line = output.split(separator: "\n").last else { throw CheckFailed("There is no administrator: \(output)") }
    token = String(line)
    try start()
  }

  /// Where they listen.
  var ports: [Int] { running.map(\.port) }

  private func start() throws {
    running = try (0..<count).map { _ in try ServerProgram(at: place.arguments, ["--log-level", "critical"]) }
  }

  /// Takes a back-up while they run: by the server itself of a folder, by PostgreSQL's tools of a database.
  func backUp() async throws {
    backUps += 1
    switch place {
    case .folder:
      let connector = try WebSocketConnector("ws://127.0.0.1:\(ports[0])")
      let request = WebRequest(
        method: "POST", path: "/admin/v1/backup", token: token, body: Array("{\"name\": \"b\(backUps)\"}".utf8))
      let answer = try await connector.answer(to: request)
      guard answer.status == 201 else { throw CheckFailed("There is no back-up: \(String(decoding: answer.body, as: UTF8.self))") }
    case .database(let postgres, let name):
      let file = folder.appending(path: "b\(backUps).sql").path
      // Not here, where the devices go on.
      try await Task.detached { try postgres.backUp(name, to: file) }.value
    }
  }

  func killAll() {
    for server in running { server.killNow() }
    running = []
  }

  /// Starts them over the last back-up.
  func restore() throws {
    switch place {
    case .folder(let folder): place = .folder("\(folder)/backups/b\(backUps)")
    case .database(let postgres, _):
      let name = "restored\(backUps)"
      try postgres.make(name, from: folder.appending(path: "b\(backUps).sql").path)
      place = .database(postgres, name)
      let (output, status) = try ChildProgram.run("vivarium-server", ["store", "renew"] + place.arguments)
      guard status == 0 else { throw CheckFailed("The stores get no other history: \(output)") }
    }
    try start()
  }
}
#endif
