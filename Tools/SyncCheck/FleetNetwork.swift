#if Sync
/// Where a server of a fleet listens.
struct ServerPlace: Hashable, Sendable {
  /// Which of the servers it is, from 0. Who is started instead of one that was killed has its number.
  let number: Int
  let port: Int
}

/// How the processes of a fleet reach each other.
protocol FleetNetwork: Sendable {
  /// Starts a server's process, told where to listen.
  func startServer(_ arguments: [String], at number: Int) throws -> ChildProcess
  /// What leads a device to a server, in calm weather. It has to be ended.
  func link(ofDevice number: Int, to server: ServerPlace) async throws -> any DeviceLink
}

/// What leads one device to a server, and has a weather. **Threads.** Any may call.
protocol DeviceLink: Sendable {
  /// Starts a process of the device, told where to connect.
  func start(_ arguments: [String]) throws -> ChildProcess
  /// Whether it leads to a server now.
  func leads(to server: ServerPlace) -> Bool
  /// Leads to another server, from the next connection on at the latest.
  func lead(to server: ServerPlace)
  /// Has the device go to where it is led now, if there is a connection to elsewhere.
  func hangUp()
  /// Another weather.
  func changeWeather(_ random: inout SplitMix)
  /// From now on whatever is sent arrives.
  func calm()
  func end() async
}

/// Processes side by side on this machine's loopback, a proxy before each device.
struct LoopbackNetwork: FleetNetwork {
  func startServer(_ arguments: [String], at number: Int) throws -> ChildProcess { try ChildProcess(arguments) }

  func link(ofDevice number: Int, to server: ServerPlace) async throws -> any DeviceLink { try await Wire(to: server.port) }
}

extension Wire: DeviceLink {
  func start(_ arguments: [String]) throws -> ChildProcess {
    try ChildProcess(arguments + ["--url", "ws://127.0.0.1:\(port)"], remembered: ["wrote"])
  }

  func leads(to server: ServerPlace) -> Bool { target == server.port }

  func lead(to server: ServerPlace) { lead(to: server.port) }

  func hangUp() {
    change { $0.isCut = true }
    change { $0.isCut = false }
  }

  func changeWeather(_ random: inout SplitMix) {
    let kind = Int.random(in: 0..<6, using: &random)
    var weather = Weather()
    switch kind {
    case 0: weather.isCut = true
    case 1: weather.isDead = true
    case 2: weather.delay = 1...30
    case 3: weather.delay = 20...200
    case 4: weather.cutAfter = (Int.random(in: 0..<5_000, using: &random), Int.random(in: 0..<5_000, using: &random))
    default: break
    }
    change { $0 = weather }
  }

  /// What was dead is cut, so that both sides begin anew.
  func calm() {
    change { $0.isCut = true }
    change { $0 = Weather() }
  }
}
#endif
