#if Sync
import Foundation
import SyncClient
import SyncProtocol
import SyncProving
import SyncWebSocket
import Vivarium

/// The workloads that go through the server's program, over WebSocket on loopback.
@MainActor struct WireCourse {
  private let engine: Engine
  private let folder: URL
  private let scale: Double

  init(_ course: SyncCourse) { (engine, folder, scale) = (course.engine, course.folder, course.scale) }

  private func device(_ name: String, _ port: Int, _ token: String) throws -> Store {
    let connector = try WebSocketConnector("ws://127.0.0.1:\(port)")
    let sync = SyncConfiguration(user: FixedToken(token), path: "/~/items", connector: connector)
    return try Store(engine.configuration(folder, name, sync))
  }

  /// S6: from the beginning of a write on one device to the observer on another, 200 writes a second.
  func latency() async throws -> Measurement {
    let home = folder.appendingPathComponent("server").path
    let token = try ServerProgram.token(folder: home, user: "ann")
    let server = try ServerProgram(folder: home)
    defer { server.end() }
    let (one, other) = (try device("a", server.port, token), try device("b", server.port, token))
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
      note: "p50 \(part(0.5)) ms, p99 \(part(0.99)) ms, at most \(part(1)) ms, 200 writes/s")
  }

  /// S10: from the death of the server, which is started again at once, until every device has sent a write that was made meanwhile.
  func killedServer() async throws -> Measurement {
    let home = folder.appendingPathComponent("server").path
    let token = try ServerProgram.token(folder: home, user: "ann")
    var server = try ServerProgram(folder: home)
    let clock = ContinuousClock()
    var times: [Double] = []
    let count = 20
    for round in 0..<max(Int(9 * scale), 3) {
      // New ones each time: who loses one connection after the other waits longer and longer, until one has lasted for a minute.
      let devices = try (0..<count).map { try device("\(round).\($0)", server.port, token) }
      for device in devices { try await device.sync?.downloaded() }
      let start = clock.now
      server.killNow()
      for (index, device) in devices.enumerated() {
        try device.write {
          let item = Item()
          item.id = round * count + index
          try device.add(item)
        }
      }
      server = try ServerProgram(folder: home, port: server.port)
      for device in devices { try await device.sync?.uploaded() }
      times.append((clock.now - start) / .seconds(1))
    }
    server.end()
    times.sort()
    return Measurement(
      engine: engine.rawValue, workload: "S10.killed", count: count, seconds: times[times.count / 2],
      note: "median of \(times.count) kills until all are live again and have sent, at most \(((times.last ?? 0) * 100).rounded() / 100) s")
  }
}
#endif
