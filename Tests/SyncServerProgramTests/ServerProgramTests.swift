#if Sync
import Foundation
import StorageLMDB
import SyncClient
import SyncProtocol
import SyncWebSocket
import Testing
import Vivarium
import VivariumTestSupport

@MainActor @Suite("The server's program")
struct ServerProgramTests {
  private func token(_ folder: String, _ user: String) throws -> String {
    try ServerProcess.run("user", "add", "--folder", folder, user).output.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  @Test("keeps two devices the same, also when it is killed in between, and ends when it is told to")
  func twoDevices() async throws {
    let directory = TemporaryDirectory()
    let folder = directory.url.appending(path: "server").path
    let token = try token(folder, "ann")
    var server = try ServerProcess(folder: folder)
    let first = try Device(directory, "first", port: server.port, token: token)
    let second = try Device(directory, "second", port: server.port, token: token)
    await first.replicator.start()
    await second.replicator.start()
    for round in 0..<3 {
      try first.write("a\(round)", "first")
      try second.write("b\(round)", "second")
      try first.write("both", "\(round)")
      if round > 0 {
        server.killNow()
        try second.write("while it was away \(round)", "second")
        server = try ServerProcess(folder: folder, port: server.port)
      }
      for device in [first, second] { try await device.replicator.uploaded() }
      for device in [first, second] { try await device.replicator.downloaded() }
      #expect(first.texts == second.texts)
      #expect(first.texts["both"] == "\(round)")
    }
    #expect(first.texts.count == 9)
    #expect(try ServerProcess.run("store", "list", "--folder", folder).output == "/ann/pages\n")
    #expect(server.end() == 0)
    await first.replicator.stop()
    await second.replicator.stop()
  }

  @Test("lets nobody in without his token, and tells the device so")
  func strangers() async throws {
    let directory = TemporaryDirectory()
    let folder = directory.url.appending(path: "server").path
    _ = try token(folder, "ann")
    let server = try ServerProcess(folder: folder)
    let device = try Device(directory, "stranger", port: server.port, token: "0000")
    let notices = await device.replicator.notices()
    await device.replicator.start()
    for await notice in notices {
      guard case .state(.suspended(let error)) = notice else { continue }
      #expect(error.code == .tokenInvalid)
      break
    }
    await device.replicator.stop()
    #expect(server.end() == 0)
  }

  @Test("has users come and go, and says what cannot be")
  func users() throws {
    let directory = TemporaryDirectory()
    let folder = directory.url.appending(path: "server").path
    let first = try token(folder, "ann")
    #expect(first.count == 64)
    #expect(try token(folder, "bob") != first)
    #expect(try ServerProcess.run("user", "list", "--folder", folder).output == "ann\nbob\n")
    #expect(try ServerProcess.run("user", "remove", "--folder", folder, "ann").status == 0)
    #expect(try ServerProcess.run("user", "remove", "--folder", folder, "ann").status != 0)
    #expect(try ServerProcess.run("user", "add", "--folder", folder, "no/name").status != 0)
    #expect(try ServerProcess.run("serve", "--folder", folder, "--host", "0.0.0.0").status != 0)
  }

  @Test("lets a user make as many stores as it is told to, and has a device with one more say so")
  func stores() async throws {
    let directory = TemporaryDirectory()
    let folder = directory.url.appending(path: "server").path
    let token = try token(folder, "ann")
    let server = try ServerProcess(folder: folder, "--stores-per-user", "1")
    let connector = try WebSocketConnector("ws://127.0.0.1:\(server.port)")
    let first = try Device(directory, "first", connector: connector, credentials: FixedToken(token))
    await first.replicator.start()
    try await first.replicator.downloaded()
    let second = try Device(directory, "second", path: "/~/more", connector: connector, credentials: FixedToken(token))
    try second.write("a", "kept")
    await second.replicator.start()
    guard case .suspended(let error)? = await second.state({ if case .suspended = $0 { true } else { false } }) else { return }
    #expect(error.code == .quotaExceeded)
    #expect(second.texts == ["a": "kept"])
    for device in [first, second] { await device.replicator.stop() }
    #expect(server.end() == 0)
    #expect(try ServerProcess.run("store", "list", "--folder", folder).output == "/ann/pages\n")
  }

  @Test("takes no number as a flag that it would not take from a file of settings", arguments: [
    ("port", "70000", "0 to 65535"), ("forget-after", "0", "1 to 3650"), ("login-tries", "0", "1 to 1000"),
    ("connections", "-1", "1 to 1000000"), ("connections-per-address", "0", "1 to 1000000"),
    ("stores-per-user", "0", "1 to 1000000"),
  ])
  func numbers(name: String, value: String, range: String) throws {
    let directory = TemporaryDirectory()
    let (folder, file) = (directory.url.appending(path: "server").path, directory.url.appending(path: "settings").path)
    try Data("\(name) = \(value)\n".utf8).write(to: URL(fileURLWithPath: file))
    // It would not listen there in any case.
    let usual = ["serve", "--folder", folder, "--host", "0.0.0.0"]
    for arguments in [["--\(name)=\(value)"], ["--settings", file]] {
      let (_, problem, status) = try ServerProcess.run(arguments: usual + arguments, input: "")
      #expect(status != 0)
      for part in [name, range, "'\(value)'"] { #expect(problem.contains(part), "\(problem)") }
    }
  }
}
#endif
