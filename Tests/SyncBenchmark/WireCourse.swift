#if Sync
import Foundation
import SyncClient
import SyncProtocol
import SyncProving
import SyncWebSocket
import Vivarium

/// The workloads that go through the server's program, over WebSocket on loopback: one server of a folder, or two of a database.
@MainActor struct WireCourse {
  private let engine: Engine
  private let folder: URL
  private let scale: Double
  private let home: String
  private let place: [String]
  private let serverCount: Int

  init(_ course: SyncCourse, _ servers: ServerCourse) throws {
    (engine, folder, scale) = (course.engine, course.folder, course.scale)
    (home, place, serverCount) = (servers.home.rawValue, try servers.place, servers.home == .postgres ? 2 : 1)
  }

  private func token() throws -> String { try ServerProgram.token(at: place, user: "ann-\(UInt32.random(in: 0 ... .max))") }

  private func servers() throws -> [ServerProgram] {
    try (0..<serverCount).map { _ in try ServerProgram(at: place, ["--log-level", "warning"]) }
  }

  /// - Parameter ports: of the servers, in the order in which it tries them.
  private func device(_ name: String, _ ports: [Int], _ token: String) throws -> Store {
    let connector = AnyServer(connectors: try ports.map { try WebSocketConnector("ws://127.0.0.1:\($0)") })
    let sync = SyncConfiguration(user: FixedToken(token), path: "/~/items", connector: connector)
    return try Store(engine.configuration(folder, "\(home)-\(name)", sync))
  }

  /// S6: from the beginning of a write on one device to the observer on another, 200 writes a second. Of two servers each has one device.
  func latency() async throws -> Measurement {
    let (token, servers) = (try token(), try servers())
    defer { for server in servers { server.end() } }
    let ports = servers.map(\.port)
    let (one, other) = (try device("a", ports, token), try device("b", ports.reversed(), token))
    try await one.sync?.downloaded()
    try await other.sync?.downloaded()
    let count = max(Int(2_000 * scale), 20)
    let clock = ContinuousClock()
    var begun = [ContinuousClock.Instant](repeating: clock.now, count: count)
    var latencies: [Double] = []
    let (done, finished) = AsyncStream.makeStream(of: Void.self)
    let items = other.objects(Item.self)
    let token0 = items.observe { change in
      guard case .update(_, _, let insertions, _) = change else { return }
      let now = clock.now
      for row in insertions { latencies.append((now - begun[items[row].id]) / .milliseconds(1)) }
      if latencies.count >= count { finished.yield() }
    }
    let start = clock.now
    for id in 0..<count {
      try await clock.sleep(until: start + .milliseconds(5 * id))
      begun[id] = clock.now
      try one.write {
        let item = Item()
        (item.id, item.title, item.count) = (id, "number \(id)", id)
        try one.add(item)
      }
    }
    for await _ in done { break }
    token0.stop()
    latencies.sort()
    func part(_ share: Double) -> Double { (latencies[min(Int(Double(latencies.count) * share), latencies.count - 1)] * 10).rounded() / 10 }
    return Measurement(
      engine: engine.rawValue, workload: "S6.observer", count: count, seconds: (clock.now - start) / .seconds(1),
      note: "p50 \(part(0.5)) ms, p99 \(part(0.99)) ms, at most \(part(1)) ms, 200 writes/s, \(home), \(servers.count) servers")
  }

  /// S9: from the opening of a new file until it has all objects of a store: those of S9.snapshot, or with a list each.
  func wholeStore(lists: Bool) async throws -> Measurement {
    let (token, servers) = (try token(), try servers())
    defer { for server in servers { server.end() } }
    let connector = try WebSocketConnector("ws://127.0.0.1:\(servers[0].port)")
    let writer = try await LightDevice.began(connector, token: token, path: "/~/items", replica: 1)
    let reader = try await LightDevice.began(connector, token: token, path: "/~/items", replica: 2)
    var author = RemoteAuthor(1, milliseconds: UInt64(Date().timeIntervalSince1970 * 1000))
    let (each, changesets) = (500, max(Int(2_000 * scale), 2))
    for number in 0..<changesets {
      let first = Int64(number * each)
      await writer.write(lists ? author.creation(of: first, count: each) : author.plainCreation(of: first, count: each))
    }
    try await reader.receive(changesets, within: 600)
    await writer.end()
    await reader.end()
    let clock = ContinuousClock()
    let start = clock.now
    let store = try device(lists ? "new lists" : "new", [servers[0].port], token)
    try await store.sync?.downloaded()
    let seconds = (clock.now - start) / .seconds(1)
    store.refresh()
    let count = store.objects(Item.self).count
    guard count == each * changesets else { throw CocoaError(.coderValueNotFound) }
    return Measurement(
      engine: engine.rawValue, workload: lists ? "S9.device.lists" : "S9.device", count: count, seconds: seconds,
      note: "\(Int(Double(count) / seconds)) objects/s into a new file, \(home)")
  }

  /// S10: from the death of a server until every device has sent a write that was made meanwhile. A server that is alone is started again
  /// at once; of two, the other takes the sessions.
  func killedServer() async throws -> Measurement {
    let token = try token()
    var servers = try servers()
    let clock = ContinuousClock()
    var times: [Double] = []
    let count = 20
    for round in 0..<max(Int(9 * scale), 3) {
      let ports = servers.map(\.port)
      // New ones each time: who loses one connection after the other waits longer and longer, until one has lasted for a minute.
      let devices = try (0..<count).map { try device("\(round).\($0)", ports, token) }
      for device in devices { try await device.sync?.downloaded() }
      let start = clock.now
      servers[0].killNow()
      for (index, device) in devices.enumerated() {
        try device.write {
          let item = Item()
          item.id = round * count + index
          try device.add(item)
        }
      }
      func begin() throws { servers[0] = try ServerProgram(at: place, port: ports[0], ["--log-level", "warning"]) }
      if servers.count == 1 { try begin() }
      for device in devices { try await device.sync?.uploaded() }
      times.append((clock.now - start) / .seconds(1))
      if servers.count > 1 { try begin() }
    }
    for server in servers { server.end() }
    times.sort()
    let most = ((times.last ?? 0) * 100).rounded() / 100
    return Measurement(
      engine: engine.rawValue, workload: "S10.killed", count: count, seconds: times[times.count / 2],
      note: "median of \(times.count) kills until all are live again and have sent, at most \(most) s, \(home), \(servers.count) servers")
  }
}

/// Tries servers one after the other, as what stands before several of them does.
private struct AnyServer: SyncConnector {
  let connectors: [WebSocketConnector]

  func connect() async throws(TransportError) -> any SyncTransport {
    for connector in connectors.dropLast() {
      do throws(TransportError) { return try await connector.connect() } catch { continue }
    }
    guard let last = connectors.last else { throw TransportError(.unreachable, "There is no server.") }
    return try await last.connect()
  }
}
#endif
