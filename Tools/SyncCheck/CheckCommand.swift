#if Sync
import ArgumentParser
import Foundation
import SyncProving
import SyncServer

/// All checks, or some, and their sizes.
struct CheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Makes the checks. Without a choice all of them; 0 leaves one out.",
    discussion: "With --store postgres two servers serve one database, of a PostgreSQL of the checks' own, and are killed in turn.")

  @Option(help: "Where the server keeps its stores.") var store = ServerHome.embedded
  @Option(help: "Cuts a session at every so many bytes, both ways.") var cutEvery = 1
  @Option(help: "Kills the server under load, so many times.") var serverKills = 20
  @Option(help: "Kills devices at each of the first things that they send and receive, devices and servers at each point, so many times.")
  var pointKills = 20
  @Option(help: "So many of these things.") var points = 12
  @Option(help: "Only this, and what else is chosen: crashes the database, so many times. In a run of all 20 times, if there is one.")
  var crashDatabase: Int?
  @Option(help: "Seconds of bad weather on the wires, and kills of everybody.") var seconds = 600
  @Option(help: "Devices in it, and in network namespaces.") var devices = 20
  @Flag(
    help: "Only this, and what else is chosen: devices and servers in network namespaces. Says why not, where that is not allowed.")
  var namespaces = false
  @Option(help: "Seconds in which packets between them are late, lost, doubled and held back, and everybody is killed.")
  var namespaceSeconds = 600
  @Option(help: "Only this, and what else is chosen: kills who handles events, so many times. In a run of all 1000 times.")
  var killHandler: Int?
  @Option(help: "Frames of noise put to a server's connection.") var frames = 10_000_000
  @Flag(help: "Only this, and what else is chosen: rights that change while devices write, and rules for single objects.")
  var permissions = false
  @Option(help: "Changes of rights.") var rounds = 300
  @Flag(help: "Only this: servers that are killed, and started from a back-up that was taken while devices wrote.") var restore = false
  @Option(help: "Restored servers.") var restores = 50
  @Flag(help: "Only this: three years with three schemas, in fast motion.") var years = false
  @Option(help: "Changesets of these years.") var changesets = 1_000_000
  @Flag(help: "Only this: servers and devices that are killed exactly at each of their points, --point-kills times.") var failpoints = false
  @Option(help: "Repeats what is drawn.") var seed = UInt64.random(in: 1...UInt64(UInt32.max))
  @Flag(help: "Small sizes.") var short = false

  func run() async throws {
    var sizes = self
    if short {
      (sizes.cutEvery, sizes.serverKills, sizes.pointKills, sizes.seconds, sizes.devices) = (max(cutEvery, 97), 4, 1, 20, 6)
      (sizes.frames, sizes.points, sizes.namespaceSeconds) = (min(frames, 100_000), min(points, 6), min(namespaceSeconds, 30))
      (sizes.rounds, sizes.restores, sizes.changesets) = (min(rounds, 10), min(restores, 2), min(changesets, 750))
    }
    let report = Report()
    report.say("seed \(seed)")
    try await sizes.make(report)
    report.say(report.summary)
    if report.violations > 0 { throw ExitCode.failure }
  }

  private func make(_ report: Report) async throws {
    let database = store == .postgres ? try PostgresFolder() : nil
    let isAll = !(permissions || restore || years || failpoints || namespaces || (killHandler ?? 0) > 0 || (crashDatabase ?? 0) > 0)
    if isAll { try await makeFirst(database, report) }
    if namespaces || isAll, namespaceSeconds > 0 { try await badWeatherInNamespaces(database, report) }
    let handlerKills = min(killHandler ?? (isAll ? 1_000 : 0), short ? 25 : Int.max)
    if handlerKills > 0 { try await killHandlers(handlerKills, database, report) }
    let crashes = min(crashDatabase ?? (isAll && database != nil ? 20 : 0), short ? 2 : Int.max)
    if crashes > 0 { try await crash(database, times: crashes, report) }
    if permissions || isAll, rounds > 0 { try await changeRights(database, report) }
    if restore || isAll, restores > 0 {
      try await withFolder { folder in
        try await Restores(store, database, folder: folder, seed: seed, report: report).run(rounds: restores)
      }
    }
    if years || isAll, changesets > 0 { try await liveForYears(database, report) }
    if failpoints || isAll, pointKills > 0 {
      try await killAtPoints(database, report)
      try await killDevicesAtPoints(database, report)
      try await killServersAtPoints(database, report)
    }
  }

  /// The checks of the wires and of processes that are killed.
  private func makeFirst(_ database: PostgresFolder?, _ report: Report) async throws {
    if frames > 0 {
      var fuzz = Fuzz(frames: frames, report: report, random: SplitMix(state: seed))
      fuzz.run()
    }
    if cutEvery > 0 { try await cut(database, report) }
    if serverKills > 0 { try await killServers(database, report) }
    if seconds > 0 { try await badWeather(database, report) }
  }

  private func cut(_ database: PostgresFolder?, _ report: Report) async throws {
    try await withFolder { folder in
      try await Cuts(stores: try await store.open(database?.address() ?? folder.path), stride: cutEvery, report: report).run()
    }
  }

  /// A folder of a check's own, which is gone after it.
  private func withFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "sync-check-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
  }

  /// Users give each other rights; then rules for single objects.
  private func changeRights(_ database: PostgresFolder?, _ report: Report) async throws {
    try await withFolder { folder in
      try await Permissions(store, database: database?.address(), folder: folder, seed: seed, report: report)
        .run(rounds: rounds, killEvery: short ? 0 : 60)
      let rules = try await store.open(database?.address() ?? folder.appending(path: "rules").path)
      try await RowRules(stores: rules, seed: seed, report: report).run(transactions: rounds * 10)
    }
  }

  /// Three years of a store, whose size is looked at again and again.
  private func liveForYears(_ database: PostgresFolder?, _ report: Report) async throws {
    try await withFolder { folder in
      let server = folder.appending(path: "server")
      let devices = folder.appending(path: "devices")
      try FileManager.default.createDirectory(at: devices, withIntermediateDirectories: true)
      try database?.make("years")
      let stores = try await store.open(database?.address(of: "years") ?? server.path)
      let check = await Years(
        stores: stores, serverBytes: { try CheckCommand.bytes(server, database) }, folder: devices, seed: seed, report: report)
      try await check.run(changesets: changesets)
    }
  }

  /// What a server's stores take on the disk. What a database would find time for by itself, at night, is done before.
  private static func bytes(_ folder: URL, _ database: PostgresFolder?) throws -> Int {
    guard let database else { return Years.bytes(in: folder) }
    _ = try database.ask("years", "VACUUM")
    return Int(try database.ask("years", "SELECT pg_database_size('years')")) ?? 0
  }

  func fleet(
    _ name: String, _ devices: Int, _ database: PostgresFolder?, _ report: Report, over network: any FleetNetwork = LoopbackNetwork()
  ) async throws -> Fleet {
    let options = Fleet.Options(name: name, devices: devices, home: store, database: database?.address(), seed: seed)
    return try await Fleet(options, report, over: network)
  }

  /// The server dies again and again while everybody writes.
  private func killServers(_ database: PostgresFolder?, _ report: Report) async throws {
    let fleet = try await fleet("servers", 4, database, report)
    for _ in 0..<serverKills {
      try await fleet.rest(300)
      try await fleet.killServer()
    }
    try await fleet.settle()
    await fleet.end()
  }

  /// Who handles events dies again and again.
  private func killHandlers(_ times: Int, _ database: PostgresFolder?, _ report: Report) async throws {
    var kills = HandlerKills(
      home: store, database: database?.address(), kills: times, report: report, random: SplitMix(state: seed))
    try await kills.run()
    if store == .postgres { return }
    kills.isApart = true
    if short { kills.kills = min(times, 10) }
    try await kills.run()
  }
}
#endif
