#if Sync
import Foundation
import SyncClient
import SyncProtocol
import SyncWebSocket
import Testing
import Vivarium
import VivariumTestSupport

/// What Docs/Sync.md shows compiles. It is not run: nobody is there.
private func documented(_ store: Store, folder: URL, password: String) async throws {
  let connector = try WebSocketConnector("wss://sync.example.org")
  let users = SyncUsers(file: folder.appending(path: "users"), server: connector)
  let ann = try await users.logIn("ann", password: password)  // once; from then on 'users.current'
  let replicator = store.replicator(path: "/~/tasks", connector: connector, credentials: ann)
  await replicator.start()
}

@MainActor @Suite("The server's program with accounts and TLS")
struct AccountProgramTests {
  private let directory = TemporaryDirectory()
  private var folder: String { directory.url.appending(path: "server").path }
  private var log: String { directory.url.appending(path: "log").path }

  private func add(_ user: String, password: String, _ more: String...) throws {
    let arguments = ["user", "add", "--folder", folder, user, "--password"] + more
    #expect(try ServerProcess.run(arguments: arguments, input: password + "\n").status == 0)
  }

  @Test("logs a user in over TLS, keeps his devices the same, and lets nothing secret into its log")
  func secrets() async throws {
    let certificates = try TestCertificates()
    let files = try certificates.server()
    try add("ann", password: "correct horse")
    let server = try ServerProcess(
      folder: folder, log: log, "--certificate", files.chain, "--key", files.key, "--log-level", "trace")
    let address = "wss://localhost:\(server.port)"
    let connector = try WebSocketConnector(address, trust: .roots(file: certificates.root))
    let users = SyncUsers(file: directory.url.appending(path: "users"), server: connector)
    await #expect { _ = try await users.logIn("ann", password: "wrong horse") } throws: { ($0 as? SyncError)?.code == .tokenInvalid }
    let ann = try await users.logIn("ann", password: "correct horse", device: "laptop")
    let first = try Device(directory, "first", connector: connector, credentials: ann)
    let second = try Device(directory, "second", connector: connector, credentials: ann)
    for device in [first, second] { await device.replicator.start() }
    try first.write("a", "the secret text of a page")
    try await first.replicator.uploaded()
    try await second.replicator.downloaded()
    #expect(second.texts == ["a": "the secret text of a page"])
    let before = await ann.token(isNew: false)
    let after = await ann.token(isNew: true)
    #expect(before != after)
    let stranger = try Device(directory, "stranger", connector: connector, credentials: FixedToken("0123456789abcdef0123456789abcdef"))
    await stranger.replicator.start()
    _ = await stranger.state { if case .suspended = $0 { true } else { false } }
    let kept = try String(contentsOf: directory.url.appending(path: "users"), encoding: .utf8)
    try await ann.logOut()
    #expect(await ann.token(isNew: false) == nil)
    for device in [first, second, stranger] { await device.replicator.stop() }
    #expect(server.end() == 0)
    let written = try String(contentsOfFile: log, encoding: .utf8)
    #expect(written.contains("user=ann"))
    let refresh = try #require(kept.split(separator: "\"").first { $0.count > 80 && $0.split(separator: ".").count == 2 }.map(String.init))
    let secrets = ["correct horse", "wrong horse", "0123456789abcdef", "the secret text", refresh, before, after].compactMap { $0 }
    #expect(secrets.count == 7)
    for secret in secrets { #expect(!written.contains(secret)) }
    for file in ["users.json", "token-key"] {
      let found = try FileManager.default.attributesOfItem(atPath: folder + "/" + file)
      #expect((found[.posixPermissions] as? NSNumber)?.intValue == 0o600, "\(file)")
    }
  }

  @Test("ends the sessions of a user who is suspended from the shell, and lets him in again")
  func suspended() async throws {
    try add("ann", password: "correct horse")
    let server = try ServerProcess(folder: folder)
    let connector = try WebSocketConnector("ws://127.0.0.1:\(server.port)")
    let users = SyncUsers(file: directory.url.appending(path: "users"), server: connector)
    let ann = try await users.logIn("ann", password: "correct horse")
    let device = try Device(directory, "first", connector: connector, credentials: ann)
    await device.replicator.start()
    #expect(await device.state { $0 == .live } != nil)
    #expect(try ServerProcess.run("user", "suspend", "--folder", folder, "ann").status == 0)
    guard case .suspended(let error)? = await device.state({ if case .suspended = $0 { true } else { false } }) else { return }
    #expect(error.code == .userSuspended)
    await #expect { _ = try await users.logIn("ann", password: "correct horse") } throws: {
      ($0 as? SyncError)?.code == .userSuspended
    }
    #expect(try ServerProcess.run("user", "list", "--folder", folder).output == "ann suspended\n")
    #expect(try ServerProcess.run("user", "resume", "--folder", folder, "ann").status == 0)
    await device.replicator.retry()
    #expect(await device.state { $0 == .live } != nil)
    await device.replicator.stop()
    #expect(server.end() == 0)
  }

