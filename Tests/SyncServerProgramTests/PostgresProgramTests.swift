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
    // Its database is not a server's alone.
    #expect(try run("handler", "list").status == 0)
    #expect(try run("handler", "remove", "/ann/pages", "nobody").problem.contains("There is no handler 'nobody'"))
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

  /// As a database whose disk is full does.
  private static let fullDisk = """
    CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN RAISE EXCEPTION USING ERRCODE = ''53100'', MESSAGE = ''could not extend file base/5/16384''; END';
    CREATE TRIGGER full_disk BEFORE INSERT ON sync_entry FOR EACH ROW EXECUTE FUNCTION full_disk()
    """

  @Test("tell a device to wait while the database's disk is full, tell the operator why, and go on when there is room")
  func full() async throws {
    let (database, log) = (try PostgresFolder(), directory.url.appending(path: "log").path)
    let added = try ServerProcess.run("user", "add", "--postgres", database.address(), "ann")
    let token = added.output.trimmingCharacters(in: .whitespacesAndNewlines)
    let server = try ServerProcess(postgres: database.address(), log: log)
    let connector = try WebSocketConnector("ws://127.0.0.1:\(server.port)")
    let device = try Device(directory, "first", connector: connector, credentials: FixedToken(token))
    await device.replicator.start()
    try device.write("before", "text")
    try await device.replicator.uploaded()
    _ = try database.ask("postgres", PostgresProgramTests.fullDisk)
    let notices = await device.replicator.notices()
    try device.write("a", "text")
    for await notice in notices {
      guard case .problem(let error) = notice else { continue }
      #expect(error.code == .storageUnavailable && error.text.isEmpty)
      break
    }
    for await notice in notices { if case .state(.waiting) = notice { break } }
    let metrics = try await connector.answer(to: WebRequest(method: "GET", path: "/metrics")).body
    #expect(String(decoding: metrics, as: UTF8.self).contains("vivarium_refusals_total{code=\"302\"}"))
    _ = try database.ask("postgres", "DROP TRIGGER full_disk ON sync_entry")
    try await device.replicator.uploaded()
    let second = try Device(directory, "second", connector: connector, credentials: FixedToken(token))
    await second.replicator.start()
    try await second.replicator.downloaded()
    #expect(second.texts == ["before": "text", "a": "text"])
    for one in [device, second] { await one.replicator.stop() }
    #expect(server.end() == 0)
    let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
    let line = try #require(lines.first { $0.contains("code=302") })
    for part in ["level=error", "53100", "16384", "make room"] { #expect(line.contains(part), "\(line)") }
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
