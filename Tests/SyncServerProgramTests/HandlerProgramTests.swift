#if Sync
import Foundation
import SyncServer
import SyncStoreEmbedded
import Testing
import VivariumTestSupport

@Suite("The server's program and handlers of events")
struct HandlerProgramTests {
  private let directory = TemporaryDirectory()
  private var folder: String { directory.url.appending(path: "server").path }

  private func handler(_ words: String...) throws -> (output: String, problem: String, status: Int32) {
    try ServerProcess.run(arguments: ["handler", words[0], "--folder", folder] + words.dropFirst(), input: "")
  }

  /// Two stores. The first has a handler whose process was killed in the middle, and both have one whose process has ended.
  private func makeHandlers() async throws {
    let stores = try EmbeddedServerStore(folder: folder + "/stores")
    for text in ["/ann/orders", "/bob/orders"] {
      let path = try #require(StorePath(text))
      try await stores.makeStore(path)
      _ = try await stores.claim(path, handler: "mail", fromStart: true, until: 0, at: 0)
    }
    _ = try await stores.claim(try #require(StorePath("/ann/orders")), handler: "billing", fromStart: true, until: .max, at: 0)
  }

  @Test("lists how far each is, removes those that nobody runs, and no others")
  func abandoned() async throws {
    try await makeHandlers()
    let list = try handler("list").output
    let lines = list.split(separator: "\n")
    #expect(lines.count == 3 && lines.first?.hasPrefix("/ann/orders billing cursor=0 lag=0 leased=") == true, "\(list)")
    #expect(lines.dropFirst() == ["/ann/orders mail cursor=0 lag=0", "/bob/orders mail cursor=0 lag=0"], "\(list)")
    #expect(try handler("list", "/bob/orders").output == "/bob/orders mail cursor=0 lag=0\n")
    let held = try handler("remove", "/ann/orders", "billing")
    #expect(held.status != 0 && held.problem.contains("end the processes"))
    #expect(try handler("remove", "/ann/orders", "mail").output == "1 stores\n")
    #expect(try handler("remove", "/ann/orders", "mail").status != 0)
    #expect(try handler("remove", "*", "mail").output == "1 stores\n")
    #expect(try handler("remove", "*", "mail").status != 0)
    #expect(try handler("list", "/bob/orders").output == "")
    #expect(try handler("list").output.hasPrefix("/ann/orders billing "))
  }

  @Test("says what cannot be")
  func problems() async throws {
    #expect(try handler("list").problem.contains("There are no stores"))
    try await makeHandlers()
    #expect(try handler("list", "/ann/nothing").problem.contains("There is no store '/ann/nothing'"))
    #expect(try handler("list", "no path").problem.contains("no path of a store"))
    #expect(try handler("remove", "/ann/orders", "nobody").problem.contains("There is no handler 'nobody' at '/ann/orders'"))
    #expect(try handler("remove", "*", "__permissions").problem.contains("The server itself"))
    #expect(try handler("remove", "/ann/orders").status != 0)
  }
}
#endif
