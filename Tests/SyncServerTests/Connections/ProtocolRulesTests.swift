import SyncProtocol
import SyncRules
import SyncServer
import Testing

/// Connects to a host within the process.
private struct HostConnector: SyncConnector {
  let host: SyncHost

  func connect() async throws(TransportError) -> any SyncTransport {
    let (here, there) = MemoryTransport.pair()
    let host = host
    Task { await host.serve(there) }
    return here
  }
}

/// The rules that the conformance program puts to any server, and those among them that need what only a test can do.
@Suite("A host keeps each rule of the protocol", .timeLimit(.minutes(15)))
struct ProtocolRulesTests {
  @Test(arguments: Rule.all) func rule(_ rule: Rule) async throws {
    let everything: Bound.Rights = [.read, .write, .manage]
    let stores = MemoryServerStore()
    let host = SyncHost(stores: stores, access: TestAccess(rights: ["ann": everything, "bob": everything]), clock: { 1_000_000 })
    let exchange = Exchange(
      connector: HostConnector(host: host), token: "ann", path: "/~/rules", patience: .seconds(60), otherToken: "bob",
      forget: { path in
        let place = try #require(StorePath(path.replacing("/~/", with: "/ann/")))
        let head = try #require(await stores.heads([place])[place])
        try await stores.truncateLog(place, through: head)
      })
    #expect(exchange.has(rule.need))
    try await rule.check(exchange)
  }
}
