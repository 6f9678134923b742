#if Sync
import Foundation
import StorageMemory
import SyncClient
import SyncProtocol
import SyncServer
import SyncWebSocket
import Vivarium

/// Connects to a host within the process.
struct HostConnector: SyncConnector {
  let host: SyncHost

  func connect() async throws(TransportError) -> any SyncTransport {
    let (here, there) = MemoryTransport.pair()
    Task { [host] in await host.serve(there) }
    return here
  }
}

/// A device's first session is cut at one byte after the other, in both directions; it comes back by itself, and nothing is lost and
/// nothing there twice.
@MainActor struct Cuts {
  let host: SyncHost
  let stride: Int
  let report: Report
  private let wire: Wire
  private let listener: WebSocketListener
  private let serving: Task<Void, Never>

  init(stores: any SyncServerStore, stride: Int, report: Report) async throws {
    host = SyncHost(stores: stores, access: OpenAccess())
    (self.stride, self.report) = (max(1, stride), report)
    let listener = try await WebSocketListener(host: "127.0.0.1", port: 0)
    self.listener = listener
    serving = Task { [host] in
      do { try await listener.run { transport in await host.serve(transport) } } catch {
        // It listens no more.
      }
    }
    wire = try await Wire(to: listener.port)
  }

  func run() async throws {
    _ = wire.takeCarried()
    try await session(0, cutting: nil)
    let whole = wire.takeCarried()
    report.say("a session is \(whole.toServer) bytes to the server and \(whole.toClient) back")
    var number = 1
    for byte in Swift.stride(from: 0, to: whole.toServer, by: stride) {
      try await session(number, cutting: (byte, .max))
      number += 1
    }
    for byte in Swift.stride(from: 0, to: whole.toClient, by: stride) {
      try await session(number, cutting: (.max, byte))
      number += 1
    }
    report.count("sessions cut", number - 1)
    await listener.close()
    await serving.value
    await wire.end()
  }

  private func device(_ name: String, _ path: String, _ connector: any SyncConnector) throws -> (store: Store, replicator: Replicator) {
    let store = try Store.checked(.memory("\(path.dropFirst(8)) \(name)"))
    var options = Replicator.Options()
    options.firstDelay = .milliseconds(2)
    options.longestDelay = .milliseconds(10)
    return (store, store.replicator(path: path, connector: connector, credentials: FixedToken(name), options: options))
  }

  private func session(_ number: Int, cutting cut: (toServer: Int, toClient: Int)?) async throws {
    let path = "/shared/cut\(number)"
    var random = SystemRandomNumberGenerator()
    let bob = try device("bob", path, HostConnector(host: host))
    for _ in 0..<3 { _ = try bob.store.writeSomething("bob", &random) }
    await bob.replicator.start()
    try await bob.replicator.uploaded()
    let ann = try device("ann", path, try WebSocketConnector("ws://127.0.0.1:\(wire.port)"))
    for _ in 0..<3 { _ = try ann.store.writeSomething("ann", &random) }
    wire.change { $0.cutAfter = cut }
    let replicators = [ann.replicator, bob.replicator]
    await replicators[0].start()
    let came = await within(.seconds(60)) {
      try await replicators[0].uploaded()
      try await replicators[0].downloaded()
    }
    _ = try bob.store.writeSomething("bob", &random)
    _ = try ann.store.writeSomething("ann", &random)
    let settled = await within(.seconds(60)) {
      for replicator in replicators { try await replicator.uploaded() }
      for replicator in replicators { try await replicator.downloaded() }
    }
    if !came || !settled { report.violation("cut at \(String(describing: cut)): it never came to rest") }
    let faults = [ann.store, bob.store].flatMap { store in
      [store.faultOfTally("ann", atLeast: 4), store.faultOfTally("bob", atLeast: 4)].compactMap { $0 }
    }
    for fault in faults { report.violation("cut at \(String(describing: cut)): \(fault)") }
    if ann.store.picture != bob.store.picture {
      report.violation("cut at \(String(describing: cut)): the devices differ\n\(ann.store.picture)\n\(bob.store.picture)")
    }
    for replicator in replicators { await replicator.stop() }
    wire.change { $0.cutAfter = nil }
  }
}
#endif
