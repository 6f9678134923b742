import Foundation
import SyncServer
import SyncServerConformance
import SyncStoreEmbedded
import Testing

@Suite("The users in a server's folder")
struct EmbeddedUserDirectoryTests {
  private func directory(_ folder: Folder) -> EmbeddedUserDirectory { EmbeddedUserDirectory(path: folder.path + "/users.json") }

  @Test("are there again, for another process too, in a file that nobody else may read")
  func kept() async throws {
    let folder = try Folder()
    try await UserDirectoryChecks.areThereForAnother(directory(folder), directory(folder))
    let found = try FileManager.default.attributesOfItem(atPath: folder.path + "/users.json")
    #expect((found[.posixPermissions] as? NSNumber)?.intValue == 0o600)
  }

  @Test("go with their log-ins and rights, and each change of users and rights has another number")
  func removing() async throws {
    let folder = try Folder()
    try await UserDirectoryChecks.goWithWhatIsTheirs(directory(folder))
    withExtendedLifetime(folder) {}
  }

  @Test("lose no change where many are made at once, from two sides")
  func together() async throws {
    let folder = try Folder()
    try await UserDirectoryChecks.loseNoChange(directory(folder), directory(folder))
    withExtendedLifetime(folder) {}
  }

  @Test("are an error where the file is damaged, or its folder is gone, and never nobody")
  func damaged() async throws {
    let folder = try Folder()
    try Data("{".utf8).write(to: URL(fileURLWithPath: folder.path + "/users.json"))
    let users = directory(folder)
    await #expect(throws: ServerStoreError.self) { _ = try await users.users() }
    await #expect(throws: ServerStoreError.self) { try await users.update("ann") { _ in UserRecord(name: "ann") } }
    #expect(try String(contentsOfFile: folder.path + "/users.json", encoding: .utf8) == "{")
    let nowhere = EmbeddedUserDirectory(path: folder.path + "/missing/users.json")
    await #expect(throws: ServerStoreError.self) { try await nowhere.update("ann") { _ in UserRecord(name: "ann") } }
  }
}
