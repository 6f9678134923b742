#if Sync
import Foundation

/// Devices and servers as processes, with a link for each device; whatever happens to them, in the end all show the same, and every write
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

  final class Device {
    let name: String
    let link: any DeviceLink
    let engine: String
    var process: ChildProcess?
    var lives: UInt64 = 0
    /// Whether the process will kill itself.
    var isMortal = false
    var wrote = 0

    init(_ name: String, _ link: any DeviceLink, engine: String) { (self.name, self.link, self.engine) = (name, link, engine) }

    /// Takes note of what the process said last.
    func note() {
      guard let line = process?.newest("wrote"), let number = Int(line.dropFirst(6)) else { return }
      wrote = max(wrote, number)
    }
  }

  struct Server {
    let process: ChildProcess
    let place: ServerPlace
  }

  let options: Options
  let report: Report
  private let network: any FleetNetwork
  let folder: URL
  var random: SplitMix
  var servers: [Server] = []
  var devices: [Device] = []
  /// How many came for one death, or once and never again.
  var guests = 0
  /// Those who came for one death, and how much they have written.
  var newcomers: [(name: String, written: Int)] = []
  /// How many devices of it died at points of their replicators' work.
  var deaths = 0

  init(_ options: Options, _ report: Report, over network: any FleetNetwork = LoopbackNetwork()) async throws {
    (self.options, self.report, self.network) = (options, report, network)
    random = SplitMix(state: options.seed)
    folder = FileManager.default.temporaryDirectory.appending(path: "sync-check-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for number in 0..<options.home.servers { servers.append(try await startServer(at: number)) }
    for number in 0..<options.devices {
      let link = try await network.link(ofDevice: number, to: servers[number % servers.count].place)
      let device = Device("device\(number)", link, engine: number.isMultiple(of: 2) ? "lmdb" : "sqlite")
      devices.append(device)
      try start(device)
    }
  }

  /// Ends all processes and removes their files.
  func end() async {
    for device in devices {
      device.process?.killNow()
      await device.link.end()
    }
    for server in servers { server.process.killNow() }
    do { try FileManager.default.removeItem(at: folder) } catch { report.say("'\(folder.path)' stays: \(error)") }
  }

  // MARK: processes

  func startServer(_ more: [String] = [], at number: Int) async throws -> Server {
    let place = options.database ?? folder.appending(path: "server").path
    let process = try network.startServer(["server", "--store", options.home.rawValue, "--place", place] + more, at: number)
    guard let line = await process.line("port "), let port = Int(line.dropFirst(5)) else { throw CheckFailed("The server did not start.") }
    return Server(process: process, place: ServerPlace(number: number, port: port))
  }

  func start(_ device: Device, _ more: [String] = []) throws {
    device.lives += 1
    device.isMortal = !more.isEmpty
    // Everybody takes in what everybody writes: with twice the devices, each may write a quarter as often for the same work.
    let pause = more.contains("--pause") ? [] : ["--pause", "\(max(20, options.devices * options.devices))"]
    device.process = try device.link.start(
      [
        "device", "--name", device.name, "--path", "/shared/\(options.name)", "--file", folder.appending(path: device.name).path,
        "--engine", device.engine, "--seed", "\(options.seed &* 1000 &+ device.lives)",
      ] + pause + more)
  }

  // MARK: what happens to them

  /// Kills a server, the next one each time, and starts one over what it has left. Its devices go to another one meanwhile, if there is
  /// one, and half of all to the new one.
  func killServer() async throws {
    let dead = servers.removeFirst()
    dead.process.killNow()
    for (number, device) in devices.enumerated() where !servers.isEmpty && device.link.leads(to: dead.place) {
      device.link.lead(to: servers[number % servers.count].place)
    }
    let next = try await startServer(at: dead.place.number)
    servers.append(next)
    for (number, device) in devices.enumerated() where number.isMultiple(of: 2) || servers.count == 1 {
      device.link.lead(to: next.place)
    }
    report.count("servers killed", 1)
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

  /// Another weather for one of the devices.
  func changeWeather() {
    guard let device = devices.randomElement(using: &random) else { return }
    device.link.changeWeather(&random)
    report.count("changes of weather", 1)
  }

  func rest(_ milliseconds: Int) async throws { try await Task.sleep(for: .milliseconds(milliseconds)) }

  // MARK: the end of it

  /// Has everything calm down, and looks whether all is well.
  func settle(within limit: Duration = .seconds(120)) async throws {
    for device in devices { device.link.calm() }
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
      pictures.append((device.name, try Fleet.lines(ofPicture: line)))
    }
    judge(pictures)
  }

  /// A line of a process within a time; nil, and an end of the process, where it says nothing of the kind. What kept it is
  /// reported.
  func answer(_ process: ChildProcess, _ prefix: String, _ limit: Duration) async -> String? {
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

  /// What a device shows, a line an object, from its answer "picture …".
  static func lines(ofPicture line: String) throws -> [String] {
    try JSONDecoder().decode([String].self, from: Data(base64Encoded: String(line.dropFirst(8))) ?? Data())
  }

  private func judge(_ pictures: [(name: String, lines: [String])]) {
    guard let first = pictures.first else { return }
    for other in pictures.dropFirst() where other.lines != first.lines {
      let difference = Set(other.lines).symmetricDifference(first.lines).sorted()
      report.violation("\(other.name) and \(first.name) differ:\n\(difference.joined(separator: "\n"))")
    }
    for device in devices {
      let tally = Tallied(device.name, in: first.lines)
      for fault in tally.faults(atLeast: device.wrote) { report.violation(fault) }
      report.count("writes", tally.entries.count)
    }
    report.count("comparisons", pictures.count)
  }
}

/// A check that could not be made.
struct CheckFailed: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
#endif
