#if Sync
import Foundation
import StorageLMDB
import SyncClient
import SyncProving
import SyncWebSocket
import Testing
import Vivarium
import VivariumTestSupport

/// The ten minutes of Docs/Sync.md compile, and do what it says.
@MainActor @Suite("The page's first ten minutes")
struct SyncGuideTests {
  private let directory = TemporaryDirectory()

  private func first(_ address: String, _ url: URL, _ token: String) throws -> Store {
    let connector = try WebSocketConnector(address)
    var configuration = Store.Configuration.lmdb(url, models: Page.self)
    configuration.sync = SyncConfiguration(user: FixedToken(token), path: "/~/pages", connector: connector)
    let store = try Store(configuration)
    try store.write { _ = try store.create(Page.self, value: ["id": "first", "text": "hello"]) }
    return store
  }

  private func second(_ address: String, _ url: URL, _ token: String) throws -> Store {
    var configuration = Store.Configuration.lmdb(url, models: Page.self)
    configuration.sync = SyncConfiguration(user: FixedToken(token), path: "/~/pages", connector: try WebSocketConnector(address))
    return try Store(configuration)
  }

  @Test("bring what one device writes to another, also around a server that was away")
  func tenMinutes() async throws {
    let folder = directory.url.appending(path: "server").path
    let token = try ServerProgram.token(folder: folder, user: "ann")
    var server = try ServerProgram(folder: folder)
    let (address, port) = ("ws://127.0.0.1:\(server.port)", server.port)
    let store = try first(address, directory.file("first"), token)
    let other = try second(address, directory.file("second"), token)
    try await store.sync?.uploaded()  // the server has all that was written here before
    try await other.sync?.downloaded()  // all that the server has now is here
    other.refresh()
    #expect(other.object(Page.self, forPrimaryKey: "first")?.text == "hello")
    server.end()
    try other.write { _ = try other.create(Page.self, value: ["id": "second", "text": "from the other"]) }
    server = try ServerProgram(folder: folder, port: port)
    for store in [other, store] { await store.sync?.retry() }
    try await other.sync?.uploaded()
    try await store.sync?.downloaded()
    store.refresh()
    #expect(store.objects(Page.self).count == 2)
    let sync = try #require(store.sync)
    for await notice in await sync.notices() {
      if case .state(.suspended(let error)) = notice { print("\(error.message) \(error.remedy)") }
      if case .state(.live) = notice { break }
    }
    server.end()
  }

  @Test("have one process at a time replicate a file, and another take over when that is killed")
  func takingOver() throws {
    let folder = directory.url.appending(path: "server").path
    let token = try ServerProgram.token(folder: folder, user: "ann")
    let server = try ServerProgram(folder: folder)
    let arguments = ["--path", directory.url.appending(path: "tasks.lmdb").path, "--script", "--sync", "ws://127.0.0.1:\(server.port)"]
    let first = try ChildProgram("vivarium-tasks", arguments + ["--token", token])
    first.say("sharing online")
    first.say("add Home Bread")
    first.say("sharing")
    #expect(first.line() == "online")
    let others = try (0..<2).map { _ in try ChildProgram("vivarium-tasks", arguments + ["--token", token]) }
    for process in others {
      process.say("wait 1")
      process.say("sharing shared")
      process.say("sharing")
      #expect(process.line() == "shared by another terminal")
    }
    first.killNow()
    // One of the two, whoever asks for the right first; so the other's turn comes too.
    others[1].killNow()
    others[0].say("add Home Milk")
    others[0].say("sharing online")
    others[0].say("synced")
    others[0].say("sharing")
    #expect(others[0].line() == "online")
    #expect(others[0].end() == 0)
    server.end()
  }
}
#endif
