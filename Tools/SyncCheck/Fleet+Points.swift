#if Sync
import Foundation

// Servers and devices that kill themselves at a point.

extension Fleet {
  /// Has the last server be one that kills itself at a point, and most devices go there. Whether it did within a time; another server of
  /// the same stores goes on meanwhile. Only on loopback.
  func dieAtPoint(_ point: String) async throws -> Bool {
    let last = servers.removeLast()
    last.process.killNow()
    // Objects are asked for by who has none, once.
    let isOnce = point.hasSuffix("objects")
    let mortal = try await startServer(
      ["--die-at", "\(point):\(isOnce ? 1 : Int.random(in: 1...2, using: &random))"], at: last.place.number)
    servers.append(mortal)
    for device in devices.dropFirst(servers.count - 1) {
      device.link.lead(to: mortal.place)
      device.link.hangUp()
    }
    let guest = isOnce ? try startGuest(mortal.place.port) : nil
    let isDead = await killsItself(mortal.process)
    guest?.killNow()
    report.count("servers that died at a point", 1)
    return isDead
  }

  /// One who comes once and never again, to a store of its own: the server waits for what it has to say before it forgets anything there.
  private func startGuest(_ port: Int) throws -> ChildProcess {
    guests += 1
    let name = "guest\(guests)"
    return try ChildProcess(
      [
        "device", "--url", "ws://127.0.0.1:\(port)", "--name", name, "--path", "/shared/\(options.name)-guests", "--file",
        folder.appending(path: name).path, "--seed", "\(guests)", "--pause", "2000",
      ], remembered: ["wrote"])
  }

  /// Has a device, the next one each time, be one that kills itself at a point of what its replicator does all the time, and starts it
  /// again over its file. Whether it did within a time.
  func deviceDies(at point: String) async throws -> Bool {
    deaths += 1
    let device = devices[deaths % devices.count]
    device.process?.killNow()
    device.note()
    try start(device, ["--die-at", "\(point):\(Int.random(in: 1...3, using: &random))", "--pause", "2"])
    guard let process = device.process else { return false }
    let isDead = await killsItself(process)
    device.note()
    try start(device)
    report.count("devices that died at a point", 1)
    return isDead
  }

  /// Waits for the end of a process. Whether it came within a time; if not, the process is killed.
  func killsItself(_ process: ChildProcess) async -> Bool {
    let timer = Task {
      do { try await Task.sleep(for: .seconds(30)) } catch { return true }
      process.killNow()
      return false
    }
    _ = await process.line("a line that it does not write")
    timer.cancel()
    return await timer.value
  }

  /// Looks whether the servers are those that were started.
  func lookAtServers() {
    for server in servers where !server.process.isRunning { report.violation("the server at port \(server.place.port) has ended") }
  }
}
#endif
