import Foundation
import SyncServer
import SyncStoreEmbedded
import Testing

@Suite("The users in a server's folder")
struct EmbeddedUserDirectoryTests {
  private func directory(_ folder: Folder) -> EmbeddedUserDirectory { EmbeddedUserDirectory(path: folder.path + "/users.json") }

  @Test("are there again, for another process too, in a file that nobody else may read")
  func kept() async throws {
    let folder = try Folder()
    let (one, other) = (directory(folder), directory(folder))
    #expect(try await one.users().isEmpty)
    try await one.update("ann") { _ in UserRecord(name: "ann", passwordHash: "x", tokenHashes: ["t"]) }
    #expect(try await other.user("ann")?.passwordHash == "x")
    #expect(try await other.user(withTokenHash: "t")?.name == "ann")
    try await other.put(GrantRecord(user: "ann", path: "/shared/shop", mayRead: true))
    #expect(try await one.grants() == [GrantRecord(user: "ann", path: "/shared/shop", mayRead: true)])
    try await one.add(LoginRecord(id: "l", user: "ann", refreshHash: "a", expires: 10), at: 5)
    #expect(try await other.rotate("l", from: "a", to: "b", expires: 20))
    #expect(try await one.rotate("l", from: "a", to: "c", expires: 20) == false)
    #expect(try await one.login("l")?.refreshHash == "b")
    let found = try FileManager.default.attributesOfItem(atPath: folder.path + "/users.json")
    #expect((found[.posixPermissions] as? NSNumber)?.intValue == 0o600)
  }

  @Test("go with their log-ins and rights, and each change of users and rights has another number")
  func removing() async throws {
    let folder = try Folder()
    let users = directory(folder)
    var revisions: [UInt64] = [try await users.revision()]
    for name in ["ann", "bob"] {
      try await users.update(name) { _ in UserRecord(name: name) }
      try await users.add(LoginRecord(id: name, user: name, refreshHash: "a", expires: 10), at: 5)
      try await users.put(GrantRecord(user: name, path: "/shared/shop", mayRead: true))
      revisions.append(try await users.revision())
    }
    try await users.update("ann") { _ in nil }
    revisions.append(try await users.revision())
    #expect(Set(revisions).count == revisions.count)
    #expect(try await users.users().map(\.name) == ["bob"])
    #expect(try await users.logins(of: nil).map(\.user) == ["bob"])
    #expect(try await users.grants().map(\.user) == ["bob"])
    // Log-ins come and go without that.
    try await users.removeLogins(of: "bob")
    #expect(try await users.revision() == revisions.last)
    // Those whose time is over go with the next one.
    try await users.add(LoginRecord(id: "old", user: "bob", refreshHash: "a", expires: 10), at: 5)
    try await users.add(LoginRecord(id: "new", user: "bob", refreshHash: "a", expires: 100), at: 50)
    #expect(try await users.logins(of: "bob").map(\.id) == ["new"])
    withExtendedLifetime(folder) {}
  }

  @Test("lose no change where many are made at once, from two sides")
  func together() async throws {
    let folder = try Folder()
    let sides = [directory(folder), directory(folder)]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<40 {
        let side = sides[number % 2]
        group.addTask { try await side.update("user\(number)") { _ in UserRecord(name: "user\(number)") } }
      }
      try await group.waitForAll()
    }
    #expect(try await sides[0].users().count == 40)
    #expect(try await sides[1].revision() == 40)
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