  @Test("gives rights from the shell to stores that are shared")
  func shared() async throws {
    let token = try ServerProcess.run("user", "add", "--folder", folder, "bob").output.trimmingCharacters(in: .whitespacesAndNewlines)
    let server = try ServerProcess(folder: folder)
    let connector = try WebSocketConnector("ws://127.0.0.1:\(server.port)")
    let device = try Device(directory, "first", path: "/shared/pages", connector: connector, credentials: FixedToken(token))
    await device.replicator.start()
    guard case .suspended(let error)? = await device.state({ if case .suspended = $0 { true } else { false } }) else { return }
    #expect(error.code == .unknownStore)
    #expect(try ServerProcess.run("grant", "give", "--folder", folder, "bob", "/shared/*", "rwm").status == 0)
    #expect(try ServerProcess.run("grant", "list", "--folder", folder).output == "bob /shared/* rwm\n")
    await device.replicator.retry()
    #expect(await device.state { $0 == .live } != nil)
    await device.replicator.stop()
    #expect(try ServerProcess.run("store", "remove", "--folder", folder, "/shared/pages").status != 0)
    #expect(server.end() == 0)
    #expect(try ServerProcess.run("store", "list", "--folder", folder).output == "/shared/pages\n")
    #expect(try ServerProcess.run("store", "remove", "--folder", folder, "/shared/pages").status == 0)
    #expect(try ServerProcess.run("store", "list", "--folder", folder).output == "")
    #expect(try ServerProcess.run("store", "list", "--all", "--folder", folder).output == "/__server/handlers\n")
    #expect(try ServerProcess.run("store", "remove", "--folder", folder, "/shared/pages").status != 0)
  }

  @Test("removes a store while it runs, and who has the store is told and keeps what he has")
  func removed() async throws {
    func token(_ words: String...) throws -> String {
      let output = try ServerProcess.run(arguments: ["user", "add", "--folder", folder] + words, input: "").output
      return output.trimmingCharacters(in: .whitespacesAndNewlines)
    }
    let (root, ann) = (try token("root", "--admin"), try token("ann"))
    let server = try ServerProcess(folder: folder)
    let connector = try WebSocketConnector("ws://127.0.0.1:\(server.port)")
    let device = try Device(directory, "first", connector: connector, credentials: FixedToken(ann))
    await device.replicator.start()
    try device.write("a", "hello")
    try await device.replicator.uploaded()
    let answer = try await connector.answer(to: WebRequest(method: "DELETE", path: "/admin/v1/stores/ann/pages", token: root))
    #expect(answer.status == 204)
    guard case .suspended(let error)? = await device.state({ if case .suspended = $0 { true } else { false } }) else { return }
    #expect(error.code == .unknownStore)
    #expect(device.texts == ["a": "hello"])
    await device.replicator.stop()
    #expect(server.end() == 0)
    #expect(try ServerProcess.run("store", "list", "--folder", folder).output == "")
  }

