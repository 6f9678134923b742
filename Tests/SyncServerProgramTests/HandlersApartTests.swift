#if Sync
import Foundation
import SyncClient
import SyncEvents
import SyncProving
import SyncServer
import SyncWebSocket
import Testing
import Vivarium
import VivariumTestSupport

/// A program of a user's own that handles the events of a server over a folder, as Docs/Sync.md and Docs/Deployment.md describe it.
@MainActor @Suite("A program with handlers of its own", .timeLimit(.minutes(5)))
struct HandlersApartTests {
  private let directory = TemporaryDirectory()
  private var folder: String { directory.url.appending(path: "server").path }

  private func grant(_ words: String...) throws -> Int32 {
    try ServerProcess.run(arguments: ["grant", "give", "--folder", folder] + words, input: "").status
  }

  private func remote(_ address: String, _ token: String) throws -> RemoteEventStores {
    let stores = RemoteEventStores(try WebSocketConnector(address), credentials: FixedToken(token), name: "billing")
    return stores
  }

  private func handling(_ stores: RemoteEventStores, heard: AsyncStream<String>.Continuation) async throws -> ServerEvents {
    var options = ServerEvents.Options()
    options.pause = .milliseconds(20)
    let events = ServerEvents(stores, models: Page.self, options: options)
    try await events.on(store: "/*/pages", Page.self, named: "stamping") { change, store in
      guard change.kind == .insert, let page = change.object(in: store) else { return }
      page.text += ", stamped"
      heard.yield(page.id)
    }
    return events
  }

  @Test("hears of each change once, with a right of its own, also after the server was killed and started anew")
  func startedAnew() async throws {
    let token = try ServerProgram.token(folder: folder, user: "pages")
    let ann = try ServerProgram.token(folder: folder, user: "ann")
    var server = try ServerProgram(folder: folder)
    let port = server.port
    #expect(try grant("pages", "/__server/handlers", "m") == 0)
    let (heard, continuation) = AsyncStream.makeStream(of: String.self)
    let events = try await handling(try remote("ws://127.0.0.1:\(port)", token), heard: continuation)
    // The running server hears of the right within a second.
    while true { do { try await events.register(); break } catch let error as ServerStoreError where error.code == .unavailable {} }
    let handling = Task { await events.run() }
    let device = try Device(directory, "device", port: port, token: ann)
    try device.write("first", "hello")
    await device.replicator.start()
    var news = heard.makeAsyncIterator()
    #expect(await news.next() == "first")
    server.killNow()
    try device.write("second", "hello again")
    server = try ServerProgram(folder: folder, port: port)
    #expect(await news.next() == "second")
    // It has given back what it had, and what it wrote is on its way.
    handling.cancel()
    await handling.value
    while device.texts != ["first": "hello, stamped", "second": "hello again, stamped"] { try await device.replicator.downloaded() }
    await device.replicator.stop()
    server.end()
  }

  @Test("is not let in without the right, and says so")
  func noRight() async throws {
    let token = try ServerProgram.token(folder: folder, user: "ann")
    let server = try ServerProgram(folder: folder)
    let stores = try remote("ws://127.0.0.1:\(server.port)", token)
    let error = await #expect(throws: ServerStoreError.self) { _ = try await stores.stores() }
    #expect(error?.message.contains("'/__server/handlers'") == true, "\(error?.message ?? "")")
    await stores.close()
    server.end()
  }
}
#endif
