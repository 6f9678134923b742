import StoreMessages
import SyncClient
import SyncManagement
import SyncProtocol
import SyncServer
import Testing
import Vivarium

/// Who gives rights on a store that is not his own, and rights for everybody.
extension PermissionTests {
  @Test func anAdministratorGivesRightsOnAStoreOfSomebodyElse() async throws {
    let office = try await Office()
    try await office.directory.update("root") { _ in UserRecord(name: "root", isAdministrator: true) }
    let tasks = try await office.tasks()
    let other = try office.device("bob", "/ann/tasks")
    let before = await isSuspended(other)
    #expect(before?.code == .unknownStore)
    let change = SyncPermissionChange(storeURL: "/ann/tasks", userID: "bob", mayRead: true, mayWrite: true)
    let answer = try await office.ask("root", change)
    #expect(answer.status == .success && answer.text == "'bob' has rw at /ann/tasks.")
    #expect(try await office.directory.grants() == [GrantRecord(user: "bob", path: "/ann/tasks", mayRead: true, mayWrite: true)])

    await other.sync?.retry()
    try await other.received()
    #expect(other.objects(Customer.self).map(\.name) == ["tea"])
    try other.write { other.objects(Customer.self).first?.name = "coffee" }
    try await other.sync?.uploaded()
    try await tasks.received()
    #expect(tasks.objects(Customer.self).map(\.name) == ["coffee"])
    await office.running.end()
  }

  @Test func whoReadsAndWritesAStoreMayNotSayWhoElseMayBeforeHeMayManageIt() async throws {
    let office = try await Office()
    try await office.directory.put(GrantRecord(user: "bob", path: "/ann/tasks", mayRead: true, mayWrite: true))
    let wish = SyncPermissionChange(storeURL: "/ann/tasks", userID: "cleo", mayRead: true)
    let refused = try await office.ask("bob", wish)
    #expect(wish.statusCode == Int(SyncErrorCode.writeDenied.rawValue))
    #expect(refused.status == .error && refused.text == "'bob' may not say who may do what at '/ann/tasks'.")
    #expect(try await office.directory.grants().map(\.user) == ["bob"])

    let manager = try await office.ask("ann", SyncPermissionChange(storeURL: "/~/tasks", userID: "bob", mayManage: true))
    #expect(manager.text == "'bob' has rwm at /ann/tasks.")
    let granted = try await office.ask("bob", SyncPermissionChange(storeURL: "/ann/tasks", userID: "cleo", mayRead: true))
    #expect(granted.status == .success && granted.text == "'cleo' has r at /ann/tasks.")
    await office.running.end()
  }

  @Test func whatEveryUserMayReadIsThereForAnyOtherUser() async throws {
    let office = try await Office()
    let tasks = try await office.tasks()
    // The directory does not know Dora: what everybody may, she may.
    let others = try ["bob", "dora"].map { try office.device($0, "/ann/tasks") }
    for other in others {
      let before = await isSuspended(other)
      #expect(before?.code == .unknownStore)
    }
    let answer = try await office.ask("ann", SyncPermissionChange(storeURL: "/~/tasks", userID: "*", mayRead: true))
    #expect(answer.status == .success && answer.text == "'*' has r at /ann/tasks.")
    for other in others {
      await other.sync?.retry()
      try await other.received()
      #expect(other.objects(Customer.self).map(\.name) == ["tea"])
    }

    // Writing was not given: what somebody writes is taken back, and reaches nobody.
    let other = try #require(others.last)
    try other.write { other.objects(Customer.self).first?.name = "coffee" }
    try await other.sync?.uploaded()
    try await other.received()
    #expect(other.objects(Customer.self).map(\.name) == ["tea"])
    try await tasks.received()
    #expect(tasks.objects(Customer.self).map(\.name) == ["tea"])
    await office.running.end()
  }
}
