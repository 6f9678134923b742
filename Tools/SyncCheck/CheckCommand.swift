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
  @Option(help: "Kills a device at each of the first things that it sends and receives, and a server at each point, so many times.")
  var pointKills = 20
  @Option(help: "So many of these things.") var points = 12
  @Option(help: "Seconds of bad weather on the wires, and kills of everybody.") var seconds = 600
  @Option(help: "Devices in it.") var devices = 20
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
      (sizes.frames, sizes.points) = (min(frames, 100_000), min(points, 6))
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
    let isAll = !(permissions || restore || years || failpoints || (killHandler ?? 0) > 0)
    if isAll { try await makeFirst(database, report) }
    let handlerKills = min(killHandler ?? (isAll ? 1_000 : 0), short ? 25 : Int.max)
    if handlerKills > 0 { try await killHandlers(handlerKills, database, report) }
    if permissions || isAll, rounds > 0 { try await changeRights(database, report) }
    if restore || isAll, restores > 0 {
      try await withFolder { folder in
        try await Restores(store, database, folder: folder, seed: seed, report: report).run(rounds: restores)
      }
    }
    if years || isAll, changesets > 0 { try await liveForYears(database, report) }
    if failpoints || isAll, pointKills > 0 {
      try await killAtPoints(database, report)
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

  private func fleet(_ name: String, _ devices: Int, _ database: PostgresFolder?, _ report: Report) async throws -> Fleet {
    try await Fleet(Fleet.Options(name: name, devices: devices, home: store, database: database?.address(), seed: seed), report)
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
  }

  /// A device dies before and after each of the first things that it passes on.
  private func killAtPoints(_ database: PostgresFolder?, _ report: Report) async throws {
    let fleet = try await fleet("points", 3, database, report)
    for _ in 0..<pointKills {
      for point in 1...max(1, points) {
        for way in ["--die-before", "--die-after"] {
          try fleet.killDevice(dying: [way, "\(point)", "--pause", "2"])
          try await fleet.rest(150)
          try fleet.revive()
        }
      }
    }
    try await fleet.settle()
    await fleet.end()
  }

  /// A server dies at each of its points.
  private func killServersAtPoints(_ database: PostgresFolder?, _ report: Report) async throws {
    let fleet = try await fleet("failpoints", 3, database, report)
    for _ in 0..<pointKills {
      for point in Fuse.points {
        if try await !fleet.dieAtPoint(point) { report.violation("no server came to the point '\(point)'") }
      }
    }
    try await fleet.renewServers()
    try await fleet.settle()
    await fleet.end()
  }

  /// Wires that are slow, cut and dead, and kills of everybody in between.
  private func badWeather(_ database: PostgresFolder?, _ report: Report) async throws {
    let fleet = try await fleet("weather", devices, database, report)
    let end = ContinuousClock.now + .seconds(seconds)
    var round = 0
    while ContinuousClock.now < end {
      round += 1
      try await fleet.rest(100)
      fleet.changeWeather()
      if round.isMultiple(of: 7) { try fleet.killDevice() }
      if round.isMultiple(of: 31) { try await fleet.killServer() }
    }
    try await fleet.settle(within: .seconds(120))
    await fleet.end()
  }
}
#endif
