#if Sync
import Foundation
import SyncClient
import SyncProtocol
import SyncProving
import SyncWebSocket
import Testing
import Vivarium
import VivariumTestSupport

@MainActor @Suite(
  "Two of the server's programs over one PostgreSQL", .enabled(if: PostgresFolder.isInstalled, "PostgreSQL is not installed"))
struct PostgresProgramTests {
  private let directory = TemporaryDirectory()

  @Test("serve the same users and stores, and what is changed for a user counts in both")
  func together() async throws {
    let database = try PostgresFolder()
    let place = ["--postgres", database.address()]
    func run(_ words: String..., input: String = "") throws -> (output: String, problem: String, status: Int32) {
      try ServerProcess.run(arguments: Array(words.prefix(2)) + place + words.dropFirst(2), input: input)
    }
    #expect(try run("user", "add", "ann", "--password", input: "correct horse\n").status == 0)
    let servers = [try ServerProcess(postgres: database.address()), try ServerProcess(postgres: database.address())]
    let connectors = try servers.map { try WebSocketConnector("ws://127.0.0.1:\($0.port)") }
    // She logs in at one, and is known to the other: both sign with one key.
    let ann = try await SyncUsers(file: directory.url.appending(path: "users"), server: connectors[0])
      .logIn("ann", password: "correct horse")
    let first = try Device(directory, "first", connector: connectors[0], credentials: ann)
    let second = try Device(directory, "second", connector: connectors[1], credentials: ann)
    for device in [first, second] { await device.replicator.start() }
    try first.write("a", "from the first")
    try second.write("b", "from the second")
    for device in [first, second] { try await device.replicator.uploaded() }
    for device in [first, second] { try await device.replicator.downloaded() }
    #expect(first.texts == ["a": "from the first", "b": "from the second"] && second.texts == first.texts)
    #expect(try run("store", "list").output == "/ann/pages\n")
    #expect(try run("user", "suspend", "ann").status == 0)
    for device in [first, second] {
      guard case .suspended(let error)? = await device.state({ if case .suspended = $0 { true } else { false } }) else { return }
      #expect(error.code == .userSuspended)
      await device.replicator.stop()
    }
    for server in servers { #expect(server.end() == 0) }
    #expect(try run("store", "remove", "/ann/pages").status == 0)
    #expect(try run("store", "list").output == "")
    #expect(try run("store", "remove", "/ann/pages").status != 0)
  }

  @Test("say what is wrong with an address, and never the address, which may have a password in it")
  func wrongAddress() throws {
    let address = "host=/nowhere/at/all password=very-secret dbname=x"
    for words in [["serve"], ["user", "list"], ["store", "list"], ["user", "add", "ann"]] {
      let (output, problem, status) = try ServerProcess.run(arguments: words + ["--postgres", address], input: "")
      #expect(status != 0 && !problem.isEmpty)
      #expect(!problem.contains("very-secret") && !output.contains("very-secret"))
    }
    #expect(try ServerProcess.run("serve", "--folder", "/tmp/x", "--postgres", address).status != 0)
    #expect(try ServerProcess.run("user", "list").status != 0)
  }
}
#endif
