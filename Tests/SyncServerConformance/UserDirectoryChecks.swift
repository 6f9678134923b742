import SyncServer

/// What every directory of users keeps to, wherever it has them.
public enum UserDirectoryChecks {
  /// What one process writes, another one over the same place finds.
  public static func areThereForAnother(_ one: any UserDirectory, _ other: any UserDirectory) async throws {
    try await hold(one.users().isEmpty)
    try await one.update("ann") { _ in UserRecord(name: "ann", passwordHash: "x", tokenHashes: ["t"]) }
    try await hold(other.user("ann")?.passwordHash == "x")
    try await hold(other.user(withTokenHash: "t")?.name == "ann")
    try await other.put(GrantRecord(user: "ann", path: "/shared/shop", mayRead: true))
    try await hold(one.grants() == [GrantRecord(user: "ann", path: "/shared/shop", mayRead: true)])
    let login = LoginRecord(id: "l", user: "ann", refreshHash: "a", expires: 10)
    // One that was begun with another password, or by nobody, is none.
    try await hold(one.add(login, ifPassword: "y", at: 5) == false)
    try await hold(one.add(LoginRecord(id: "l", user: "bob", refreshHash: "a", expires: 10), ifPassword: nil, at: 5) == false)
    try await hold(other.login("l") == nil)
    try await hold(one.add(login, ifPassword: "x", at: 5))
    try await hold(other.rotate("l", from: "a", to: "b", expires: 20))
    try await hold(one.login("l")?.refreshHash == "b")
    // A call whose answer was lost is repeated.
    try await hold(one.rotate("l", from: "a", to: "b", expires: 20))
    // A device that got no answer has the old token still, until the next one is used.
    try await hold(one.rotate("l", from: "a", to: "c", expires: 20))
    try await hold(other.rotate("l", from: "b", to: "d", expires: 20) == false)
    try await hold(other.rotate("l", from: "c", to: "d", expires: 20))
    try await hold(one.rotate("l", from: "a", to: "e", expires: 20) == false)
    try await hold(one.login("l")?.refreshHash == "d")
    // A name that there is, is not added again, and nothing of its user changes.
    try await hold(other.add(UserRecord(name: "ann", passwordHash: "y")) == false)
    try await hold(one.user("ann")?.passwordHash == "x")
    try await hold(other.add(UserRecord(name: "bob")))
    try await hold(one.user("bob") == UserRecord(name: "bob"))
  }

  /// A user goes with all that is his, and each change of users and grants has a number of its own.
  public static func goWithWhatIsTheirs(_ users: any UserDirectory) async throws {
    var revisions: [UInt64] = [try await users.revision()]
    for name in ["ann", "bob"] {
      try await users.update(name) { _ in UserRecord(name: name) }
      try await hold(users.add(LoginRecord(id: name, user: name, refreshHash: "a", expires: 10), ifPassword: nil, at: 5))
      try await users.put(GrantRecord(user: name, path: "/shared/shop", mayRead: true))
      revisions.append(try await users.revision())
    }
    try await users.update("ann") { _ in nil }
    revisions.append(try await users.revision())
    try hold(Set(revisions).count == revisions.count)
    try await hold(users.users().map(\.name) == ["bob"])
    try await hold(users.logins(of: nil).map(\.user) == ["bob"])
    try await hold(users.grants().map(\.user) == ["bob"])
    // Log-ins come without that; that one ends is news, for it may be in use at another server.
    try await hold(users.add(LoginRecord(id: "second", user: "bob", refreshHash: "a", expires: 10), ifPassword: nil, at: 5))
    try await hold(users.revision() == revisions.last)
    try await users.removeLogin("second")
    revisions.append(try await users.revision())
    try await users.removeLogin("second")
    try await hold(users.revision() == revisions.last)
    try await users.removeLogins(of: "bob")
    revisions.append(try await users.revision())
    try hold(Set(revisions).count == revisions.count)
    // Another password ends them in the same change.
    try await hold(users.add(LoginRecord(id: "third", user: "bob", refreshHash: "a", expires: 10), ifPassword: nil, at: 5))
    try await users.update("bob") { $0.map { UserRecord(name: $0.name, passwordHash: "y") } }
    try await hold(users.logins(of: "bob").isEmpty)
    // There are so many at most, and the oldest go.
    for number in 10..<130 as Range<Int64> {
      try await hold(users.add(LoginRecord(id: "\(number)", user: "bob", refreshHash: "a", expires: number), ifPassword: "y", at: 5))
    }
    try await hold(Set(users.logins(of: "bob").map(\.expires)) == Set(30..<130))
    try await users.removeLogins(of: "bob")
    // Those whose time is over go with the next one.
    try await hold(users.add(LoginRecord(id: "old", user: "bob", refreshHash: "a", expires: 10), ifPassword: "y", at: 5))
    try await hold(users.add(LoginRecord(id: "new", user: "bob", refreshHash: "a", expires: 100), ifPassword: "y", at: 50))
    try await hold(users.logins(of: "bob").map(\.id) == ["new"])
  }

  /// Of many changes made at once, from two sides, none is lost.
  public static func loseNoChange(_ one: any UserDirectory, _ other: any UserDirectory) async throws {
    let sides = [one, other]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<40 {
        let side = sides[number % 2]
        group.addTask { try await side.update("user\(number)") { _ in UserRecord(name: "user\(number)") } }
      }
      try await group.waitForAll()
    }
    try await hold(one.users().count == 40)
    try await hold(other.revision() == 40)
    // Nor one of the same grant.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<40 {
        let side = sides[number % 2]
        group.addTask {
          try await side.changeGrant(of: "user0", at: "/shared/shop") { grant in
            grant.mayRead = true
            grant.expires = (grant.expires ?? 0) + 1
          }
        }
      }
      try await group.waitForAll()
    }
    try await hold(one.grants().map(\.expires) == [40])
    try await hold(other.revision() == 80)
    // One that grants nothing more is gone, and what changes nothing is no change.
    try await hold(other.changeGrant(of: "user0", at: "/shared/shop") { $0.mayRead = false }.isEmpty)
    try await hold(one.grants().isEmpty)
    try await hold(one.changeGrant(of: "user1", at: "/shared/shop") { $0.mayRead = false }.user == "user1")
    try await hold(other.revision() == 81)
  }

  private static func hold(_ isTrue: Bool, line: UInt = #line) throws {
    if !isTrue { throw ServerStoreFailure(description: "line \(line): not so") }
  }
}
