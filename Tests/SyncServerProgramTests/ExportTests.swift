#if Sync
import Foundation
import SyncClient
import SyncProtocol
import SyncWebSocket
import Testing
import Vivarium
import VivariumTestSupport

@MainActor @Suite("An export of a server's store")
struct ExportTests {
  private let directory = TemporaryDirectory()
  private var folder: String { directory.url.appending(path: "server").path }
  private var file: String { directory.url.appending(path: "pages.jsonl").path }

  private func export(_ path: String) throws -> (output: String, problem: String, status: Int32) {
    try ServerProcess.run("export", "--folder", folder, path, file)
  }

  @Test("has a line for each object that is there, in the order of keys, and none for what was deleted")
  func lines() async throws {
    let token = try ServerProcess.run("user", "add", "--folder", folder, "ann").output.trimmingCharacters(in: .whitespacesAndNewlines)
    let server = try ServerProcess(folder: folder)
    let device = try Device(directory, "first", port: server.port, token: token)
    await device.replicator.start()
    for (id, text) in [("b", "two \u{1B}[2J"), ("a", "one"), ("c", "three")] { try device.write(id, text) }
    try device.store.write {
      if let gone = device.store.object(Page.self, forPrimaryKey: "c") { try device.store.delete(gone) }
    }
    try await device.replicator.uploaded()
    // Its folder is the server's while it runs.
    #expect(try export("/ann/pages").status != 0)
    await device.replicator.stop()
    #expect(server.end() == 0)
    let (output, _, status) = try export("/ann/pages")
    #expect(status == 0 && output == "2 objects\n")
    let lines = try String(contentsOfFile: file, encoding: .utf8)
    #expect(
      lines == """
        {"key":"a","type":"Page","values":{"text":"one"}}
        {"key":"b","type":"Page","values":{"text":"two \\u001b[2J"}}

        """)
    let found = try FileManager.default.attributesOfItem(atPath: file)
    #expect((found[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    // It is never written over.
    #expect(try export("/ann/pages").status != 0)
  }

  @Test("of a store that is not there says so, and leaves no file")
  func nothing() throws {
    #expect(try export("/ann/pages").problem.contains("There are no stores"))
    _ = try ServerProcess.run("user", "add", "--folder", folder, "ann")
    let server = try ServerProcess(folder: folder)
    #expect(server.end() == 0)
    #expect(try export("/ann/pages").problem.contains("no store at /ann/pages"))
    #expect(try export("no path").problem.contains("no path of a store"))
    #expect(!FileManager.default.fileExists(atPath: file))
  }
}
#endif
