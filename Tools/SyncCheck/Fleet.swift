#if Sync
import Foundation

/// Devices and servers as processes, with a wire for each device; whatever happens to them, in the end all show the same, and every write
/// that had returned is in it, once.
final class Fleet {
  struct Options {
    /// Of their store.
    var name = "fleet"
    var devices = 4
    var home = ServerHome.embedded
    /// The address of the database of `home`, if it has one.
    var database: String?
    var seed: UInt64 = 1
  }

  private final class Device {
    let name: String
    let wire: Wire
    let engine: String
    var process: ChildProcess?
    var lives: UInt64 = 0
    /// Whether the process will kill itself.
    var isMortal = false
    var wrote = 0

    init(_ name: String, _ wire: Wire, engine: String) { (self.name, self.wire, self.engine) = (name, wire, engine) }

    /// Takes note of what the process said last.
    func note() {
      guard let line = process?.newest("wrote"), let number = Int(line.dropFirst(6)) else { return }
      wrote = max(wrote, number)
    }
  }

  private let options: Options
  private let report: Report
  private let folder: URL
  private var random: SplitMix
  private var servers: [(process: ChildProcess, port: Int)] = []
  private var devices: [Device] = []
  private var guests = 0

  init(_ options: Options, _ report: Report) async throws {
    (self.options, self.report) = (options, report)
    random = SplitMix(state: options.seed)
    folder = FileManager.default.temporaryDirectory.appending(path: "sync-check-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for _ in 0..<options.home.servers { servers.append(try await startServer()) }
    for number in 0..<options.devices {
      let wire = try await Wire(to: servers[number % servers.count].port)
      let device = Device("device\(number)", wire, engine: number.isMultiple(of: 2) ? "lmdb" : "sqlite")
      devices.append(device)
      try start(device)
    }
  }

  /// Ends all processes and removes their files.
  func end() async {
    for device in devices {
      device.process?.killNow()
      await device.wire.end()
    }
    for server in servers { server.process.killNow() }
    do { try FileManager.default.removeItem(at: folder) } catch { report.say("'\(folder.path)' stays: \(error)") }
  }

  // MARK: processes

  private func startServer(_ more: [String] = []) async throws -> (process: ChildProcess, port: Int) {
    let place = options.database ?? folder.appending(path: "server").path
    let process = try ChildProcess(["server", "--store", options.home.rawValue, "--place", place] + more)
    guard let line = await process.line("port "), let port = Int(line.dropFirst(5)) else { throw CheckFailed("The server did not start.") }
    return (process, port)
  }

  private func start(_ device: Device, _ more: [String] = []) throws {
    device.lives += 1
    device.isMortal = !more.isEmpty
    // Everybody takes in what everybody writes: with twice the devices, each may write a quarter as often for the same work.
    let pause = more.contains("--pause") ? [] : ["--pause", "\(max(20, options.devices * options.devices))"]
    device.process = try ChildProcess(
      [
        "device", "--url", "ws://127.0.0.1:\(device.wire.port)", "--name", device.name, "--path", "/shared/\(options.name)", "--file",
        folder.appending(path: device.name).path, "--engine", device.engine, "--seed", "\(options.seed &* 1000 &+ device.lives)",
      ] + pause + more, remembered: ["wrote"])
  }

  // MARK: what happens to them

  /// Kills a server, the next one each time, and starts one over what it has left. Its devices go to another one meanwhile, if there is
  /// one, and half of all to the new one.
  func killServer() async throws {
    let (process, port) = servers.removeFirst()
    process.killNow()
    for (number, device) in devices.enumerated() where !servers.isEmpty && device.wire.target == port {
      device.wire.lead(to: servers[number % servers.count].port)
    }
    let next = try await startServer()
    servers.append(next)
    for (number, device) in devices.enumerated() where number.isMultiple(of: 2) || servers.count == 1 {
      device.wire.lead(to: next.port)
    }
    report.count("servers killed", 1)
  }

  /// Has the last server be one that kills itself at a point, and most devices go there. Whether it did within a time; another server of
  /// the same stores goes on meanwhile.
  func dieAtPoint(_ point: String) async throws -> Bool {
    servers.removeLast().process.killNow()
    // Objects are asked for by who has none, once.
    let isOnce = point.hasSuffix("objects")
    let mortal = try await startServer(["--die-at", "\(point):\(isOnce ? 1 : Int.random(in: 1...2, using: &random))"])
    servers.append(mortal)
    for device in devices.dropFirst(servers.count - 1) {
      device.wire.lead(to: mortal.port)
      device.wire.change { $0.isCut = true }
      device.wire.change { $0.isCut = false }
    }
    let guest = isOnce ? try startGuest(mortal.port) : nil
    let (begin, limit) = (ContinuousClock.now, Duration.seconds(30))
    let timer = Task {
      do { try await Task.sleep(for: limit) } catch { return }
      mortal.process.killNow()
    }
    _ = await mortal.process.line("a line that it does not write")
    timer.cancel()
    guest?.killNow()
    report.count("servers that died at a point", 1)
    return ContinuousClock.now - begin < limit
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

  /// Starts servers that do not kill themselves in the place of all.
  func renewServers() async throws { for _ in servers { try await killServer() } }

  /// Kills a device, and starts it again over its file.
  func killDevice(dying: [String] = []) throws {
    guard let device = devices.randomElement(using: &random) else { return }
    device.process?.killNow()
    device.note()
    try start(device, dying)
    report.count("devices killed", 1)
  }

  /// Starts again whoever has killed himself.
  func revive() throws {
    for device in devices where device.process?.isRunning != true {
      device.note()
      try start(device)
      report.count("devices that died at a point", 1)
    }
  }

  /// Another weather on the wires.
  func changeWeather() {
    guard let device = devices.randomElement(using: &random) else { return }
    let kind = Int.random(in: 0..<6, using: &random)
    device.wire.change { weather in
      weather = Wire.Weather()
      switch kind {
      case 0: weather.isCut = true
      case 1: weather.isDead = true
      case 2: weather.delay = 1...30
      case 3: weather.delay = 20...200
      case 4: weather.cutAfter = (Int.random(in: 0..<5_000), Int.random(in: 0..<5_000))
      default: break
      }
    }
    report.count("changes of weather", 1)
  }

  func rest(_ milliseconds: Int) async throws { try await Task.sleep(for: .milliseconds(milliseconds)) }

  // MARK: the end of it

  /// Has everything calm down, and looks whether all is well.
  func settle(within limit: Duration = .seconds(120)) async throws {
    for device in devices {
      // What was dead is cut, so that both sides begin anew.
      device.wire.change { $0.isCut = true }
      device.wire.change { $0 = Wire.Weather() }
    }
    for device in devices where device.isMortal { device.process?.killNow() }
    try revive()
    for device in devices { device.process?.order("finish") }
    var pictures: [(String, [String])] = []
    for device in devices {
      guard let process = device.process, await answer(process, "finished", limit) != nil else {
        report.violation("\(device.name) could not send everything")
        continue
      }
      device.note()
    }
    for device in devices {
      device.process?.order("show")
      guard let process = device.process, let line = await answer(process, "picture ", limit) else {
        report.violation("\(device.name) did not come to rest")
        continue
      }
      let data = Data(base64Encoded: String(line.dropFirst(8))) ?? Data()
      pictures.append((device.name, try JSONDecoder().decode([String].self, from: data)))
    }
    judge(pictures)
  }

  /// A line of a process within a time; nil, and an end of the process, where it says nothing of the kind. What kept it is
  /// reported.
  private func answer(_ process: ChildProcess, _ prefix: String, _ limit: Duration) async -> String? {
    let timer = Task { [report] in
      do { try await Task.sleep(for: limit) } catch { return }
      process.order("why")
      let end = Task {
        do { try await Task.sleep(for: .seconds(5)) } catch { return }
        process.killNow()
      }
      await report.say(process.line("why ") ?? "It does not even say why.")
      end.cancel()
      // Who waits for it then sees that it is gone.
      process.killNow()
    }
    defer { timer.cancel() }
    return await process.line(prefix)
  }

  private func judge(_ pictures: [(name: String, lines: [String])]) {
    guard let first = pictures.first else { return }
    for other in pictures.dropFirst() where other.lines != first.lines {
      let difference = Set(other.lines).symmetricDifference(first.lines).sorted()
      report.violation("\(other.name) and \(first.name) differ:\n\(difference.joined(separator: "\n"))")
    }
    for device in devices {
      let line = first.lines.first { $0.hasPrefix("tally \(device.name):") }
      let entries = line.flatMap(Fleet.entries) ?? (count: 0, entries: [])
      if entries.entries != Array(1...max(1, entries.entries.count)) && !entries.entries.isEmpty {
        report.violation("\(device.name): its entries are \(entries.entries)")
      }
      if entries.count != entries.entries.count {
        report.violation("\(device.name): counted \(entries.count), wrote \(entries.entries.count)")
      }
      if entries.entries.count < device.wrote {
        report.violation("\(device.name): \(device.wrote) writes had returned, \(entries.entries.count) are there")
      }
      report.count("writes", entries.entries.count)
    }
    report.count("comparisons", pictures.count)
  }

  /// "tally x: 3 [1, 2, 3]"
  private static func entries(_ line: String) -> (count: Int, entries: [Int])? {
    guard let colon = line.firstIndex(of: ":"), let bracket = line.firstIndex(of: "[") else { return nil }
    let count = Int(line[line.index(after: colon)..<bracket].filter(\.isNumber)) ?? -1
    let entries = line[line.index(after: bracket)...].dropLast().split(separator: ",").compactMap { Int($0.filter(\.isNumber)) }
    return (count, entries)
  }
}

/// A check that could not be made.
struct CheckFailed: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
#endif
