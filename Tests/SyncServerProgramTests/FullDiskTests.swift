#if Sync && os(Linux)
import Foundation
import SyncClient
import SyncProtocol
import SyncWebSocket
import Testing
import VivariumTestSupport

/// A small volume in memory; nil where this user may not make one.
private final class Volume {
  let path: String
  private var filler: String { path + "/filler" }

  init?() {
    path = FileManager.default.temporaryDirectory.path + "/vivarium-volume-\(UUID().uuidString)"
    guard mkdir(path, 0o700) == 0 else { return nil }
    guard mount("vivarium", path, "tmpfs", 0, "size=16m") == 0 else {
      rmdir(path)
      return nil
    }
  }

  /// Takes all room.
  func fill() {
    let file = open(filler, O_WRONLY | O_CREAT, 0o600)
    let page = [UInt8](repeating: 1, count: 4096)
    while write(file, page, page.count) == page.count {}
    close(file)
  }

  func free() { unlink(filler) }

  deinit {
    umount2(path, Int32(MNT_DETACH))
    rmdir(path)
  }
}

@MainActor @Suite("The server's program on a full disk")
struct FullDiskTests {
  @Test("serves on when its log cannot be written")
  func fullLog() async throws {
    let directory = TemporaryDirectory()
    let folder = directory.url.appending(path: "server").path
    let token = try ServerProcess.run("user", "add", "--folder", folder, "ann").output.trimmingCharacters(in: .whitespacesAndNewlines)
    let server = try ServerProcess(folder: folder, log: "/dev/full", "--log-level", "trace")
    let connector = try WebSocketConnector("ws://127.0.0.1:\(server.port)")
    let device = try Device(directory, "first", connector: connector, credentials: FixedToken(token))
    await device.replicator.start()
    try device.write("a", "text")
    try await device.replicator.uploaded()
    await device.replicator.stop()
    #expect(server.end() == 0)
  }

  @Test("tells devices and users that it cannot keep what they sent, loses nothing, and goes on when there is room")
  func full() async throws {
    guard let volume = Volume() else { return print("Not run: this user may not mount a volume.") }
    let directory = TemporaryDirectory()
    let folder = volume.path + "/server"
    let token = try ServerProcess.run("user", "add", "--folder", folder, "ann").output.trimmingCharacters(in: .whitespacesAndNewlines)
    let added = ["user", "add", "--folder", folder, "bob", "--password"]
    #expect(try ServerProcess.run(arguments: added, input: "battery staple\n").status == 0)
    let server = try ServerProcess(folder: folder)
    let connector = try WebSocketConnector("ws://127.0.0.1:\(server.port)")
    let device = try Device(directory, "first", connector: connector, credentials: FixedToken(token))
    await device.replicator.start()
    try device.write("before", "text")
    try await device.replicator.uploaded()
    volume.fill()
    let notices = await device.replicator.notices()
    for number in 0..<20 { try device.write("page \(number)", String(repeating: "long ", count: 4000)) }
    for await notice in notices {
      guard case .problem(let error) = notice else { continue }
      #expect(error.code == .storageUnavailable)
      break
    }
    let users = SyncUsers(file: directory.url.appending(path: "users"), server: connector)
    await #expect { _ = try await users.logIn("bob", password: "battery staple") } throws: {
      ($0 as? SyncError)?.code == .storageUnavailable
    }
    volume.free()
    try await device.replicator.uploaded()
    #expect(try await users.logIn("bob", password: "battery staple").name == "bob")
    let second = try Device(directory, "second", connector: connector, credentials: FixedToken(token))
    await second.replicator.start()
    try await second.replicator.downloaded()
    #expect(second.texts.count == 21)
    #expect(second.texts == device.texts)
    for one in [device, second] { await one.replicator.stop() }
    #expect(server.end() == 0)
  }
}
#endif