  @Test("takes another certificate when it is told to, and connections that there are go on")
  func reload() async throws {
    let certificates = try TestCertificates()
    let files = try certificates.server()
    let token = try ServerProcess.run("user", "add", "--folder", folder, "bob").output.trimmingCharacters(in: .whitespacesAndNewlines)
    let server = try ServerProcess(folder: folder, "--certificate", files.chain, "--key", files.key)
    let address = "wss://localhost:\(server.port)"
    let pin = try #require(ServerTrust(pin: try TestCertificates.pin(of: files.chain)))
    var (encoder, decoder) = (FrameEncoder(), FrameDecoder())
    let hello = try encoder.parts(of: ClientMessage.hello(Hello(versions: [1], features: [], token: token)).frame)
    var welcomed: (any SyncTransport)?
    // On a machine that is busy it may take longer to say who one is than the server waits.
    for _ in 0..<20 where welcomed == nil {
      let connection = try await WebSocketConnector(address, trust: pin).connect()
      guard (try? await connection.send(hello)) != nil, case .welcome? = try? await answer(of: connection, &decoder) else { continue }
      welcomed = connection
    }
    let old = try #require(welcomed)
    _ = try certificates.server()
    let next = try #require(ServerTrust(pin: try TestCertificates.pin(of: files.chain)))
    server.hangUp()
    // Each try is an answer of the server, which takes the signal when it comes to it.
    var isTaken = false
    for _ in 0..<10_000 where !isTaken {
      isTaken = (try? await WebSocketConnector(address, trust: next).answer(to: WebRequest(method: "GET", path: "/health")))?.status == 200
    }
    #expect(isTaken)
    try await old.send(try encoder.parts(of: ClientMessage.ping(number: 1, roundTrip: 0).frame))
    #expect(try await answer(of: old, &decoder) == .pong(number: 1))
    #expect(server.end() == 0)
  }

  private func answer(of connection: any SyncTransport, _ decoder: inout FrameDecoder) async throws -> ServerMessage? {
    while let part = try await connection.receive() {
      if let frame = try decoder.take(part) { return try ServerMessage(frame) }
    }
    return nil
  }

  @Test("tells a device that does not trust it so, and what to do")
  func untrusted() async throws {
    let certificates = try TestCertificates()
    let files = try certificates.server()
    let server = try ServerProcess(folder: folder, "--certificate", files.chain, "--key", files.key)
    withExtendedLifetime(certificates) {}
    let device = try Device(
      directory, "first", connector: try WebSocketConnector("wss://localhost:\(server.port)"), credentials: FixedToken("x"))
    await device.replicator.start()
    guard case .untrusted(let error)? = await device.state({ if case .untrusted = $0 { true } else { false } }) else { return }
    #expect(error.remedy.contains("certificate"))
    await device.replicator.stop()
    #expect(server.end() == 0)
  }

  @Test("says in which line of its settings something is wrong", arguments: [
    ("folder = /tmp\nprot = 5\n", ":2:", "port"), ("port = many\n", ":1:", "number"), ("# remark\n\nport 5\n", ":3:", "name = value"),
    ("port = 1\nport = 2\n", ":2:", ":1"), ("behind-proxy = perhaps\n", ":1:", "yes"), ("log-level = loud\n", ":1:", "trace"),
    ("port =\n", ":1:", "no value"), ("host = 127.0.0.1\n", "folder", "folder"),
  ])
  func settings(text: String, place: String, remedy: String) throws {
    let file = directory.url.appending(path: "settings").path
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    let (_, problem, status) = try ServerProcess.run("serve", "--settings", file)
    #expect(status != 0)
    #expect(problem.contains(place) && problem.contains(remedy), "\(problem)")
  }

  @Test("refuses plain text from others, and a certificate without its key")
  func plain() throws {
    for more in [
      ["--host", "0.0.0.0"], ["--certificate", "/nowhere"], ["--certificate", "/nowhere", "--key", "/nowhere"], ["--issuer", "x"],
    ] {
      let (_, problem, status) = try ServerProcess.run(arguments: ["serve", "--folder", folder] + more, input: "")
      #expect(status != 0 && !problem.isEmpty)
    }
  }

  @Test("does what its settings say, and rather what its flags do")
  func merged() async throws {
    let file = directory.url.appending(path: "settings").path
    try Data("# a server\nfolder = \(folder)\nport = 1\nregistration = yes\n".utf8).write(to: URL(fileURLWithPath: file))
    let server = try ServerProcess(folder: folder, "--settings", file)
    let users = SyncUsers(
      file: directory.url.appending(path: "users"), server: try WebSocketConnector("ws://127.0.0.1:\(server.port)"))
    let eve = try await users.register("eve", password: "long enough")
    #expect(eve.name == "eve")
    #expect(server.end() == 0)
  }
}
#endif
