#if Sync
import Foundation
import SyncClient
import SyncProtocol
import SyncWebSocket
import Testing
import VivariumTestSupport

@MainActor @Suite("The log of the server's program")
struct LogProgramTests {
  @Test("has nothing in it that a terminal would obey, and one line for each thing")
  func escaped() async throws {
    let directory = TemporaryDirectory()
    // The text of an error has the path in it.
    let folder = directory.url.appending(path: "ser\u{202E}rev\u{2028}level=info\u{1B}[2J").path
    let log = directory.url.appending(path: "log").path
    #expect(try ServerProcess.run("user", "add", "--folder", folder, "ann").status == 0)
    let server = try ServerProcess(folder: folder, log: log)
    try Data("no users".utf8).write(to: URL(fileURLWithPath: folder + "/users.json"))
    let users = SyncUsers(
      file: directory.url.appending(path: "users"), server: try WebSocketConnector("ws://127.0.0.1:\(server.port)"))
    await #expect { _ = try await users.logIn("ann", password: "correct horse") } throws: {
      ($0 as? SyncError)?.code == .storageUnavailable
    }
    #expect(server.end() == 0)
    let written = try String(contentsOfFile: log, encoding: .utf8)
    #expect(written.contains("ser\\u{202e}rev\\u{2028}level=info\\u{1b}[2J"))
    for obeyed: Unicode.Scalar in ["\u{202E}", "\u{2028}", "\u{1B}"] { #expect(!written.unicodeScalars.contains(obeyed)) }
  }
}
#endif
