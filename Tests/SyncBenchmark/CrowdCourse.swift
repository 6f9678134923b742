#if Sync
import Foundation
import SyncClient
import SyncModel
import SyncProtocol
import SyncProving
import SyncWebSocket

/// Many devices at one server's program, over WebSocket on loopback. They are light: of one process, and without files.
struct CrowdCourse {
  /// Where the server keeps what it has, as its arguments.
  private let place: [String]
  private let home: String
  private let scale: Double

  init(_ course: ServerCourse) throws {
    (home, scale, place) = (course.home.rawValue, course.scale, try course.place)
  }

  /// A server that lets so many devices of one address in, and the token of their user.
  private func server(for devices: Int) throws -> (server: ServerProgram, token: String) {
    // Beside the connections there are some dozens of files.
    try OpenFiles.allow(devices + 200)
    let token = try ServerProgram.token(at: place, user: "ann-\(UInt32.random(in: 0 ... .max))")
    let more = ["--connections-per-address", "\(devices + 10)", "--log-level", "warning"]
    return (try ServerProgram(at: place, more), token)
  }

  /// Devices of one store, of which the first has number 1.
  private func devices(_ numbers: ClosedRange<Int>, _ server: ServerProgram, _ token: String) async throws -> [LightDevice] {
    let connector = try WebSocketConnector("ws://127.0.0.1:\(server.port)", seconds: 60)
    return try await withThrowingTaskGroup(of: LightDevice.self) { group in
      var devices: [LightDevice] = []
      for number in numbers {
        if number - numbers.lowerBound >= 64, let device = try await group.next() { devices.append(device) }
        group.addTask { try await LightDevice.began(connector, token: token, path: "/~/crowd", replica: UInt64(number)) }
      }
      for try await device in group { devices.append(device) }
      return devices
    }
  }

  private func end(_ devices: [LightDevice]) async {
    await withDiscardingTaskGroup { group in for device in devices { group.addTask { await device.end() } } }
  }

  /// S7: from a write of one device until each of the others has it, 50 writes a second.
  func fanOut() async throws -> Measurement {
    let crowd = max(Int(1_000 * scale), 20)
    let (server, token) = try server(for: crowd + 1)
    defer { server.end() }
    let writer = try await devices(1...1, server, token)[0]
    let readers = try await devices(2...crowd + 1, server, token)
    var author = RemoteAuthor(1, milliseconds: UInt64(Date().timeIntervalSince1970 * 1000))
    let writes = max(Int(500 * scale), 50)
    let clock = ContinuousClock()
    var begun: [ContinuousClock.Instant] = []
    let start = clock.now
    for number in 0..<writes {
      try await clock.sleep(until: start + .milliseconds(20 * number))
      begun.append(clock.now)
      await writer.write(author.creation(of: Int64(number * 2)))
    }
    var latencies: [Double] = []
    for reader in readers {
      try await reader.receive(writes, within: 300)
      for arrival in await reader.arrivals { latencies.append((arrival.time - begun[Int(arrival.number) - 1]) / .milliseconds(1)) }
    }
    let seconds = (clock.now - start) / .seconds(1)
    await end(readers + [writer])
    latencies.sort()
    func part(_ share: Double) -> Int { Int(latencies[min(Int(Double(latencies.count) * share), latencies.count - 1)].rounded()) }
    return Measurement(
      engine: home, workload: "S7.crowd", count: writes * crowd, seconds: seconds,
      note: "p50 \(part(0.5)) ms, p99 \(part(0.99)) ms, at most \(part(1)) ms, \(writes) writes, 50 a second, to \(crowd) sessions")
  }

  /// S8: what the server takes in memory for each connection that has bound a store and does nothing.
  func idle() async throws -> Measurement {
    let crowd = max(Int(5_000 * scale), 20)
    let (server, token) = try server(for: crowd + 1)
    defer { server.end() }
    // What one needs for the first time belongs to none of the others.
    let first = try await devices(1...1, server, token)
    let before = try CrowdCourse.resident(server.processID)
    let clock = ContinuousClock()
    let start = clock.now
    let others = try await devices(2...crowd + 1, server, token)
    let seconds = (clock.now - start) / .seconds(1)
    let after = try CrowdCourse.resident(server.processID)
    await end(others + first)
    let each = max(0, after - before) / crowd
    return Measurement(
      engine: home, workload: "S8.idle", count: crowd, seconds: seconds, bytes: each,
      note: "\(each >> 10) KiB each, \(after >> 20) MiB with \(crowd), \(before >> 20) MiB with one")
  }

  /// The bytes of a process that are in memory now.
  private static func resident(_ process: Int32) throws -> Int {
    let (output, status) = try ChildProgram.run(atPath: "/bin/ps", ["-o", "rss=", "-p", "\(process)"])
    guard status == 0, let kilobytes = Int(output.filter(\.isNumber)) else { throw CocoaError(.fileReadUnknown) }
    return kilobytes << 10
  }
}
#endif
