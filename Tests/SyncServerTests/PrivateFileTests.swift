import Foundation
import SyncServer
import Testing
import VivariumTestSupport

@Suite("A private file")
struct PrivateFileTests {
  @Test("is replaced as a whole, and nobody else may read it")
  func replaced() throws {
    let folder = TemporaryDirectory()
    let path = folder.file("users").path
    try PrivateFile.write(Data("old".utf8), to: path)
    try PrivateFile.write(Data("new".utf8), to: path)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "new")
    let found = try FileManager.default.attributesOfItem(atPath: path)
    #expect((found[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["users"])
  }

  /// Root opens any folder, so it sees nothing of this.
  @Test("is not said to be durable where its folder cannot be synced", .enabled(if: geteuid() != 0))
  func unsyncedFolder() throws {
    let folder = TemporaryDirectory()
    let path = folder.file("users").path
    // A file can be made and renamed in it, but the folder itself cannot be opened.
    try FileManager.default.setAttributes([.posixPermissions: NSNumber(value: Int16(0o300))], ofItemAtPath: folder.url.path)
    defer {
      try? FileManager.default.setAttributes([.posixPermissions: NSNumber(value: Int16(0o700))], ofItemAtPath: folder.url.path)
    }
    let error = #expect(throws: ServerStoreError.self) { try PrivateFile.write(Data("new".utf8), to: path) }
    #expect(error?.code == .unavailable)
  }
}
